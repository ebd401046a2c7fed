/* A query to ranked matches: the candidates of the votes, each verified. */
#include <stdlib.h>

#include "core/try.h"
#include "local/set.h"
#include "local/shown.h"
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

/* ---- candidates ---- */

/* So many items are verified, by what votes of all frames of the query say: of a query of few
 * frames, and of one of more, which knows them better. */
enum { MOST_ITEMS = VOTES_CANDIDATES, FEW_FRAMES = 4, MOST_ITEMS_OF_MANY = 32 };

/* A frame of an item that a frame of the query votes for. */
struct voted_frame {
    uint64_t id;
    uint32_t query, item, frames; /* numbers of the frames; how many the item has */
    struct local_candidate voted;
};

struct local_finding {
    const struct doppel_local_set *set;
    const struct doppel_local_options *options;
    const struct doppel_local_video *query;
    ARRAY(struct voted_frame) candidates; /* by frame of the query */
    ARRAY(struct shown_pair) pairs;
    double frames; /* of all items */
};

/* Of one frame of the query. */
static enum doppel_status add_candidates(struct local_finding *finding,
                                         const struct doppel_index_axis *axis, uint32_t number,
                                         struct doppel_error *error)
{
    struct local_candidate voted[VOTES_CANDIDATES];
    struct verify_query query = {0};
    size_t count = 0;
    enum doppel_status status;
    if (!verify_query_make(&finding->query->frames[number].points, finding->options->mirrored,
                           &query))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a query"));
    TRY(local_votes(axis, &query, voted, &count, error));
    for (size_t i = 0; i < count; i++) {
        const struct doppel_index_place place =
            doppel_index_item_at(axis, voted[i].item * DOPPEL_LOCAL_ITEM_LENGTH);
        const struct voted_frame candidate = {
            place.payload, number,
            (uint32_t)(voted[i].item - place.start / DOPPEL_LOCAL_ITEM_LENGTH),
            place.length / DOPPEL_LOCAL_ITEM_LENGTH, voted[i]};
        if (!place.removed && !array_push(&finding->candidates, candidate))
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the candidates of a query"));
    }
done:
    verify_query_free(&query);
    return status;
}

/* An item, and the squares of the most weight that it has by each frame of the query. */
struct voted_item {
    uint64_t id, weight;
};

