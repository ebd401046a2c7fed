/* Hits of keys, sorted by item; of each item the angles and scales that most points vote for. */
#include "local/votes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/radix_sort.h"
#include "core/try.h"
#include "local/keys.h"

/* A hit: item 32 bits, side 1, angle 5, scale 4 (difference + 8), point of the query 16. */
enum { HIT_POINT = 0, HIT_SCALE = 16, HIT_ANGLE = 20, HIT_SIDE = 25, HIT_ITEM = 26 };
enum { LEAST_VOTES = 2, MOST_HITS_OF_ITEM = 256, MOST_VOTES_OF_PLACE = 2, WEIGHT_UNIT = 16 };

struct hit_collector {
    const struct verify_query *query;
    ARRAY(uint64_t) hits;
    uint32_t counts[2][DOPPEL_LOCAL_POINTS];  /* hits of each point, as it is and mirrored */
    uint32_t weights[2][DOPPEL_LOCAL_POINTS]; /* the more, the fewer hits it has */
    bool failed;
};

static uint64_t hit_of(uint64_t item, unsigned side, const struct pose_point *point, size_t number,
                       uint32_t posting)
{
    uint64_t angle = ((uint32_t)point->angle / 4 - (posting >> 3)) & (POSTING_ANGLES - 1);
    uint64_t scale = (uint32_t)point->scale / 4 + 8 - (posting & (POSTING_SCALES - 1));
    return item << HIT_ITEM | (uint64_t)side << HIT_SIDE | angle << HIT_ANGLE | scale << HIT_SCALE |
           number;
}

static bool collect_hits(void *context, uint32_t key, uint64_t base, const uint32_t *positions,
                         size_t count)
{
    struct hit_collector *collector = context;
    const struct verify_query *query = collector->query;
    size_t number = key / KEY_PROBES;
    unsigned side = number >= query->sides[0].count;
    number -= side ? query->sides[0].count : 0;
    const struct pose_point *point = &query->sides[side].items[number];
    collector->counts[side][number] += (uint32_t)count;
    for (size_t i = 0; i < count && !collector->failed; i++) {
        uint64_t at = base + positions[i];
        uint64_t hit = hit_of(at / DOPPEL_LOCAL_ITEM_LENGTH, side, point, number,
                              (uint32_t)(at % DOPPEL_LOCAL_ITEM_LENGTH));
        collector->failed = !array_push(&collector->hits, hit);
    }
    return !collector->failed;
}

static enum doppel_status look_up_points(const struct doppel_index_axis *axis,
                                         struct hit_collector *collector,
                                         struct doppel_error *error)
{
    size_t count = 0;
    const struct verify_query *query = collector->query;
    const size_t points = query->sides[0].count + query->sides[1].count;
    uint32_t *keys = malloc((points + 1) * KEY_PROBES * sizeof *keys);
    if (!keys)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the keys of a picture");
    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < query->sides[side].count; i++, count += KEY_PROBES)
            key_probes(&query->sides[side].items[i].code, keys + count);
    enum doppel_status status =
        doppel_index_lookup(axis, keys, count, collect_hits, collector, error);
    free(keys);
    if (collector->failed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a picture");
    return status;
}

/* ---- items ---- */

static bool votes_alike(uint64_t a, uint64_t b)
{
    int32_t angle = (int32_t)((a >> HIT_ANGLE) - (b >> HIT_ANGLE)) & (POSTING_ANGLES - 1);
    int32_t scale = (int32_t)(a >> HIT_SCALE & 15) - (int32_t)(b >> HIT_SCALE & 15);
    return (a >> HIT_SIDE & 1) == (b >> HIT_SIDE & 1) && abs(scale) <= 1 &&
           (angle <= 1 || angle == POSTING_ANGLES - 1);
}

/* The angle and scale of the item's point that was hit: a byte. */
static uint8_t posting_of_hit(const struct hit_collector *collector, uint64_t hit)
{
    const struct pose_point *point =
        &collector->query->sides[hit >> HIT_SIDE & 1].items[(uint16_t)hit];
    const uint32_t angle = (uint32_t)point->angle / 4 - (uint32_t)(hit >> HIT_ANGLE);
    const uint32_t scale = (uint32_t)point->scale / 4 + 8 - (uint32_t)(hit >> HIT_SCALE & 15);
    return (uint8_t)((angle & (POSTING_ANGLES - 1)) << 3 | (scale & (POSTING_SCALES - 1)));
}

/* What many hits agree with: how many points they are of, and what these weigh. */
struct vote_peak {
    uint64_t hit;
    uint32_t votes, weight;
};

/* The points of the query whose hits agree with one. Points along an edge look alike: of those that
 * hit one angle and scale of the item, few count. */
