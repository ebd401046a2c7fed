/* A query to ranked matches: the candidates of the votes, each verified. */
#include <stdlib.h>

#include "core/try.h"
#include "local/set.h"
#include "local/votes.h"

struct doppel_local_options doppel_local_options_default(void)
{
    return (struct doppel_local_options){.max_false_positives = 1e-3, .mirrored = true};
}

/* ---- two pictures ---- */

/* Any angle and any scale. */
static struct verify_hint any_hint(bool mirrored)
{
    return (struct verify_hint){mirrored, 0, 0, POSITION_ANGLES, POSITION_SCALES};
}

static void rate_found(struct verify_found *found, double pairs)
{
    double rate = verify_rate(found->surprise) * pairs;
    found->verdict.false_positive_rate = rate < 1 ? rate : 1;
}

enum doppel_status doppel_local_verify(const struct doppel_fingerprint *query,
                                       const struct doppel_fingerprint *item,
                                       const struct doppel_local_options *options,
                                       struct doppel_local_verdict *out, struct doppel_error *error)
{
    struct verify_query sides = {0};
    struct pose_points points = {0};
    struct verify_found found = {0};
    enum doppel_status status;
    TRY(local_check(query, error));
    TRY(local_check(item, error));
    bool done = verify_query_make(query, options->mirrored, &sides) &&
                pose_points_make(item, false, &points);
    for (unsigned side = 0; done && side <= options->mirrored; side++) {
        const struct verify_hint hint = any_hint(side);
        done = verify_points(&sides, &points, &hint, &found);
    }
    if (!done)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare the points of pictures"));
    rate_found(&found, 1);
    *out = found.verdict;
done:
    free(points.items);
    verify_query_free(&sides);
    return status;
}

/* ---- many pictures ---- */

struct found_item {
    uint64_t id;
    struct verify_found found;
};

struct local_finding {
    const struct doppel_local_set *set;
    const struct doppel_local_options *options;
    struct verify_query query;
    struct found_item items[VOTES_CANDIDATES];
    size_t count;
};

/* The points of a candidate. @param out_owned given (doppel_fingerprint_free). NULL: none */
static const struct doppel_fingerprint *candidate_points(const struct doppel_local_set *set,
                                                         uint64_t id,
                                                         struct doppel_fingerprint *out_owned)
{
    if (!set->own)
        return set->source(set->context, id, out_owned) && !local_check(out_owned, NULL) ? out_owned
                                                                                         : NULL;
    uint64_t number = number_map_find(&set->numbers, id);
    return number ? &set->kept.items[number - 1] : NULL;
}

static enum doppel_status verify_candidate(struct local_finding *finding,
                                           const struct local_candidate *candidate, uint64_t id,
                                           struct doppel_error *error)
{
    struct doppel_fingerprint owned = {0};
    struct pose_points points = {0};
    struct verify_found found = {0};
    enum doppel_status status = DOPPEL_OK;
    const struct doppel_fingerprint *item = candidate_points(finding->set, id, &owned);
    if (item && !(pose_points_make(item, false, &points) &&
                  verify_points(&finding->query, &points, &candidate->hint, &found)))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare the points of pictures"));
    if (found.verdict.inliers)
        finding->items[finding->count++] = (struct found_item){id, found};
done:
    free(points.items);
    doppel_fingerprint_free(&owned);
    return status;
}

static int compare_found(const void *a, const void *b)
{
    const struct found_item *left = a, *right = b;
    if (left->found.surprise != right->found.surprise)
        return left->found.surprise > right->found.surprise ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static enum doppel_status visit_found(struct local_finding *finding, doppel_local_visitor *visitor,
                                      void *context, struct doppel_error *error)
{
    size_t misses = finding->options->near_misses;
    if (finding->count)
        qsort(finding->items, finding->count, sizeof *finding->items, compare_found);
    for (size_t i = 0; i < finding->count; i++) {
        struct found_item *item = &finding->items[i];
        bool is_match =
            item->found.verdict.false_positive_rate <= finding->options->max_false_positives;
        if (!is_match && !misses)
            break;
        misses -= !is_match;
        if (!visitor(context, item->id, is_match, &item->found.verdict))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "the search was ended");
    }
    return DOPPEL_OK;
}

static enum doppel_status find_items(struct local_finding *finding,
                                     const struct doppel_index_axis *axis,
                                     struct doppel_error *error)
{
    struct local_candidate candidates[VOTES_CANDIDATES];
    size_t count = 0;
    enum doppel_status status = local_votes(axis, &finding->query, candidates, &count, error);
    double items = (double)doppel_index_axis_length(axis) / DOPPEL_LOCAL_ITEM_LENGTH;
    for (size_t i = 0; !status && i < count; i++) {
        struct doppel_index_place place =
            doppel_index_item_at(axis, candidates[i].item * DOPPEL_LOCAL_ITEM_LENGTH);
        if (!place.removed)
            status = verify_candidate(finding, &candidates[i], place.payload, error);
    }
    for (size_t i = 0; i < finding->count; i++)
        rate_found(&finding->items[i].found, items > 1 ? items : 1);
    return status;
}

enum doppel_status doppel_local_find(const struct doppel_local_set *set,
                                     const struct doppel_fingerprint *query,
                                     const struct doppel_local_options *options,
                                     doppel_local_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    struct doppel_index_axis *axis = NULL;
    struct local_finding *finding = calloc(1, sizeof *finding);
    enum doppel_status status;
    if (!finding)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to find a picture"));
    finding->set = set;
    finding->options = options;
    TRY(local_check(query, error));
    if (!verify_query_make(query, options->mirrored, &finding->query))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a query"));
    if (set->index) {
        TRY(doppel_index_axis_take(set->index, &axis, error));
        TRY(find_items(finding, axis, error));
    }
    TRY(visit_found(finding, visitor, context, error));
done:
    if (axis)
        doppel_index_axis_free(axis);
    if (finding)
        verify_query_free(&finding->query);
    free(finding);
    return status;
}
