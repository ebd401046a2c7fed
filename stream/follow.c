/* Following the log of a library: it is read page by page, then polled for changes. */
#include <doppel/stream.h>

#include "stream/pause.h"

enum { PAGE_ENTRIES = 1000, USUAL_POLL_MS = 200 };

struct following {
    struct doppel_library *library;
    const struct doppel_log_follower *follower;
    struct doppel_log_query query; /* of the next page */
    uint64_t visited;              /* of the last one */
    bool ended;                    /* by a callback */
};

static bool visit_followed(void *context, const struct doppel_log_entry *entry,
                           const struct doppel_error *error)
{
    struct following *following = context;
    following->visited++;
    following->query.first = entry->entry + 1;
    following->ended = !following->follower->on_entry(following->follower->context, entry, error);
    return !following->ended;
}

static enum doppel_status end_look(struct following *following, struct doppel_error *error)
{
    const struct doppel_log_follower *follower = following->follower;
    struct doppel_error why = {0};
    if (follower->on_look && !follower->on_look(follower->context, &why))
        following->ended = true;
    return why.status ? doppel_fail(error, why.status, "%s", why.message) : DOPPEL_OK;
}

/* Whether the query wants no further entry. */
static bool is_behind_last(const struct doppel_log_query *query)
{
    return query->last && query->first > query->last;
}

/* Visit all entries that are there, page by page. */
static enum doppel_status read_log_pages(struct following *following, struct doppel_error *error)
{
    enum doppel_status status;
    do {
        following->visited = 0;
        status = doppel_library_each_log(following->library, &following->query, visit_followed,
                                         following, error);
        if (status == DOPPEL_E_CANCELLED && following->ended)
            status = DOPPEL_OK;
        if (!status && !following->ended)
            status = end_look(following, error);
    } while (!status && !following->ended && following->visited == PAGE_ENTRIES &&
             !is_behind_last(&following->query));
    return status;
}

/* Nobody writes to the log of a library that is gone: the reader of its folder reads on. */
static enum doppel_status check_library_place(struct following *following,
                                              struct doppel_error *error)
{
    return doppel_library_is_moved(following->library)
               ? doppel_fail(error, DOPPEL_E_IO,
                             "the library was moved, removed or replaced: its log ends here")
               : DOPPEL_OK;
}

enum doppel_status doppel_log_follow(struct doppel_run *run, struct doppel_library *library,
                                     const struct doppel_log_follow_options *options,
                                     const struct doppel_log_follower *follower,
                                     struct doppel_error *error)
{
    struct following following = {library, follower, options->query, 0, false};
    int64_t version = 0;
    bool changed;
    following.query.limit = PAGE_ENTRIES;
    following.query.newest_first = false;
    do {
        enum doppel_status status = doppel_library_changed(library, &version, &changed, error);
        if (!status)
            status = changed ? read_log_pages(&following, error) : end_look(&following, error);
        if (status || following.ended || !options->follow || is_behind_last(&following.query))
            return status;
        status = check_library_place(&following, error);
        if (status)
            return status;
    } while (pause_run(run, options->poll_ms ? options->poll_ms : USUAL_POLL_MS));
    return DOPPEL_OK;
}