static int compare_voted(const void *a, const void *b)
{
    const struct voted_item *left = a, *right = b;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static int compare_voted_ids(const void *a, const void *b)
{
    const struct voted_item *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

/* The items of all candidates, by id. Those of a frame come by weight: its first one of an item
 * counts. @param out given (free); NULL without memory */
static struct voted_item *sum_votes(const struct local_finding *finding, size_t *out_count)
{
    struct number_map numbers = {0};
    const size_t count = finding->candidates.count;
    struct voted_item *items = calloc(count + 1, sizeof *items);
    uint32_t *last = calloc(count + 1, sizeof *last); /* 1 + the frame that counted last */
    bool room = items && last && number_map_reserve(&numbers, count);
    size_t used = 0;
    for (size_t i = 0; i < count && room; i++) {
        const struct voted_frame *candidate = &finding->candidates.items[i];
        uint64_t number = number_map_find(&numbers, candidate->id);
        if (!number) {
            *number_map_place(&numbers, candidate->id) = number = ++used;
            items[number - 1].id = candidate->id;
        }
        if (last[number - 1] == candidate->query + 1)
            continue;
        last[number - 1] = candidate->query + 1;
        items[number - 1].weight += (uint64_t)candidate->voted.weight * candidate->voted.weight;
    }
    free(last);
    number_map_free(&numbers);
    if (!room) {
        free(items);
        return NULL;
    }
    *out_count = used;
    return items;
}

/* Only those of the items with most weight stay. */
static bool choose_items(struct local_finding *finding)
{
    const size_t most = finding->query->count > FEW_FRAMES ? MOST_ITEMS_OF_MANY : MOST_ITEMS;
    size_t count = 0, kept = 0;
    struct voted_item *items = sum_votes(finding, &count);
    if (!items)
        return false;
    if (count > 1)
        qsort(items, count, sizeof *items, compare_voted);
    count = count < most ? count : most;
    if (count > 1)
        qsort(items, count, sizeof *items, compare_voted_ids);
    for (size_t i = 0; i < finding->candidates.count; i++) {
        const struct voted_item wanted = {.id = finding->candidates.items[i].id};
        if (bsearch(&wanted, items, count, sizeof *items, compare_voted_ids))
            finding->candidates.items[kept++] = finding->candidates.items[i];
    }
    finding->candidates.count = kept;
    free(items);
    return true;
}

/* ---- pairs of frames ---- */

/* A frame of a candidate, its points from a set that keeps them, or given by a source.
 * @param out_owned free its points. NULL: none */
static const struct doppel_local_frame *candidate_frame(const struct doppel_local_set *set,
                                                        uint64_t id, uint32_t number,
                                                        struct doppel_local_frame *out_owned)
{
    if (!set->own)
        return set->source(set->context, id, number, out_owned) &&
                       !local_check(&out_owned->points, NULL)
                   ? out_owned
                   : NULL;
    const uint64_t kept = number_map_find(&set->numbers, id);
    const struct doppel_local_video *video = kept ? &set->kept.items[kept - 1] : NULL;
    return video && number < video->count ? &video->frames[number] : NULL;
}

static enum doppel_status verify_candidate(struct local_finding *finding,
                                           const struct verify_query *query,
                                           const struct voted_frame *candidate,
                                           struct doppel_error *error)
{
    struct shown_pair pair = {.id = candidate->id,
                              .query = candidate->query,
                              .item = candidate->item,
                              .frames = candidate->frames};
    struct doppel_local_frame owned = {0};
    struct pose_points points = {0};
    enum doppel_status status = DOPPEL_OK;
    const struct doppel_local_frame *item =
        candidate_frame(finding->set, pair.id, pair.item, &owned);
    bool done = !item || pose_points_make(&item->points, false, &points);
    for (uint32_t i = 0; item && done && i < candidate->voted.hint_count; i++)
        done = verify_points(query, &points, &candidate->voted.hints[i], &pair.found);
    if (!done)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare the points of pictures"));
    if (!pair.found.verdict.inliers)
        goto done;
    pair.span = (struct doppel_local_span){finding->query->frames[pair.query].from_ms,
                                           finding->query->frames[pair.query].to_ms, item->from_ms,
                                           item->to_ms};
    if (!array_push(&finding->pairs, pair))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames that were found"));
done:
    free(points.items);
    doppel_fingerprint_free(&owned.points);
    return status;
}

/* The candidates of one frame of the query, from number `*at` on. */
static enum doppel_status verify_frame(struct local_finding *finding, size_t *at,
                                       struct doppel_error *error)
{
    const uint32_t number = finding->candidates.items[*at].query;
    struct verify_query query = {0};
    enum doppel_status status;
    if (!verify_query_make(&finding->query->frames[number].points, finding->options->mirrored,
                           &query))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a query"));
    for (; *at < finding->candidates.count; ++*at) {
        const struct voted_frame *candidate = &finding->candidates.items[*at];
        if (candidate->query != number)
            break;
        TRY(verify_candidate(finding, &query, candidate, error));
    }
    status = DOPPEL_OK;
done:
    verify_query_free(&query);
    return status;
}

/* ---- items ---- */

/* By item, the best first. */
static int compare_pairs(const void *a, const void *b)
{
    const struct shown_pair *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    if (left->found.surprise != right->found.surprise)
        return left->found.surprise > right->found.surprise ? -1 : 1;
    if (left->query != right->query)
        return left->query < right->query ? -1 : 1;
    return (left->item > right->item) - (left->item < right->item);
}

/* The pairs of one item. */
struct found_item {
    const struct shown_pair *pairs;
    size_t count;
};

static int compare_found(const void *a, const void *b)
{
    const struct shown_pair *left = ((const struct found_item *)a)->pairs,
                            *right = ((const struct found_item *)b)->pairs;
    if (left->found.surprise != right->found.surprise)
        return left->found.surprise > right->found.surprise ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

/* @param out room for as many as there are pairs. @return how many */
static size_t gather_items(struct local_finding *finding, struct found_item *out)
{
    size_t count = 0;
    if (finding->pairs.count)
        qsort(finding->pairs.items, finding->pairs.count, sizeof *finding->pairs.items,
              compare_pairs);
    for (size_t i = 0; i < finding->pairs.count; i++) {
        const struct shown_pair *pair = &finding->pairs.items[i];
        if (!count || out[count - 1].pairs->id != pair->id)
            out[count++] = (struct found_item){pair, 0};
        out[count - 1].count++;
    }
    if (count)
        qsort(out, count, sizeof *out, compare_found);
    return count;
}

/* The rate of its best pair, for all frames of both sides. */
static struct doppel_local_verdict verdict_of(const struct local_finding *finding,
                                              const struct found_item *item)
{
    struct verify_found best = item->pairs->found;
    rate_found(&best, finding->frames * finding->query->count);
    return best.verdict;
}

static enum doppel_status visit_found_items(const struct local_finding *finding,
                                            const struct found_item *items, size_t count,
                                            doppel_local_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    size_t misses = finding->options->near_misses;
    for (size_t i = 0; i < count; i++) {
        struct doppel_local_verdict verdict = verdict_of(finding, &items[i]);
        struct doppel_local_span *spans;
        const bool is_match = verdict.false_positive_rate <= finding->options->max_false_positives;
        if (!is_match && !misses)
            break;
        misses -= !is_match;
        enum doppel_status status = shown_spans(
            items[i].pairs, items[i].count,
            finding->options->max_false_positives / finding->query->count, &verdict, &spans, error);
        if (status)
            return status;
        const bool goes_on = visitor(context, items[i].pairs->id, is_match, &verdict);
        free(spans);
        if (!goes_on)
            return doppel_fail(error, DOPPEL_E_CANCELLED, "the search was ended");
    }
    return DOPPEL_OK;
}

static enum doppel_status find_query_frames(struct local_finding *finding,
                                            const struct doppel_index_axis *axis,
                                            struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    finding->frames = (double)doppel_index_axis_length(axis) / DOPPEL_LOCAL_ITEM_LENGTH;
    finding->frames = finding->frames > 1 ? finding->frames : 1;
    for (uint32_t i = 0; i < finding->query->count; i++)
        TRY(add_candidates(finding, axis, i, error));
    if (!choose_items(finding))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the items of a query"));
    for (size_t at = 0; at < finding->candidates.count;)
        TRY(verify_frame(finding, &at, error));
done:
    return status;
}

enum doppel_status doppel_local_find_video(const struct doppel_local_set *set,
                                           const struct doppel_local_video *query,
                                           const struct doppel_local_options *options,
                                           doppel_local_visitor *visitor, void *context,
                                           struct doppel_error *error)
{
    struct local_finding finding = {.set = set, .options = options, .query = query};
    struct doppel_index_axis *axis = NULL;
    struct found_item *items = NULL;
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 0; i < query->count; i++)
        TRY(local_check(&query->frames[i].points, error));
    if (set->index) {
        TRY(doppel_index_axis_take(set->index, &axis, error));
        TRY(find_query_frames(&finding, axis, error));
    }
    items = malloc((finding.pairs.count + 1) * sizeof *items);
    if (!items)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the items that were found"));
    TRY(visit_found_items(&finding, items, gather_items(&finding, items), visitor, context, error));
done:
    if (axis)
        doppel_index_axis_free(axis);
    array_free(&finding.candidates);
    array_free(&finding.pairs);
    free(items);
    return status;
}

enum doppel_status doppel_local_find(const struct doppel_local_set *set,
                                     const struct doppel_fingerprint *query,
                                     const struct doppel_local_options *options,
                                     doppel_local_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    struct doppel_local_frame frame = {.points = *query};
    const struct doppel_local_video picture = {.frames = &frame, .count = 1};
    return doppel_local_find_video(set, &picture, options, visitor, context, error);
}
