/* The pictures and videos of a library, found by their parts. */
#include "search/parts.h"

#include "compare/parts.h"
#include "search/wanted.h"

struct parts_lookup {
    const struct track_search *search;
    struct picture_size query;
    uint64_t query_ms;
    bool no_memory;
};

/* An item that is searched. @param out given (doppel_item_free) */
static bool take_searched(const struct track_search *search, uint64_t id, struct doppel_item *out)
{
    if (doppel_search_results_find(search->results, id) ||
        !search_may_find(search->options, search->library, id) ||
        doppel_library_get(search->library, id, false, out, NULL))
        return false;
    if (search_wants(search->options, &out->record))
        return true;
    doppel_item_free(out);
    return false;
}

static bool take_part_match(void *context, uint64_t id, bool is_match,
                            const struct doppel_local_verdict *verdict)
{
    struct parts_lookup *lookup = context;
    const struct track_search *search = lookup->search;
    struct doppel_search_result result = {
        .id = id, .below_threshold = !is_match, .comparison = {.matches = true}};
    struct doppel_item item;
    if (!take_searched(search, id, &item))
        return !doppel_run_cancelled(search->run);
    describe_parts(verdict, lookup->query,
                   (struct picture_size){item.record.width, item.record.height},
                   &result.comparison.match);
    lookup->no_memory =
        !describe_part_times(verdict, lookup->query_ms, item.duration_ms, &result.comparison.match);
    doppel_item_free(&item);
    if (!lookup->no_memory &&
        result.comparison.match.similarity >= search->options->compare.min_similarity)
        lookup->no_memory = !results_append(search->results, &result);
    else
        doppel_comparison_free(&result.comparison);
    return !lookup->no_memory && !doppel_run_cancelled(search->run);
}

enum doppel_status search_by_parts(const struct track_search *search,
                                   const struct doppel_record *query, struct doppel_error *error)
{
    const struct doppel_local_options options = parts_options_from(&search->options->compare);
    const struct doppel_local_set *set;
    struct doppel_local_video points;
    struct parts_lookup lookup = {search, {query->width, query->height}, 0, false};
    if (!parts_read(query, &points))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the picture is damaged");
    lookup.query_ms = points.duration_ms;
    enum doppel_status status = doppel_library_parts(search->library, &set, error);
    if (!status)
        status = doppel_local_find_video(set, &points, &options, take_part_match, &lookup, error);
    doppel_local_video_free(&points);
    doppel_library_take_unreadable(search->library, DOPPEL_KIND_IMAGE,
                                   &search->results->unreadable);
    return lookup.no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches")
                            : status;
}
