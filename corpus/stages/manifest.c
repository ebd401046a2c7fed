/* The manifest of a run: its inputs and options, a line of JSON each, in its folder. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/json_writer.h>
#include <doppel/version.h>

#include "core/clock.h"
#include "core/files/read_at.h"
#include "core/try.h"
#include "corpus/stages/hidden_file.h"
#include "corpus/stages/stages_internal.h"

static const char manifest_name[] = "manifest";

/* ---- its lines ---- */

static void add_option_text(struct doppel_json *json, const char *name, const char *value)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "option", name);
    doppel_json_path(json, "value", value ? value : "");
    doppel_json_object_end(json);
    doppel_json_end_line(json);
}

static void add_option_number(struct doppel_json *json, const char *name, double value)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "option", name);
    doppel_json_real(json, "value", value);
    doppel_json_object_end(json);
    doppel_json_end_line(json);
}

static void add_fields(struct doppel_json *json, const struct doppel_corpus_fields *fields)
{
    const struct doppel_corpus_fields usual = doppel_corpus_fields_default();
    add_option_text(json, "id-field", fields->id ? fields->id : usual.id);
    add_option_text(json, "text-field", fields->text ? fields->text : usual.text);
    add_option_text(json, "path-field", fields->path ? fields->path : usual.path);
    add_option_text(json, "source-field", fields->source ? fields->source : usual.source);
    add_option_text(json, "date-field", fields->date ? fields->date : usual.date);
    for (size_t i = 0; i < fields->folder_count; i++)
        add_option_text(json, "allow-paths", fields->folders[i]);
}

static void add_text_options(struct doppel_json *json, const struct dedup *dedup)
{
    const struct doppel_dedup_options *options = dedup->options;
    const struct doppel_text_options *text = &options->text;
    add_option_number(json, "min-similarity", options->limits.min_similarity);
    add_option_number(json, "min-containment", options->limits.min_containment);
    add_option_number(json, "text-format", text->format);
    add_option_number(json, "nfkc", text->nfkc);
    add_option_number(json, "fold-case", text->fold_case);
    add_option_number(json, "drop-punctuation", text->drop_punctuation);
    add_option_number(json, "unit", text->unit);
    add_option_number(json, "shingle", text->shingle);
    add_option_number(json, "min-words", text->min_words);
    add_option_number(json, "lanes", dedup->lanes);
    add_option_number(json, "bands", dedup->bands);
    add_option_number(json, "rows", dedup->rows_a_band);
    add_option_number(json, "on-same-id", options->on_same_id);
    if (options->cluster)
        add_option_number(json, "cluster", options->cluster);
    add_option_number(json, "max-record", (double)options->files.max_line_bytes);
}

static void add_input(struct doppel_json *json, const struct reader *reader, uint32_t file)
{
    const struct stat *status = reader_file_stat(reader, file);
    doppel_json_object_begin(json, NULL);
    doppel_json_path(json, "input", reader_file_path(reader, file));
    doppel_json_integer(json, "size", (uint64_t)status->st_size);
    doppel_json_signed(json, "mtime_ns", timespec_ns(status->st_mtim));
    doppel_json_object_end(json);
    doppel_json_end_line(json);
}

static enum doppel_status make_manifest(const struct dedup *dedup, struct doppel_json *json,
                                        struct doppel_error *error)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_integer(json, "doppel_stages", 1);
    doppel_json_text(json, "program", DOPPEL_VERSION);
    doppel_json_object_end(json);
    doppel_json_end_line(json);
    add_fields(json, &dedup->options->fields);
    add_text_options(json, dedup);
    for (uint32_t i = 0; i < reader_file_count(dedup->reader); i++)
        add_input(json, dedup->reader, i);
    return doppel_json_status(json, error);
}

/* ---- the one that is there ---- */

static enum doppel_status read_run_manifest(const char *path, struct doppel_json *out,
                                            struct doppel_error *error)
{
    char buffer[4096];
    ssize_t got;
    int fd;
    enum doppel_status status = stage_path_open(path, &fd, error);
    if (status)
        return status;
    for (uint64_t at = 0; (got = read_at(fd, buffer, sizeof buffer, at)) > 0; at += (uint64_t)got)
        doppel_json_append(out, buffer, (size_t)got);
    if (got < 0)
        status = doppel_fail(error, DOPPEL_E_IO, "%s cannot be read: %s", path, strerror(errno));
    close(fd);
    return status ? status : doppel_json_status(out, error);
}

struct shown_line {
    const char *text;
    int size;
};

static size_t line_bytes(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return (size_t)((newline ? newline : end) - at);
}

/* A line of a manifest, cut where it is long. */
static struct shown_line shown_line_of(const struct doppel_json *manifest, size_t at)
{
    enum { SHOWN = 180 };
    static const char nothing[] = "nothing more";
    if (at >= manifest->size)
        return (struct shown_line){nothing, sizeof nothing - 1};
    const size_t size = line_bytes(manifest->bytes + at, manifest->bytes + manifest->size);
    return (struct shown_line){manifest->bytes + at, (int)(size < SHOWN ? size : SHOWN)};
}

/* Name the first line that differs, as it is in both. */
static enum doppel_status manifests_differ(const char *path, const struct doppel_json *there,
                                           const struct doppel_json *here,
                                           struct doppel_error *error)
{
    size_t same = 0, line = 0;
    if (!there->size)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s is empty: use another folder, or remove this one", path);
    while (same < there->size && same < here->size && there->bytes[same] == here->bytes[same])
        if (here->bytes[same++] == '\n')
            line = same;
    if (there->bytes[0] != '{')
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s is damaged: use another folder, or remove this one", path);
    const struct shown_line a = shown_line_of(there, line), b = shown_line_of(here, line);
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "%s is of another run: it has %.*s where this one has %.*s; give all stages "
                       "the same inputs, unchanged, and options, or use another folder",
                       path, a.size, a.text, b.size, b.text);
}

static enum doppel_status write_manifest(const char *folder, const struct doppel_json *manifest,
                                         struct doppel_error *error)
{
    struct hidden_file file = {0};
    enum doppel_status status;
    TRY(hidden_file_open(folder, manifest_name, &file, error));
    if (fwrite(manifest->bytes, 1, manifest->size, file.stream) != manifest->size)
        TRY(hidden_file_failed(&file, error));
    TRY(hidden_file_finish_first(&file, error));
done:
    hidden_file_drop(&file);
    return status;
}

enum doppel_status stages_take_manifest(struct doppel_stages *stages, const struct dedup *dedup,
                                        struct doppel_error *error)
{
    struct doppel_json here = {0}, there = {0};
    char *path = NULL;
    enum doppel_status status;
    if (asprintf(&path, "%s/%s", stages->folder, manifest_name) < 0)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", stages->folder);
    TRY(make_manifest(dedup, &here, error));
    status = read_run_manifest(path, &there, error);
    if (status == DOPPEL_E_NOT_FOUND) {
        TRY(write_manifest(stages->folder, &here, error));
        status =
            read_run_manifest(path, &there, error); /* maybe that of a process beside this one */
    } else if (status == DOPPEL_OK) {
        status = hidden_file_settle(path, error); /* its writer may have been killed just then */
    }
    TRY(status);
    if (there.size != here.size || memcmp(there.bytes, here.bytes, here.size) != 0)
        TRY(manifests_differ(path, &there, &here, error));
    stages->run = doppel_digest_bytes(here.bytes, here.size);
done:
    doppel_json_free(&here);
    doppel_json_free(&there);
    free(path);
    return status;
}
