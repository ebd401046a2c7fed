/* The library that a command line names, the items it asks for, and what is said of them. */
#include "tools/args/library_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "intake/walk.h"
#include "tools/args/cluster_options.h"
#include "tools/args/engine_options.h"
#include "tools/args/paths.h"
#include "tools/signals.h"

static bool query_is_stopped(void *context)
{
    (void)context;
    return signals_stopped();
}

enum doppel_status open_library(const struct settings *settings, bool create, bool read_only,
                                struct doppel_library **out, struct doppel_error *error)
{
    struct doppel_library_options options = {.create = create,
                                             .drop_unused = true,
                                             .read_only = read_only,
                                             .durable = settings->durable,
                                             .no_rebuild = settings->no_rebuild};
    char *directory = library_directory(settings);
    if (!directory)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "no place for a library is known; name one with --library DIR");
    struct doppel_error reason = {0};
    enum doppel_status status = refuse_cluster(settings, directory, &reason);
    if (!status)
        status = doppel_library_open(directory, &options, out, &reason);
    if (!status)
        doppel_library_set_cancel(*out, query_is_stopped, NULL);
    else
        doppel_fail(error, status, "%s%s", reason.message,
                    status == DOPPEL_E_NOT_FOUND ? "; `doppel add PATH...` makes one" : "");
    free(directory);
    return status;
}

struct doppel_item_filter item_filter_from(const struct settings *settings)
{
    return (struct doppel_item_filter){.lists = settings->lists.items,
                                       .list_count = settings->lists.count,
                                       .labels = settings->labels.items,
                                       .label_count = settings->labels.count,
                                       .where = settings->where};
}

enum doppel_status filter_library(const struct settings *settings, struct doppel_library *library,
                                  struct doppel_item_set *out, struct doppel_error *error)
{
    const struct doppel_item_filter filter = item_filter_from(settings);
    return doppel_library_filter(library, &filter, out, error);
}

struct doppel_exchange_filter exchange_filter_from(const struct settings *settings)
{
    return (struct doppel_exchange_filter){.kind = settings->kind,
                                           .scheme = settings->scheme_given ? settings->scheme->id
                                                                            : DOPPEL_SCHEME_NONE,
                                           .items = item_filter_from(settings)};
}

struct doppel_metadata imported_metadata_from(const struct settings *settings)
{
    return (struct doppel_metadata){.source = (char *)settings->source,
                                    .meta = (char *)settings->meta,
                                    .labels = (char **)settings->labels.items,
                                    .label_count = settings->labels.count,
                                    .lists = (char **)settings->lists.items,
                                    .list_count = settings->lists.count};
}

/* ---- references ---- */

void notice_other_reference(struct doppel_library *library, const char *name, struct report *report)
{
    struct doppel_reference found;
    if (doppel_library_resolve(library, name, &found, NULL) == DOPPEL_OK && found.other)
        report_notice(report,
                      "'%s' is taken for item %" PRIu64 "; item %" PRIu64
                      " is called so, too: 'item:%" PRIu64 "' is that one",
                      name, found.id, found.other, found.other);
}

enum doppel_status resolve_to_change(struct doppel_library *library, const char *name,
                                     struct report *report, struct doppel_reference *out,
                                     struct doppel_error *error)
{
    enum doppel_status status = doppel_library_resolve_to_change(library, name, out, error);
    if (!status)
        notice_other_reference(library, name, report);
    return status;
}

/* ---- versions ---- */

void notice_old_items(struct report *report, uint64_t count)
{
    if (count)
        report_notice(
            report,
            "%llu item%s of another version of %s scheme: 'doppel add --refresh' recomputes %s",
            (unsigned long long)count, count == 1 ? " is" : "s are", count == 1 ? "its" : "their",
            count == 1 ? "it" : "them");
}
