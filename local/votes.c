/* Hits of keys, sorted by item; of each item the angle and scale that most points vote for. */
#include "local/votes.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/radix_sort.h"
#include "core/try.h"
#include "local/keys.h"

/* A hit: item 32 bits, side 1, angle 5, scale 4 (difference + 8), point of the query 16. */
enum { HIT_POINT = 0, HIT_SCALE = 16, HIT_ANGLE = 20, HIT_SIDE = 25, HIT_ITEM = 26 };
enum { LEAST_VOTES = 2, MOST_HITS_OF_ITEM = 256 };

struct hit_collector {
    const struct verify_query *query;
    ARRAY(uint64_t) hits;
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

/* Points of the query whose hits agree with one. */
static uint32_t count_votes(const uint64_t *hits, size_t count, uint64_t middle, uint64_t *seen)
{
    uint32_t votes = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t point = (uint16_t)hits[i];
        if (!votes_alike(hits[i], middle) || seen[point / 64] >> point % 64 & 1)
            continue;
        seen[point / 64] |= UINT64_C(1) << point % 64;
        votes++;
    }
    for (size_t i = 0; i < count; i++)
        seen[(uint16_t)hits[i] / 64] = 0;
    return votes;
}

static struct local_candidate voted_candidate(const uint64_t *hits, size_t count, uint64_t *seen)
{
    struct local_candidate best = {.item = hits[0] >> HIT_ITEM};
    uint64_t middle = hits[0];
    count = count < MOST_HITS_OF_ITEM ? count : MOST_HITS_OF_ITEM;
    for (size_t i = 0; i < count; i++) {
        if (i && hits[i] >> HIT_SCALE == hits[i - 1] >> HIT_SCALE)
            continue;
        uint32_t votes = count_votes(hits, count, hits[i], seen);
        middle = votes > best.votes ? hits[i] : middle;
        best.votes = votes > best.votes ? votes : best.votes;
    }
    best.hint = (struct verify_hint){.mirrored = middle >> HIT_SIDE & 1,
                                     .angle = (int32_t)(middle >> HIT_ANGLE & 31) * 4,
                                     .scale = ((int32_t)(middle >> HIT_SCALE & 15) - 8) * 4,
                                     .angle_range = 11,
                                     .scale_range = 7};
    return best;
}

static void insert_candidate(struct local_candidate *candidates, size_t *count,
                             const struct local_candidate *candidate)
{
    if (*count == VOTES_CANDIDATES && candidates[*count - 1].votes >= candidate->votes)
        return;
    size_t at = *count < VOTES_CANDIDATES ? (*count)++ : *count - 1;
    for (; at && candidates[at - 1].votes < candidate->votes; at--)
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

static void choose_candidates(const uint64_t *hits, size_t count, uint64_t *seen,
                              struct local_candidate out[VOTES_CANDIDATES], size_t *out_count)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && hits[end] >> HIT_ITEM == hits[first] >> HIT_ITEM;)
            end++;
        if (end - first < LEAST_VOTES)
            continue;
        const struct local_candidate candidate = voted_candidate(hits + first, end - first, seen);
        if (candidate.votes >= LEAST_VOTES)
            insert_candidate(out, out_count, &candidate);
    }
}

enum doppel_status local_votes(const struct doppel_index_axis *axis,
                               const struct verify_query *query,
                               struct local_candidate out[VOTES_CANDIDATES], size_t *out_count,
                               struct doppel_error *error)
{
    static const size_t seen_words = (1 << 16) / 64;
    struct hit_collector collector = {.query = query};
    uint64_t *seen = calloc(seen_words, sizeof *seen);
    enum doppel_status status;
    *out_count = 0;
    if (!seen)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the votes of a picture"));
    TRY(look_up_points(axis, &collector, error));
    if (!order_part_hits(&collector))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a picture"));
    choose_candidates(collector.hits.items, collector.hits.count, seen, out, out_count);
done:
    free(seen);
    array_free(&collector.hits);
    return status;
}
