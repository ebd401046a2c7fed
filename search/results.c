/* What was found for a query. */
#include "search/results.h"

#include <stdlib.h>
#include <string.h>

#include "compare/video.h"
#include "core/array.h"
#include "search/allow_list.h"

void results_clear(struct doppel_search_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        doppel_comparison_free(&results->items[i].comparison);
    results->count = 0;
    results->unreadable.count = 0;
    memset(results->not_compared, 0, sizeof results->not_compared);
    results->obstacle = NULL;
}

void doppel_search_results_free(struct doppel_search_results *results)
{
    if (!results)
        return;
    results_clear(results);
    array_free(results);
}

struct doppel_search_result *doppel_search_results_find(const struct doppel_search_results *results,
                                                        uint64_t id)
{
    for (size_t i = 0; i < results->count; i++)
        if (results->items[i].id == id)
            return &results->items[i];
    return NULL;
}

bool results_append(struct doppel_search_results *results, struct doppel_search_result *result)
{
    if (array_push(results, *result))
        return true;
    doppel_comparison_free(&result->comparison);
    return false;
}

bool results_append_match(struct doppel_search_results *results, const struct doppel_found *found)
{
    struct doppel_search_result result = {.id = found->id,
                                          .below_threshold = found->borderline &&
                                                             found->match.kind == DOPPEL_KIND_AUDIO,
                                          .comparison = {.matches = true, .match = found->match}};
    return copy_segments(&result.comparison.match) && results_append(results, &result);
}

enum doppel_status doppel_search_results_add(struct doppel_search_results *results,
                                             struct doppel_search_result *result,
                                             struct doppel_error *error)
{
    if (!results_append(results, result))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches");
    results_order(results);
    return DOPPEL_OK;
}

static struct listed_match listed_of(const struct doppel_search_result *result)
{
    bool explains = result->state != DOPPEL_LIST_BENIGN || !result->below_threshold;
    return (struct listed_match){.id = result->id,
                                 .state = explains ? result->state : DOPPEL_LIST_ACTIVE,
                                 .segments = result->comparison.match.segments,
                                 .segment_count = result->comparison.match.segment_count};
}

enum doppel_status doppel_search_results_apply_lists(struct doppel_search_results *results,
                                                     struct doppel_library *library,
                                                     struct doppel_error *error)
{
    bool any = doppel_library_has_states(library);
    struct listed_match *matches = any ? calloc(results->count + 1, sizeof *matches) : NULL;
    enum doppel_status status = DOPPEL_OK;
    if (any && !matches)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what is allow-listed");
    for (size_t i = 0; i < results->count; i++) {
        struct doppel_search_result *result = &results->items[i];
        result->state = DOPPEL_LIST_ACTIVE;
        result->suppressed_by = 0;
        if (any)
            (void)doppel_library_state_of(library, result->id, &result->state, NULL);
        if (any)
            matches[i] = listed_of(result);
    }
    if (any)
        status = allow_list_apply(matches, results->count, error);
    for (size_t i = 0; i < results->count && any; i++)
        results->items[i].suppressed_by = matches[i].suppressed_by;
    free(matches);
    return status;
}

/* ---- the best first ---- */

/* What matches by frames, or by peaks, has a false-positive rate. */
static bool is_scored(const struct doppel_search_result *result)
{
    return result->comparison.of_video || result->comparison.match.kind == DOPPEL_KIND_AUDIO;
}

static int by_score(const struct doppel_search_result *a, const struct doppel_search_result *b)
{
    double a_score = a->comparison.match.score, b_score = b->comparison.match.score;
    bool a_exact = a->comparison.match.verified == DOPPEL_VERIFIED_EXACT,
         b_exact = b->comparison.match.verified == DOPPEL_VERIFIED_EXACT;
    if (a_exact != b_exact)
        return a_exact ? -1 : 1;
    return (a_score < b_score) - (a_score > b_score);
}

static int by_similarity(const struct doppel_search_result *a, const struct doppel_search_result *b)
{
    double x = a->comparison.match.similarity, y = b->comparison.match.similarity;
    return (x < y) - (x > y);
}

/* Images that are like an image stand before videos that show it. */
static int by_rank(const void *left, const void *right)
{
    const struct doppel_search_result *a = left, *b = right;
    int order = a->below_threshold - b->below_threshold;
    if (!order)
        order = is_scored(a) - is_scored(b);
    if (!order && is_scored(a))
        order = by_score(a, b);
    if (!order)
        order = by_similarity(a, b);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

void results_order(struct doppel_search_results *results)
{
    if (results->count)
        qsort(results->items, results->count, sizeof *results->items, by_rank);
}

void doppel_unreadable_to_json(struct doppel_json *json, const struct doppel_unreadable *items)
{
    if (!items->count)
        return;
    doppel_json_array_begin(json, "unreadable");
    for (size_t i = 0; i < items->count; i++)
        doppel_json_integer(json, NULL, items->ids[i]);
    doppel_json_array_end(json);
}
