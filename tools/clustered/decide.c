/* doppel -L redis://… check, ingest: what files are to what a cluster holds, from whichever writer.
 */
#include "tools/clustered/clustered.h"

#include <stdlib.h>
#include <string.h>

#include "compare/image.h"
#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/args/metadata_options.h"
#include "tools/clustered/files.h"
#include "tools/clustered/library.h"
#include "tools/memory.h"
#include "tools/output/decision_output.h"

struct clustered_deciding {
    const struct settings *settings;
    struct report *report;
    struct doppel_shards *shards;
    struct doppel_shards_decide_options options;
    struct decision_output output;
    bool is_stream; /* of paths: each is answered by its line */
};

/* ---- rows ---- */

static struct doppel_decided undecided_file(const struct intake_file *file, const char *why)
{
    return (struct doppel_decided){
        .decision = DOPPEL_DECISION_UNREADABLE, .why = why, .is_file = true, .path = file->path};
}

/* A line of a stream that is no path. */
static const char *why_unread(const struct intake_file *file)
{
    const char *obstacle = clustered_obstacle(file);
    return obstacle && *file->path == '{' && file->record.error.status == DOPPEL_E_NOT_FOUND
               ? "a library in a cluster takes paths; records are for one in a folder"
               : obstacle;
}

/* In order, at once. @param items those that were decided about. @return false: nobody reads on */
static bool print_decided_files(struct clustered_deciding *deciding,
                                const struct clustered_batch *batch,
                                const struct doppel_shards_item *items,
                                const struct doppel_shards_decision *decisions)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct intake_file *file = &batch->files[i];
        const char *why = why_unread(file);
        struct doppel_decided decided = undecided_file(file, why);
        if (!why)
            doppel_shards_decided(items++, &deciding->options.compare, decisions++, &decided);
        decided.path = file->path;
        decided.line = deciding->is_stream ? batch->lines[i] : 0;
        if (!decision_output_put(&deciding->output, &decided))
            return false;
    }
    return decision_output_flush(&deciding->output);
}

/* ---- deciding ---- */

static enum doppel_status decide_batch(void *context, const struct clustered_batch *batch,
                                       struct doppel_error *error)
{
    const struct intake_file *files = batch->files;
    const size_t count = batch->count;
    struct clustered_deciding *deciding = context;
    struct doppel_shards_item *items = must_allocate(count * sizeof *items);
    struct doppel_shards_decision *decisions = must_allocate(count * sizeof *decisions);
    size_t asked = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count; i++)
        if (!clustered_obstacle(&files[i]))
            items[asked++] = clustered_item(deciding->settings, &files[i]);
    if (asked)
        TRY(doppel_shards_decide(deciding->shards, items, asked, &deciding->options, decisions,
                                 error));
    if (!print_decided_files(deciding, batch, items, decisions))
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "nobody reads the decisions");
done:
    for (size_t i = 0; i < asked; i++) {
        free(items[i].item.path);
        doppel_shards_decision_free(&decisions[i]);
    }
    free(items);
    free(decisions);
    return status;
}

/* - is a list of paths that come by and by. */
static struct settings settings_of_stream(const struct settings *settings)
{
    struct settings lines = *settings;
    if (settings->operands.count != 1 || strcmp(settings->operands.items[0], "-") != 0)
        return lines;
    lines.operands = (struct strings){0};
    lines.files_from = "-";
    lines.null_separated = false;
    return lines;
}

int clustered_decide(const struct settings *settings, struct report *report, bool only_asked)
{
    struct doppel_error error;
    const struct settings read = settings_of_stream(settings);
    struct clustered_deciding deciding = {
        .settings = settings,
        .report = report,
        .is_stream = read.files_from && read.files_from != settings->files_from,
        .options = {.compare = compare_options_from(settings), .dry_run = only_asked}};
    const struct clustered_reading reading = {.settings = &read,
                                              .report = report,
                                              .every_name = true,
                                              .take = decide_batch,
                                              .context = &deciding};
    bool any;
    if (about_check(settings, &error) || clustered_open(settings, report, &deciding.shards, &error))
        return clustered_fatal(settings, report, &error);
    if (!decision_output_begin(&deciding.output, settings, report)) {
        doppel_shards_close(deciding.shards);
        return EXIT_WRONG_USE;
    }
    const enum doppel_status status = clustered_read(&reading, &any, &error);
    const bool ended = !status || status == DOPPEL_E_CANCELLED;
    const bool written = decision_output_finish(&deciding.output, ended);
    doppel_shards_close(deciding.shards);
    if (!ended)
        return clustered_fatal(settings, report, &error);
    if (!written)
        return EXIT_WRONG_USE;
    return deciding.output.matched || !only_asked ? EXIT_DONE : EXIT_NO_MATCH;
}
