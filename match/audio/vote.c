/* Votes of a window's keys for items and offsets, and the chance of as many. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/audio/search.h"

enum {
    WEIGHT_STEPS = 1024,
    BOUND_STEPS = 8,
    MOST_ITEMS = 4,
    COMMON_LENGTHS = 256, /* lists shorter than this are weighed once */
    SMALL_SET = 4300000,  /* hops, 28 hours: all hits are about as many as the budget … */
    FIRST_LOOK = 150000,  /* … or as this */
    CROWD_DIAGONALS = 4,  /* that are summed up; no less than VOTES_WIDTH */
    CROWDS = 1 << 17,     /* sums; diagonals that far apart share one */
    CROWD_STEPS = 128     /* of weights, in a step of a sum, which stays at the most it can be */
};

/* A key at this share of all places, or at more, tells too little to count. */
static const double MOST_CHANCE = 0.25;

/* Nats: so much less a hit tells for each peak of its key that is faint, as fewer of these are of a
 * recording. */
static const double FAINT_LOSS = 2;

/* How the keys that are asked add up by chance. */
struct queried {
    size_t count;
    uint64_t bias;             /* what makes all diagonals positive */
    double bound[BOUND_STEPS]; /* ln of the moments of the sum of surprises, by exponent */
};

/* ---- memory ---- */

bool ballot_init(struct ballot *ballot, size_t capacity)
{
    size_t least = capacity + 1;
    ballot->capacity = capacity;
    ballot->keys = malloc(least * sizeof *ballot->keys);
    ballot->queried = malloc(least * sizeof *ballot->queried);
    ballot->places = malloc(least * sizeof *ballot->places);
    ballot->faint = malloc(least * sizeof *ballot->faint);
    ballot->weights = malloc(least * sizeof *ballot->weights);
    ballot->seen = calloc(least, sizeof *ballot->seen);
    ballot->lengths = malloc(least * sizeof *ballot->lengths);
    for (int i = 0; i < 2; i++)
        ballot->order[i] = malloc(least * sizeof *ballot->order[i]);
    ballot->crowds = malloc(CROWDS * sizeof *ballot->crowds);
    return lists_init(&ballot->lists, capacity) && ballot->crowds && ballot->keys &&
           ballot->queried && ballot->places && ballot->faint && ballot->weights && ballot->seen &&
           ballot->lengths && ballot->order[0] && ballot->order[1];
}

void ballot_free(struct ballot *ballot)
{
    free(ballot->keys);
    free(ballot->queried);
    free(ballot->places);
    free(ballot->faint);
    free(ballot->weights);
    free(ballot->seen);
    free(ballot->lengths);
    free(ballot->crowds);
    lists_free(&ballot->lists);
    for (int i = 0; i < 2; i++) {
        free(ballot->order[i]);
        free(ballot->hits[i]);
    }
}

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

/* ---- keys ---- */

/* Whether a list of that length tells something. */
static bool is_distinctive_ballot(const struct ballot *ballot, uint64_t length)
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
        if (!is_distinctive_ballot(ballot, length) || length > budget)
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

/* All hits of the keys that are asked, and the lengths of their lists, one look at each.
 * DOPPEL_E_LIMIT, with no sentence: they are more than `most` */
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
                                      .most = (size_t)most};
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

static const uint64_t *sort_hits(struct ballot *ballot, const struct queried *queried, size_t count)
{
    uint64_t highest = ballot->hops + queried->bias;
    unsigned end = VOTER_BITS + 64 - (unsigned)__builtin_clzll(highest | 1);
    return radix_sort(ballot->hits[0], ballot->hits[1], count, VOTER_BITS, end);
}

/* ---- weights ---- */

/* Exponents at which the moments are known. */
static double exponent(int step)
{
    return 0.3 + 0.1 * step;
}

/* A key met by chance at a diagonal is worth -ln of that chance; Chernoff's bound on the sum of all
 * that are met, one independent of the other, needs its moments. Of `count` keys. */
static uint32_t weigh_queried(struct queried *queried, double chance, size_t count)
{
    double surprise = -log(chance);
    for (int i = 0; i < BOUND_STEPS; i++)
        queried->bound[i] += (double)count * (exp((exponent(i) - 1) * surprise) - chance);
    /* A third of the keys of a true alignment are met: that much less surprising is a hit there. */
    return (uint32_t)lrint((surprise - 1) * WEIGHT_STEPS);
}

