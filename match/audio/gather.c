/* From the keys of a hypothesis to their hits: all at one look, or the rarest first. */
#include "match/audio/gather.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL_SET = 4300000, /* hops, 28 hours: all lists are not much longer than the budget … */
    FIRST_LOOK = 400000  /* … or than this */
};

/* A key at this share of all places, or at more, tells too little to count. */
static const double MOST_CHANCE = 0.25;

/* ---- keys ---- */

bool gather_is_distinctive(const struct ballot *ballot, uint64_t length)
{
    return length && (double)length * VOTES_WIDTH < MOST_CHANCE * (double)ballot->hops;
}

/* Keep the keys with the shortest lists, as far as the budget goes. @return how many */
static size_t spend_ballot(struct ballot *ballot, size_t count, uint64_t budget)
{
    uint64_t *order = ballot->order[0], longest = 0;
    size_t usable = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t length = ballot->lengths[i];
        if (!gather_is_distinctive(ballot, length) || length > budget)
            continue;
        order[usable++] = vote_hit(length, (uint32_t)i);
        longest = length > longest ? length : longest;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll(longest | 1);
    order = radix_sort(order, ballot->order[1], usable, VOTER_BITS, VOTER_BITS + bits);
    for (; kept < usable && vote_diagonal(order[kept]) <= budget; kept++) {
        budget -= vote_diagonal(order[kept]);
        const struct doppel_audio_key *key = &ballot->keys[vote_voter(order[kept])];
        ballot->queried[kept] = key->key;
        ballot->places[kept] = key->hop;
        ballot->faint[kept] = (uint8_t)key->faint;
    }
    return kept;
}

static void query_all(struct ballot *ballot, size_t count, struct queried *queried)
{
    uint32_t latest = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t hop = ballot->keys[i].hop;
        ballot->queried[i] = ballot->keys[i].key;
        ballot->places[i] = hop;
        ballot->faint[i] = (uint8_t)ballot->keys[i].faint;
        latest = hop > latest ? hop : latest;
    }
    *queried = (struct queried){.count = count, .bias = (uint64_t)latest + VOTES_WIDTH};
}

/* ---- hits ---- */

static bool reserve_hits(struct ballot *ballot, size_t count)
{
    if (count <= ballot->hit_capacity)
        return true;
    for (int i = 0; i < 2; i++) {
        free(ballot->hits[i]);
        ballot->hits[i] = malloc(count * sizeof *ballot->hits[i]);
    }
    ballot->hit_capacity = ballot->hits[0] && ballot->hits[1] ? count : 0;
    return ballot->hit_capacity;
}

struct vote_gathering {
    struct ballot *ballot;
    uint64_t bias;
    size_t count, most;
};

static bool take_hits(void *context, uint32_t number, uint64_t base, const uint32_t *positions,
                      size_t count)
{
    struct vote_gathering *gathering = context;
    struct ballot *ballot = gathering->ballot;
    if (count > gathering->most - gathering->count)
        return false;
    uint64_t *hits = ballot->hits[0] + gathering->count;
    uint64_t first = base + gathering->bias - ballot->places[number];
    for (size_t i = 0; i < count; i++)
        hits[i] = vote_hit(first + positions[i], number);
    gathering->count += count;
    ballot->lengths[number] += count;
    return true;
}

/* The hits of the keys that are asked, but for those with the longest lists, and the lengths of
 * these, one look at each. DOPPEL_E_LIMIT, with no sentence: there is too much to look at */
static enum doppel_status gather_all(struct ballot *ballot, const struct queried *queried,
                                     const struct hypothesis *hypothesis, size_t *out_count,
                                     struct doppel_error *error)
{
    uint64_t most = hypothesis->max_postings;
    most = most < FIRST_LOOK ? most : FIRST_LOOK;
    if (!reserve_hits(ballot, (size_t)most))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a recording");
    struct lists_question question = {.pitch = hypothesis->pitch,
                                      .keys = ballot->queried,
                                      .hops = ballot->places,
                                      .count = queried->count,
                                      .bias = queried->bias,
                                      .lengths = ballot->lengths,
                                      .hits = ballot->hits[0],
                                      .most = (size_t)most,
                                      .most_places = FIRST_LOOK};
    return lists_ask(&ballot->lists, ballot->axis, &question, out_count, error);
}

