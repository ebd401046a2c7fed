/* doppel -L redis://… add: fingerprint files and keep them in a cluster. */
#include "tools/clustered/clustered.h"

#include <stdlib.h>

#include "core/files/absolute_path.h"
#include "core/try.h"
#include "tools/args/metadata_options.h"
#include "tools/clustered/files.h"
#include "tools/clustered/library.h"
#include "tools/memory.h"
#include "tools/output/added.h"
#include "tools/signals.h"

struct clustered_adding {
    const struct settings *settings;
    struct report *report;
    struct doppel_shards *shards;
    struct output *output;
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE]; /* by enum doppel_added */
};

static void print_added(struct clustered_adding *adding, const struct doppel_shards_item *item,
                        const struct doppel_shards_added *added)
{
    adding->counts[added->added]++;
    if (!added_is_printed(adding->settings))
        return;
    struct doppel_json row = {0};
    added_to_json(&row, added->id, item->item.path, added->added);
    output_object(adding->output, &row);
    doppel_json_free(&row);
}

/* What is printed is on its nodes. */
static enum doppel_status add_batch(void *context, const struct clustered_batch *batch,
                                    struct doppel_error *error)
{
    const struct intake_file *files = batch->files;
    const size_t count = batch->count;
    struct clustered_adding *adding = context;
    struct doppel_shards_item *items = must_allocate(count * sizeof *items);
    struct doppel_shards_added added[CLUSTERED_FILES];
    size_t kept = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count; i++) {
        const char *obstacle = clustered_obstacle(&files[i]);
        if (obstacle)
            report_input(adding->report, files[i].path, obstacle);
        else
            items[kept++] = clustered_item(adding->settings, &files[i]);
    }
    if (kept)
        TRY(doppel_shards_add(adding->shards, items, kept, added, error));
    for (size_t i = 0; i < kept; i++)
        print_added(adding, &items[i], &added[i]);
    if (signals_stopped())
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
done:
    for (size_t i = 0; i < kept; i++)
        free(items[i].item.path);
    free(items);
    return status;
}

int clustered_add(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct clustered_adding adding = {.settings = settings, .report = report};
    const struct clustered_reading reading = {
        .settings = settings, .report = report, .take = add_batch, .context = &adding};
    bool any;
    if (about_check(settings, &error) || clustered_open(settings, report, &adding.shards, &error))
        return clustered_fatal(settings, report, &error);
    adding.output = added_output(settings, report);
    const enum doppel_status status = clustered_read(&reading, &any, &error);
    const bool written = output_finish(adding.output);
    doppel_shards_close(adding.shards);
    if (status && status != DOPPEL_E_CANCELLED)
        return clustered_fatal(settings, report, &error);
    added_report(settings, report, adding.counts);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
