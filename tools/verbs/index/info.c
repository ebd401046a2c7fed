/* doppel index info, verify, compact and remove: what it holds, and what becomes of it. */
#include <doppel/index.h>
#include <inttypes.h>
#include <stdlib.h>

#include "tools/args/commands.h"
#include "tools/verbs/index/folder.h"
#include "tools/verbs/index/vectors.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "tools/output/messages.h"
#include "tools/signals.h"
#include "core/text/values.h"

static enum doppel_status open_named_index(const struct settings *settings, bool write,
                                           bool salvage, struct index_folder *out,
                                           struct doppel_error *error)
{
    const struct index_folder_options options = {
        .write = write, .durable = settings->durable, .salvage = salvage};
    return index_folder_open(settings->operands.items[0], &options, out, error);
}

static int end_index_verb(enum doppel_status status, const struct doppel_error *error,
                          struct report *report)
{
    return status ? report_fatal(report, "%s", error->message) : EXIT_DONE;
}

/* ---- info ---- */

static const struct column info_columns[] = {
    {"codes", "codes", CELL_NUMBER},
    {"bits", "bits", CELL_NUMBER},
    {"bytes", "size", CELL_SIZE},
    {"segments", "segments", CELL_NUMBER},
    {"log_codes", "pending", CELL_NUMBER},
    {"next_id", "next id", CELL_NUMBER},
    {"design_radius", "radius", CELL_NUMBER},
    {"compact", "compact", CELL_BOOL},
    {"build_seconds", "built in", CELL_SECONDS},
};
static const struct layout info_layout = {info_columns, sizeof info_columns / sizeof *info_columns,
                                          NULL, NULL, NULL};

static void print_info(struct output *output, const char *path, struct doppel_store_index *index)
{
    struct doppel_store_index_info store;
    doppel_store_index_info(index, &store);
    struct doppel_index_info info = doppel_index_info(doppel_store_index_get(index));
    struct doppel_json *row = output_begin(output);
    doppel_json_integer(row, "codes", info.codes);
    doppel_json_integer(row, "bits", store.options.bits);
    doppel_json_integer(row, "bytes", index_folder_bytes(path));
    doppel_json_integer(row, "segments", info.segments);
    doppel_json_integer(row, "log_codes", store.log_codes);
    doppel_json_integer(row, "next_id", store.next_payload);
    doppel_json_integer(row, "design_radius", store.options.design_radius);
    doppel_json_boolean(row, "compact", store.options.compact);
    doppel_json_number(row, "build_seconds", store.build_seconds, 3);
    output_end(output);
}

int cmd_index_info(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct index_folder folder;
    if (doppel_vector_index_is_there(settings->operands.items[0]))
        return print_vectors_info(settings, report);
    enum doppel_status status = open_named_index(settings, false, false, &folder, &error);
    if (status)
        return end_index_verb(status, &error, report);
    struct output *output = output_new(settings, &info_layout, report);
    print_info(output, settings->operands.items[0], folder.index);
    bool printed = output_finish(output);
    index_folder_close(&folder);
    return printed ? EXIT_DONE : EXIT_WRONG_USE;
}

/* ---- verify ---- */

static const struct column verify_columns[] = {
    {"segment", "segment", CELL_TEXT},    {"codes", "codes", CELL_NUMBER},
    {"first_id", "from id", CELL_NUMBER}, {"last_id", "to id", CELL_NUMBER},
    {"state", "state", CELL_TEXT},
};
static const struct layout verify_layout = {
    verify_columns, sizeof verify_columns / sizeof *verify_columns, NULL, NULL, NULL};

struct index_verification {
    struct report *report;
    struct output *output;
    const char *folder;
    bool repair;
};