/* By the lengths of their lists; what tells nothing weighs nothing. */
static void weigh_all(struct ballot *ballot, struct queried *queried)
{
    uint32_t common[COMMON_LENGTHS] = {0};
    double place = VOTES_WIDTH / (double)ballot->hops;
    for (size_t i = 0; i < queried->count; i++) {
        uint64_t length = ballot->lengths[i];
        if (length < COMMON_LENGTHS)
            common[length]++;
        else
            ballot->weights[i] = is_distinctive_ballot(ballot, length)
                                     ? weigh_queried(queried, (double)length * place, 1)
                                     : 0;
    }
    for (uint64_t length = 0; length < COMMON_LENGTHS; length++) {
        bool counts = common[length] && is_distinctive_ballot(ballot, length);
        common[length] =
            counts ? weigh_queried(queried, (double)length * place, common[length]) : 0;
    }
    for (size_t i = 0; i < queried->count; i++)
        if (ballot->lengths[i] < COMMON_LENGTHS)
            ballot->weights[i] = common[ballot->lengths[i]];
    for (size_t i = 0; i < queried->count; i++) {
        uint32_t loss = (uint32_t)(FAINT_LOSS * WEIGHT_STEPS) * ballot->faint[i];
        ballot->weights[i] -= loss < ballot->weights[i] ? loss : ballot->weights[i];
    }
}

/* ---- candidates ---- */

struct vote_counting {
    struct ballot *ballot;
    const struct window *window;
    const struct hypothesis *hypothesis;
    const struct queried *queried;
    const uint64_t *hits;
};

static struct doppel_index_place place_of_counting(const struct vote_counting *counting,
                                                   uint64_t hit)
{
    uint64_t position =
        vote_diagonal(hit) + counting->ballot->places[vote_voter(hit)] - counting->queried->bias;
    return doppel_index_item_at(counting->ballot->axis, position);
}

/* In steps, in the item. */
static double offset_of(const struct vote_counting *counting, const struct votes_peak *peak,
                        const struct doppel_index_place *place)
{
    double hops = (double)peak->middle - (double)counting->queried->bias - (double)place->start;
    return hops * DOPPEL_AUDIO_TIME_STEPS;
}

static bool is_skipped(const struct vote_counting *counting, uint64_t id, double offset)
{
    double middle = counting->window->last / 2.0;
    double drift = (counting->hypothesis->speed - 1) * middle;
    double lies = offset + drift - counting->window->origin;
    for (const struct alignment_skip *skip = counting->ballot->skip; skip; skip = skip->next)
        if (skip->id == id && fabs(lies - skip->offset) <= skip->within)
            return true;
    return false;
}

static bool vote_is_wanted(void *context, const struct votes_peak *peak)
{
    const struct vote_counting *counting = context;
    struct doppel_index_place place =
        place_of_counting(counting, counting->hits[peak->first + (peak->end - peak->first) / 2]);
    return !place.removed &&
           !is_skipped(counting, place.payload, offset_of(counting, peak, &place));
}

/* -ln of how many diagonals of the set are expected to get this sum by chance. */
static double surprise(const struct vote_counting *counting, double sum)
{
    double best = -INFINITY;
    for (int i = 0; i < BOUND_STEPS; i++)
        best = fmax(best, exponent(i) * sum - counting->queried->bound[i]);
    return best - log((double)counting->ballot->hops / VOTES_WIDTH);
}

/* The least sum that is so surprising. */
static double sum_of_surprise(const struct vote_counting *counting, double votes)
{
    double least = INFINITY, diagonals = (double)counting->ballot->hops / VOTES_WIDTH;
    for (int i = 0; i < BOUND_STEPS; i++)
        least = fmin(least, (votes + log(diagonals) + counting->queried->bound[i]) / exponent(i));
    return least;
}

static size_t crowd_of(uint64_t diagonal, int next)
{
    return (diagonal / CROWD_DIAGONALS + CROWDS + (uint64_t)next) % CROWDS;
}

static void sum_crowds(const struct ballot *ballot, size_t count)
{
    const uint64_t *hits = ballot->hits[0];
    memset(ballot->crowds, 0, CROWDS * sizeof *ballot->crowds);
    for (size_t i = 0; i < count; i++) {
        uint32_t weight = ballot->weights[vote_voter(hits[i])];
        uint16_t *crowd = &ballot->crowds[crowd_of(vote_diagonal(hits[i]), 0)];
        uint32_t sum = *crowd + (weight ? (weight + WEIGHT_STEPS) / CROWD_STEPS + 1 : 0);
        *crowd = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
    }
}

/* Keep the hits that may be of a candidate as good as is wanted: a window of diagonals lies in a
 * crowd, or in two, and weighs no more than these. @return how many */
