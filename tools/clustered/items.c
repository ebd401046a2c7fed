/* doppel -L redis://… list, show, remove, stats: what a cluster holds. */
#include "tools/clustered/clustered.h"

#include <inttypes.h>

#include "tools/clustered/library.h"
#include "tools/signals.h"

/* ---- list ---- */

struct clustered_listing {
    const struct settings *settings;
    struct output *output;
};

static bool print_clustered_item(void *context, const struct doppel_shards_item *item)
{
    const struct clustered_listing *listing = context;
    const struct settings *settings = listing->settings;
    if (settings->kind && settings->kind != item->item.record.kind)
        return !signals_stopped();
    if (clustered_is_wanted(settings, &item->about)) {
        /* A table has no room for details. */
        doppel_shards_item_to_json(output_begin(listing->output), item,
                                   settings->format != FORMAT_TABLE);
        output_end(listing->output);
    }
    return !signals_stopped();
}

int clustered_list(const struct settings *settings, struct report *report, struct output *output)
{
    struct doppel_error error;
    struct clustered_listing listing = {settings, output};
    struct doppel_shards *shards = NULL;
    enum doppel_status status = clustered_open(settings, report, &shards, &error);
    if (!status)
        status = doppel_shards_each(shards, print_clustered_item, &listing, &error);
    const bool written = output_finish(output);
    doppel_shards_close(shards);
    if (status && status != DOPPEL_E_CANCELLED)
        return clustered_fatal(settings, report, &error);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

/* ---- items by their names ---- */

/* A number, or an external id. Paths are not looked up: they are in no index of a cluster. */
static enum doppel_status clustered_id(struct doppel_shards *shards, const char *name,
                                       uint64_t *out, struct doppel_error *error)
{
    const char *external = doppel_reference_external_id(name);
    if (doppel_reference_number(name, out))
        return DOPPEL_OK;
    const enum doppel_status status =
        doppel_shards_get_id(shards, external ? external : name, out, error);
    return status != DOPPEL_E_NOT_FOUND
               ? status
               : doppel_fail(error, status,
                             "no item has this id; one without an external id is named by its "
                             "number");
}

int clustered_show(const struct settings *settings, struct report *report,
                   clustered_item_printer *print, void *context, struct output *output)
{
    struct doppel_error error;
    struct doppel_shards *shards = NULL;
    enum doppel_status status = clustered_open(settings, report, &shards, &error);
    for (size_t i = 0; i < settings->operands.count && !status && !signals_stopped(); i++) {
        const char *name = settings->operands.items[i];
        struct doppel_shards_item item;
        uint64_t id;
        status = clustered_id(shards, name, &id, &error);
        if (!status)
            status = doppel_shards_get(shards, id, &item, &error);
        if (!status) {
            struct doppel_json *row = output_begin(output);
            doppel_shards_item_to_json(row, &item, true);
            print(context, row);
            doppel_shards_item_free(&item);
        } else if (status == DOPPEL_E_NOT_FOUND) {
            report_input(report, name, error.message);
            status = DOPPEL_OK;
        }
    }
    const bool written = output_finish(output);
    doppel_shards_close(shards);
    if (status && status != DOPPEL_E_CANCELLED)
        return clustered_fatal(settings, report, &error);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

static enum doppel_status remove_clustered(const struct settings *settings,
                                           struct doppel_shards *shards, const char *name,
                                           struct doppel_error *error)
{
    struct doppel_shards_item item;
    uint64_t id;
    enum doppel_status status = clustered_id(shards, name, &id, error);
    if (status || !settings->dry_run)
        return status ? status : doppel_shards_remove(shards, id, error);
    status = doppel_shards_get(shards, id, &item, error);
    if (!status)
        doppel_shards_item_free(&item);
    return status;
}

int clustered_remove(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_shards *shards = NULL;
    uint64_t removed = 0;
    if (!settings->operands.count)
        return report_fatal(report, "say which items are to be removed, by their numbers");
    enum doppel_status status = clustered_open(settings, report, &shards, &error);
    for (size_t i = 0; i < settings->operands.count && !status && !signals_stopped(); i++) {
        status = remove_clustered(settings, shards, settings->operands.items[i], &error);
        removed += !status;
        if (status == DOPPEL_E_NOT_FOUND) {
            report_input(report, settings->operands.items[i], error.message);
            status = DOPPEL_OK;
        }
    }
    doppel_shards_close(shards);
    if (status && status != DOPPEL_E_CANCELLED)
        return clustered_fatal(settings, report, &error);
    if (removed)
        report_notice(report, "%" PRIu64 " item%s %s", removed, removed == 1 ? "" : "s",
                      settings->dry_run ? "would be removed" : "removed");
    return EXIT_DONE;
}

/* ---- stats ---- */

static void print_clustered_stats(const struct settings *settings, struct output *output,
                                  const struct doppel_shards_stats *stats)
{
    const struct {
        const char *what;
        uint64_t count;
    } lines[] = {{"items", stats->items}, {"nodes", stats->nodes}, {"replicas", stats->replicas}};
    const bool one = settings->format == FORMAT_JSON; /* an object for all */
    struct doppel_json *row = one ? output_begin(output) : NULL;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (one) {
            doppel_json_integer(row, lines[i].what, lines[i].count);
            continue;
        }
        row = output_begin(output);
        doppel_json_text(row, "what", lines[i].what);
        doppel_json_integer(row, "count", lines[i].count);
        output_end(output);
    }
    if (one)
        output_end(output);
}

int clustered_stats(const struct settings *settings, struct report *report, struct output *output)
{
    struct doppel_error error;
    struct doppel_shards_stats stats;
    struct doppel_shards *shards = NULL;
    enum doppel_status status = clustered_open(settings, report, &shards, &error);
    if (!status)
        status = doppel_shards_get_stats(shards, &stats, &error);
    if (!status)
        print_clustered_stats(settings, output, &stats);
    const bool written = output_finish(output);
    doppel_shards_close(shards);
    if (status)
        return clustered_fatal(settings, report, &error);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
