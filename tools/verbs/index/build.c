/* doppel index build and add: codes of a file into an index. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/try.h"
#include "core/files/unfinished.h"
#include "exchange/code_reader.h"
#include "tools/args/commands.h"
#include "tools/verbs/index/folder.h"
#include "tools/verbs/index/vectors.h"
#include "tools/memory.h"
#include "tools/output/messages.h"
#include "tools/signals.h"

enum { MOST_INSERTED = 65536 }; /* more codes go straight into a segment */

/* Codes on their way from a reader into an index. */
struct index_load {
    struct code_reader *reader;
    struct report *report;
    uint64_t first_id, count, done;
    enum doppel_status status; /* of the reader */
    struct doppel_error error;
};

static size_t read_build_codes(void *context, uint64_t *codes, uint64_t *ids, size_t max)
{
    struct index_load *load = context;
    size_t count = 0;
    if (!load->status && signals_stopped())
        load->status = doppel_fail(&load->error, DOPPEL_E_CANCELLED, "interrupted");
    if (!load->status)
        load->status = code_reader_next(load->reader, codes, max, &count, &load->error);
    for (size_t i = 0; i < count; i++)
        ids[i] = load->first_id + load->done + i;
    load->done += count;
    progress_update(&load->report->progress, load->done, 0);
    return count;
}

static void rewind_build_codes(void *context)
{
    struct index_load *load = context;
    load->done = 0;
    code_reader_rewind(load->reader);
    progress_begin(&load->report->progress, "codes", load->count); /* one pass of several */
}

static enum doppel_status bulk(struct index_load *load, struct doppel_store_index *index,
                               struct doppel_error *error)
{
    const struct doppel_index_load codes = {.context = load,
                                            .count = load->count,
                                            .read = read_build_codes,
                                            .rewind = rewind_build_codes};
    enum doppel_status status = doppel_store_index_bulk(index, &codes, error);
    if (load->status) /* why they ended too early */
        return doppel_fail(error, load->status, "%s", load->error.message);
    return status;
}

/* A few: through the log. */
static enum doppel_status insert(struct index_load *load, struct doppel_store_index *index,
                                 size_t words, struct doppel_error *error)
{
    size_t count = 0;
    uint64_t *codes = must_allocate(load->count * words * sizeof *codes);
    uint64_t *ids = must_allocate(load->count * sizeof *ids);
    for (size_t got = 1; got && count < load->count; count += got)
        got = read_build_codes(load, codes + count * words, ids + count, load->count - count);
    enum doppel_status status = load->status;
    if (status)
        doppel_fail(error, status, "%s", load->error.message);
    else
        status = doppel_store_index_insert(index, codes, ids, count, error);
    free(codes);
    free(ids);
    return status;
}

static enum code_layout build_layout(const struct settings *settings)
{
    return settings->code_input == CODES_RAW ? LAYOUT_RAW : LAYOUT_HEX;
}

/* All codes of `path`, behind those that are there. */
static enum doppel_status load_codes(const struct settings *settings, struct report *report,
                                     const char *path, const char *folder,
                                     struct doppel_store_index *index, struct doppel_error *error)
{
    struct doppel_store_index_info info;
    doppel_store_index_info(index, &info);
    struct index_load load = {.report = report, .first_id = info.next_payload};
    enum doppel_status status = code_reader_open(report->run, path, info.options.bits,
                                                 build_layout(settings), &load.reader, error);
    if (!status)
        status = code_reader_settle(load.reader, folder, &load.reader, error);
    if (status)
        return status;
    code_reader_count(load.reader, &load.count);
    if (load.count > MOST_INSERTED || (load.count && !info.next_payload))
        status = bulk(&load, index, error);
    else if (load.count)
        status = insert(&load, index, words_of_bits(info.options.bits), error);
    code_reader_close(load.reader);
    return status;
}

/* ---- build ---- */

/* Without slashes at its end; given (free). */
static char *plain_path(const char *path)
{
    char *copy = must_copy(path);
    for (size_t length = strlen(copy); length > 1 && copy[length - 1] == '/'; length--)
        copy[length - 1] = 0;
    return copy;
}

static enum doppel_status build_in(const struct settings *settings, struct report *report,
                                   const char *folder, struct doppel_error *error)
{
    if (settings->vectors)
        return build_vectors(settings, report, folder, error);
    struct doppel_index_options make = doppel_index_options_default();
    make.bits = 32u << settings->code_width;
    if (settings->radius >= 0)
        make.design_radius =
            (uint32_t)settings->radius < make.bits ? (uint32_t)settings->radius : make.bits;
    make.compact = settings->compact;
    const struct index_folder_options options = {
        .make = &make, .write = true, .durable = settings->durable};
    struct index_folder index;
    enum doppel_status status = index_folder_open(folder, &options, &index, error);
    if (status)
        return status;
    status = load_codes(settings, report, settings->operands.items[0], folder, index.index, error);
    index_folder_close(&index);
    return status;
}

static enum doppel_status sync_folder_of(const char *path, struct doppel_error *error)
{
    char *parent = path_in(path, "..");
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    bool synced = fd >= 0 && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    return synced ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(reason));
}

/* It gets its name when it is whole. */
static enum doppel_status build(const struct settings *settings, struct report *report,
                                const char *path, struct doppel_error *error)
{
    struct stat there;
    struct unfinished unfinished = {0};
    if (lstat(path, &there) == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: is there already; 'doppel index add' adds to an index", path);
    if (access(settings->operands.items[0], F_OK) && strcmp(settings->operands.items[0], "-") != 0)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: %s", settings->operands.items[0],
                           strerror(errno));
    enum doppel_status status;
    TRY(unfinished_make(path, &unfinished, error));
    TRY(build_in(settings, report, unfinished.path, error));
    TRY(unfinished_rename(&unfinished, path, error));
    if (settings->durable)
        TRY(sync_folder_of(path, error));
done:
    unfinished_remove(&unfinished);
    return status;
}

static int end_index_build(enum doppel_status status, const struct doppel_error *error,
                           struct report *report)
{
    if (!status || (status == DOPPEL_E_CANCELLED && signals_stopped()))
        return EXIT_DONE;
    return report_refusal(report, status, error); /* no CODES */
}

int cmd_index_build(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    if (!index_options_fit(settings, settings->vectors, report))
        return EXIT_WRONG_USE;
    char *path = plain_path(settings->output);
    enum doppel_status status = build(settings, report, path, &error);
    free(path);
    return end_index_build(status, &error, report);
}

/* ---- add ---- */

int cmd_index_add(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct index_folder index;
    const char *path = settings->operands.items[0];
    const struct index_folder_options options = {.write = true, .durable = settings->durable};
    const bool vectors = doppel_vector_index_is_there(path);
    if (!index_options_fit(settings, vectors, report))
        return EXIT_WRONG_USE;
    if (vectors)
        return add_index_vectors(settings, report);
    enum doppel_status status = index_folder_open(path, &options, &index, &error);
    if (status)
        return report_fatal(report, "%s", error.message);
    status = load_codes(settings, report, settings->operands.items[1], path, index.index, &error);
    /* The codes are there: who is told that it failed would add them twice. */
    if (!status && doppel_store_index_compact(index.index, false, &error))
        report_notice(report, "%s: all codes were added; to be merged by a later run: %s", path,
                      error.message);
    index_folder_close(&index);
    return end_index_build(status, &error, report);
}