static struct vote_peak count_votes(const struct hit_collector *collector, const uint64_t *hits,
                                    size_t count, uint64_t middle)
{
    struct vote_peak peak = {.hit = middle};
    uint64_t seen[DOPPEL_LOCAL_POINTS / 64] = {0};
    uint8_t taken[POSTING_ANGLES * POSTING_SCALES] = {0};
    const uint32_t *weights = collector->weights[middle >> HIT_SIDE & 1];
    for (size_t i = 0; i < count; i++) {
        const uint16_t point = (uint16_t)hits[i];
        if (!votes_alike(hits[i], middle) || seen[point / 64] >> point % 64 & 1)
            continue;
        const uint8_t posting = posting_of_hit(collector, hits[i]);
        if (taken[posting] == MOST_VOTES_OF_PLACE)
            continue;
        taken[posting]++;
        seen[point / 64] |= UINT64_C(1) << point % 64;
        peak.weight += weights[point];
        peak.votes++;
    }
    return peak;
}

/* The better of two that are alike; those of most weight first. */
static void insert_peak(struct vote_peak peaks[VOTES_HINTS], struct vote_peak peak)
{
    size_t at = 0;
    while (at < VOTES_HINTS - 1 && peaks[at].votes && !votes_alike(peaks[at].hit, peak.hit))
        at++;
    if (peaks[at].weight >= peak.weight)
        return;
    for (; at && peaks[at - 1].weight < peak.weight; at--)
        peaks[at] = peaks[at - 1];
    peaks[at] = peak;
}

static struct verify_hint hint_of_hit(uint64_t hit)
{
    return (struct verify_hint){.mirrored = hit >> HIT_SIDE & 1,
                                .angle = (int32_t)(hit >> HIT_ANGLE & 31) * 4,
                                .scale = ((int32_t)(hit >> HIT_SCALE & 15) - 8) * 4,
                                .angle_range = 11,
                                .scale_range = 7};
}

static struct local_candidate voted_candidate(const struct hit_collector *collector,
                                              const uint64_t *hits, size_t count)
{
    struct local_candidate out = {.item = hits[0] >> HIT_ITEM};
    struct vote_peak peaks[VOTES_HINTS] = {{0}};
    count = count < MOST_HITS_OF_ITEM ? count : MOST_HITS_OF_ITEM;
    for (size_t i = 0; i < count; i++) {
        if (i && hits[i] >> HIT_SCALE == hits[i - 1] >> HIT_SCALE)
            continue;
        const struct vote_peak peak = count_votes(collector, hits, count, hits[i]);
        if (peak.votes >= LEAST_VOTES)
            insert_peak(peaks, peak);
    }
    out.weight = peaks[0].weight;
    while (out.hint_count < VOTES_HINTS && peaks[out.hint_count].votes) {
        out.hints[out.hint_count] = hint_of_hit(peaks[out.hint_count].hit);
        out.hint_count++;
    }
    return out;
}

static void insert_candidate(struct local_candidate *candidates, size_t *count,
                             const struct local_candidate *candidate)
{
    if (*count == VOTES_CANDIDATES && candidates[*count - 1].weight >= candidate->weight)
        return;
    size_t at = *count < VOTES_CANDIDATES ? (*count)++ : *count - 1;
    for (; at && candidates[at - 1].weight < candidate->weight; at--)
        candidates[at] = candidates[at - 1];
    candidates[at] = *candidate;
}

/* By item, side, angle and scale; of each item the points come in order already. */
static bool order_part_hits(struct hit_collector *collector)
{
    const size_t count = collector->hits.count;
    uint64_t *scratch = malloc((count + 1) * sizeof *scratch), all = 0;
    if (!scratch)
        return false;
    for (size_t i = 0; i < count; i++)
        all |= collector->hits.items[i];
    const unsigned end = all ? 64 - (unsigned)__builtin_clzll(all) : 0;
    uint64_t *sorted = radix_sort(collector->hits.items, scratch, count, HIT_SCALE, end);
    free(sorted == scratch ? collector->hits.items : scratch);
    collector->hits.items = sorted;
    return true;
}

/* By how many items of the set a point hits: by chance one that hits a tenth of them says little.
 */
static void weigh_points(struct hit_collector *collector, double items)
{
    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < collector->query->sides[side].count; i++)
            collector->weights[side][i] =
                (uint32_t)(WEIGHT_UNIT * log(1 + items / (collector->counts[side][i] + 1.)) + .5);
}

static void choose_candidates(const struct hit_collector *collector,
                              struct local_candidate out[VOTES_CANDIDATES], size_t *out_count)
{
    const uint64_t *hits = collector->hits.items;
    const size_t count = collector->hits.count;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && hits[end] >> HIT_ITEM == hits[first] >> HIT_ITEM;)
            end++;
        if (end - first < LEAST_VOTES)
            continue;
        const struct local_candidate candidate =
            voted_candidate(collector, hits + first, end - first);
        if (candidate.hint_count)
            insert_candidate(out, out_count, &candidate);
    }
}

enum doppel_status local_votes(const struct doppel_index_axis *axis,
                               const struct verify_query *query,
                               struct local_candidate out[VOTES_CANDIDATES], size_t *out_count,
                               struct doppel_error *error)
{
    struct hit_collector collector = {.query = query};
    enum doppel_status status;
    *out_count = 0;
    TRY(look_up_points(axis, &collector, error));
    if (!order_part_hits(&collector))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a picture"));
    weigh_points(&collector, (double)doppel_index_axis_length(axis) / DOPPEL_LOCAL_ITEM_LENGTH);
    choose_candidates(&collector, out, out_count);
done:
    array_free(&collector.hits);
    return status;
}