/* The hits of these keys. DOPPEL_E_LIMIT, with no sentence: they are more than `most` */
static enum doppel_status gather_ballot(struct ballot *ballot, const struct queried *queried,
                                        uint64_t most, size_t *out_count,
                                        struct doppel_error *error)
{
    struct vote_gathering gathering = {ballot, queried->bias, 0, (size_t)most};
    if (!reserve_hits(ballot, (size_t)most))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a recording");
    memset(ballot->lengths, 0, queried->count * sizeof *ballot->lengths);
    enum doppel_status status = doppel_index_lookup(ballot->axis, ballot->queried, queried->count,
                                                    take_hits, &gathering, error);
    *out_count = gathering.count;
    return status == DOPPEL_E_CANCELLED ? DOPPEL_E_LIMIT : status;
}

/* As gather_all, of keys that are asked once. */
static enum doppel_status gather_once(struct ballot *ballot, const struct queried *queried,
                                      const struct hypothesis *hypothesis, size_t *out_count,
                                      struct doppel_error *error)
{
    size_t all = 0, kept = 0;
    enum doppel_status status = gather_ballot(ballot, queried, FIRST_LOOK, &all, error);
    if (status)
        return status;
    uint64_t *hits = ballot->hits[0];
    uint64_t longest =
        all <= hypothesis->max_postings
            ? UINT64_MAX
            : lists_longest(ballot->lengths, queried->count, hypothesis->max_postings);
    for (size_t i = 0; i < all; i++) {
        uint64_t hit = hits[i];
        hits[kept] = hit;
        kept += ballot->lengths[vote_voter(hit)] <= longest;
    }
    for (size_t i = 0; i < queried->count; i++)
        if (ballot->lengths[i] > longest)
            ballot->lengths[i] = 0;
    *out_count = kept;
    return DOPPEL_OK;
}

/* As many of the rarest keys as the budget is enough for. */
static enum doppel_status gather_rarest(struct ballot *ballot, struct queried *queried,
                                        uint64_t budget, size_t *out_count,
                                        struct doppel_error *error)
{
    uint64_t hits = 0;
    enum doppel_status status =
        doppel_index_lengths(ballot->axis, ballot->queried, queried->count, ballot->lengths, error);
    if (status)
        return status;
    for (size_t i = 0; i < queried->count; i++)
        hits += ballot->lengths[i] < budget - hits ? ballot->lengths[i] : budget - hits;
    queried->count = spend_ballot(ballot, queried->count, budget);
    status = gather_ballot(ballot, queried, hits, out_count, error);
    if (status == DOPPEL_E_LIMIT)
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "the index has more places than it says");
    return status;
}

enum doppel_status ballot_gather(struct ballot *ballot, const struct window *window,
                                 const struct hypothesis *hypothesis, struct queried *out_queried,
                                 size_t *out_count, struct doppel_error *error)
{
    const struct doppel_audio_zone *zone = &hypothesis->zone;
    bool faint = zone->faint_fan_out[0] || zone->faint_fan_out[1];
    enum doppel_status status = DOPPEL_E_LIMIT;
    size_t count = doppel_audio_keys(faint ? window->all : window->peaks,
                                     faint ? window->all_count : window->count, zone, ballot->keys,
                                     ballot->capacity);
    query_all(ballot, count, out_queried);
    if (ballot->hops < SMALL_SET) /* one look at each list is enough, then */
        status = faint ? gather_once(ballot, out_queried, hypothesis, out_count, error)
                       : gather_all(ballot, out_queried, hypothesis, out_count, error);
    if (status == DOPPEL_E_LIMIT)
        status = gather_rarest(ballot, out_queried, hypothesis->max_postings, out_count, error);
    return status;
}