static void report_index_damage(const struct index_verification *verification,
                                const struct doppel_store_segment *segment)
{
    char reason[1024];
    char *path = path_in(verification->folder, segment->name);
    snprintf(reason, sizeof reason,
             "%s; %" PRIu64 " codes with ids from %" PRIu64 " to %" PRIu64 " %s",
             segment->error->message, segment->codes, segment->least, segment->most,
             verification->repair ? "are lost" : "cannot be relied on");
    report_input(verification->report, path, reason);
    free(path);
}

static bool print_segment(void *context, const struct doppel_store_segment *segment)
{
    struct index_verification *verification = context;
    struct doppel_json *row = output_begin(verification->output);
    doppel_json_text(row, "segment", segment->name);
    doppel_json_integer(row, "codes", segment->codes);
    if (segment->codes) {
        doppel_json_integer(row, "first_id", segment->least);
        doppel_json_integer(row, "last_id", segment->most);
    }
    doppel_json_text(row, "state",
                     !segment->error        ? "ok"
                     : verification->repair ? "dropped"
                                            : "damaged");
    if (segment->error)
        doppel_json_text(row, "reason", segment->error->message);
    output_end(verification->output);
    if (segment->error)
        report_index_damage(verification, segment);
    return !signals_stopped();
}

static void say_log(const struct doppel_store_index_info *info, const struct settings *settings,
                    struct report *report)
{
    if (info->damaged)
        report_input(report, settings->operands.items[0],
                     settings->repair ? "damaged records of the log were dropped"
                                      : "records of the log are damaged");
}

int cmd_index_verify(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct index_folder folder;
    enum doppel_status status = open_named_index(settings, settings->repair, true, &folder, &error);
    if (status)
        return end_index_verb(status, &error, report);
    struct doppel_store_index_info info;
    doppel_store_index_info(folder.index, &info);
    struct index_verification verification = {report, output_new(settings, &verify_layout, report),
                                              settings->operands.items[0], settings->repair};
    status = (settings->repair ? doppel_store_index_repair : doppel_store_index_verify)(
        folder.index, print_segment, &verification, &error);
    if (!status)
        say_log(&info, settings, report);
    bool printed = output_finish(verification.output);
    index_folder_close(&folder);
    if (status && status != DOPPEL_E_CANCELLED)
        return end_index_verb(status, &error, report);
    return printed ? EXIT_DONE : EXIT_WRONG_USE;
}

/* ---- compact ---- */

int cmd_index_compact(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct index_folder folder;
    enum doppel_status status = open_named_index(settings, true, false, &folder, &error);
    if (status)
        return end_index_verb(status, &error, report);
    status = doppel_store_index_compact(folder.index, true, &error);
    index_folder_close(&folder);
    return end_index_verb(status, &error, report);
}

/* ---- remove ---- */

/* Ids among the words; what is none is said. */
static size_t parse_ids(const struct settings *settings, uint64_t end, struct report *report,
                        uint64_t *out)
{
    size_t count = 0;
    for (size_t i = 1; i < settings->operands.count; i++) {
        const char *word = settings->operands.items[i];
        uint64_t id;
        if (!parse_whole(word, 0, UINT64_MAX, &id))
            report_input(report, word, "not an id: ids are whole numbers");
        else if (id >= end)
            report_input(report, word, "the index never had such an id");
        else
            out[count++] = id;
    }
    return count;
}

int cmd_index_remove(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct index_folder folder;
    if (doppel_vector_index_is_there(settings->operands.items[0]))
        return remove_vectors(settings, report);
    enum doppel_status status = open_named_index(settings, true, false, &folder, &error);
    if (status)
        return end_index_verb(status, &error, report);
    struct doppel_store_index_info info;
    doppel_store_index_info(folder.index, &info);
    uint64_t *ids = must_allocate(settings->operands.count * sizeof *ids);
    size_t count = parse_ids(settings, info.next_payload, report, ids);
    if (count)
        status = doppel_store_index_remove(folder.index, ids, count, &error);
    free(ids);
    index_folder_close(&folder);
    return end_index_verb(status, &error, report);
}