static size_t sift_hits(const struct vote_counting *counting, size_t count)
{
    const uint16_t *crowds = counting->ballot->crowds;
    uint64_t *hits = counting->ballot->hits[0];
    double least = sum_of_surprise(counting, counting->hypothesis->least_votes) * WEIGHT_STEPS - 1;
    size_t kept = 0;
    if (!(least > 0))
        return count;
    uint32_t least_sum = (uint32_t)fmin(least / CROWD_STEPS, UINT16_MAX);
    sum_crowds(counting->ballot, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t hit = hits[i], diagonal = vote_diagonal(hit);
        uint32_t before = crowds[crowd_of(diagonal, -1)], after = crowds[crowd_of(diagonal, 1)];
        uint32_t most = crowds[crowd_of(diagonal, 0)] + (before > after ? before : after);
        hits[kept] = hit;
        kept += most >= least_sum;
    }
    return kept;
}

/* What the hits of a peak that lie in one item say of it. */
struct vote_share {
    struct doppel_index_place place;
    uint64_t weight;
    uint32_t voters;
};

/* One diagonal may cross from an item to the next. @return the share of most weight */
static struct vote_share divide(const struct vote_counting *counting, const struct votes_peak *peak)
{
    struct ballot *ballot = counting->ballot;
    struct vote_share shares[MOST_ITEMS] = {{{0}, 0, 0}}, *best = shares;
    size_t count = 0, at = 0;
    for (size_t i = peak->first; i < peak->end; i++) {
        uint32_t voter = vote_voter(counting->hits[i]);
        if (ballot->seen[voter]++ || !ballot->weights[voter])
            continue;
        struct doppel_index_place place = place_of_counting(counting, counting->hits[i]);
        for (at = 0; at < count && shares[at].place.start != place.start;)
            at++;
        if (at == MOST_ITEMS)
            continue;
        if (at == count)
            shares[count++].place = place;
        shares[at].weight += ballot->weights[voter];
        shares[at].voters++;
        best = shares[at].weight > best->weight ? &shares[at] : best;
    }
    for (size_t i = peak->first; i < peak->end; i++)
        ballot->seen[vote_voter(counting->hits[i])] = 0;
    return *best;
}

/* @return whether it is one still */
static bool describe_counting(const struct vote_counting *counting, const struct votes_peak *peak,
                              struct candidate *out)
{
    struct vote_share share = divide(counting, peak);
    double offset = offset_of(counting, peak, &share.place);
    if (share.place.removed || is_skipped(counting, share.place.payload, offset))
        return false;
    double sum = (double)share.weight / WEIGHT_STEPS + share.voters;
    *out = (struct candidate){.id = share.place.payload,
                              .hops = share.place.length,
                              .offset = offset,
                              .speed = counting->hypothesis->speed,
                              .pitch = counting->hypothesis->pitch,
                              .votes = surprise(counting, sum)};
    return true;
}

static size_t elect_counting(struct vote_counting *counting, size_t hit_count,
                             struct candidate *out)
{
    struct votes_peak peaks[VOTES_BEST];
    struct votes votes = {.hits = counting->hits,
                          .count = hit_count,
                          .weights = counting->ballot->weights,
                          .seen = counting->ballot->seen,
                          .best = counting->hypothesis->candidates};
    size_t count = votes_count(&votes, vote_is_wanted, counting, peaks), elected = 0;
    for (size_t i = 0; i < count; i++)
        elected += describe_counting(counting, &peaks[i], &out[elected]);
    return elected;
}

enum doppel_status ballot_count(struct ballot *ballot, const struct window *window,
                                const struct hypothesis *hypothesis,
                                struct candidate out[VOTES_BEST], size_t *out_count,
                                struct doppel_error *error)
{
    struct queried queried;
    struct vote_counting counting = {ballot, window, hypothesis, &queried, NULL};
    enum doppel_status status = DOPPEL_E_LIMIT;
    const struct doppel_audio_zone *zone = &hypothesis->zone;
    bool faint = zone->faint_fan_out[0] || zone->faint_fan_out[1];
    size_t hits = 0;
    size_t count = doppel_audio_keys(faint ? window->all : window->peaks,
                                     faint ? window->all_count : window->count, zone, ballot->keys,
                                     ballot->capacity);
    query_all(ballot, count, &queried);
    if (ballot->hops < SMALL_SET && !faint) /* one look at each list is enough, then */
        status = gather_all(ballot, &queried, hypothesis, &hits, error);
    if (status == DOPPEL_E_LIMIT)
        status = gather_rarest(ballot, &queried, hypothesis->max_postings, &hits, error);
    if (status)
        return status;
    weigh_all(ballot, &queried);
    hits = sift_hits(&counting, hits);
    counting.hits = sort_hits(ballot, &queried, hits);
    *out_count = elect_counting(&counting, hits, out);
    return DOPPEL_OK;
}
