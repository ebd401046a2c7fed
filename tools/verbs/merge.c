/* doppel merge OTHER: all of another library into this one. */
#include <stdlib.h>
#include <string.h>

#include <doppel/exchange.h>
#include <doppel/search_semantic.h>

#include "core/array.h"
#include "core/try.h"
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/args/paths.h"

static enum doppel_status open_both(const struct settings *settings,
                                    struct doppel_library **library, struct doppel_library **other,
                                    struct doppel_error *error)
{
    static const struct doppel_library_options reading = {.read_only = true};
    const char *name = settings->operands.items[0];
    char *here = library_directory(settings);
    char *real = here ? realpath(here, NULL) : NULL, *its = realpath(name, NULL);
    bool same = real && its && strcmp(real, its) == 0;
    free(here);
    free(real);
    free(its);
    if (same)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: this is the library itself", name);
    enum doppel_status status = doppel_library_open(name, &reading, other, error);
    return status ? status : open_library(settings, true, false, library, error);
}

/* ---- vectors ---- */

struct moved_items {
    ARRAY(struct doppel_semantic_moved) items;
};

static bool note_moved_item(void *context, uint64_t from, uint64_t to)
{
    struct moved_items *moved = context;
    return array_push(&moved->items, ((struct doppel_semantic_moved){from, to}));
}

static int compare_moved_from(const void *a, const void *b)
{
    const struct doppel_semantic_moved *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* What stays behind is no failure of the merge. */
static enum doppel_status merge_vectors(struct doppel_semantic_merge *merge,
                                        struct moved_items *moved, struct report *report,
                                        struct doppel_error *error)
{
    uint64_t texts = 0;
    if (moved->items.count)
        qsort(moved->items.items, moved->items.count, sizeof *moved->items.items,
              compare_moved_from);
    merge->moved = moved->items.items;
    merge->count = moved->items.count;
    const enum doppel_status status = doppel_semantic_merge(merge, &texts, error);
    if (status == DOPPEL_E_VERSION || status == DOPPEL_E_CORRUPT) {
        report_warning(report,
                       "semantic: the vectors of %llu texts stay behind: %s; 'doppel ingest "
                       "--semantic' of these texts embeds them here",
                       (unsigned long long)texts, error->message);
        return DOPPEL_OK;
    }
    if (!status && texts)
        report_notice(report, "semantic: %llu texts brought their vectors",
                      (unsigned long long)texts);
    return status;
}

/* ---- merging ---- */

static enum doppel_status merge_other(struct doppel_library *library, struct doppel_library *other,
                                      const struct settings *settings, struct report *report,
                                      struct doppel_error *error)
{
    const struct doppel_metadata metadata = imported_metadata_from(settings);
    struct moved_items moved = {0};
    const struct doppel_import_options options = {.filter = exchange_filter_from(settings),
                                                  .metadata = &metadata,
                                                  .on_item = note_moved_item,
                                                  .on_item_context = &moved};
    char *directory = library_directory(settings);
    struct doppel_semantic_merge merge = {.into = library,
                                          .from = other,
                                          .into_directory = directory,
                                          .from_directory = settings->operands.items[0],
                                          .durable = settings->durable};
    enum doppel_status status;
    TRY(doppel_merge(report->run, library, other, &options, NULL, error));
    TRY(merge_vectors(&merge, &moved, report, error));
done:
    array_free(&moved.items);
    free(directory);
    return status;
}

int cmd_merge(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library = NULL, *other = NULL;
    enum doppel_status status = open_both(settings, &library, &other, &error);
    if (!status)
        status = merge_other(library, other, settings, report, &error);
    doppel_library_close(other);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
