/* Votes of a window's keys for items and offsets, and the chance of as many. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/audio/gather.h"

enum {
    WEIGHT_STEPS = 1024,
    MOST_ITEMS = 4,
    WEIGHED_ONCE = 256,  /* lists shorter than this */
    CROWD_DIAGONALS = 4, /* that are summed up; no less than VOTES_WIDTH */
    CROWDS = 1 << 16,    /* sums; diagonals that far apart share one */
    CROWD_STEPS = 128    /* of weights, in a step of a sum, which stays at the most it can be */
};

/* Nats: so much less a hit tells for each peak of its key that is faint, as fewer of these are of a
 * recording. */
static const double FAINT_LOSS = 2;

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
    return (!ballot->shared || lists_init(&ballot->lists, capacity)) && ballot->crowds &&
           ballot->keys && ballot->queried && ballot->places && ballot->faint && ballot->weights &&
           ballot->seen && ballot->lengths && ballot->order[0] && ballot->order[1];
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
    uint32_t common[WEIGHED_ONCE] = {0};
    double place = VOTES_WIDTH / (double)ballot->hops;
    for (size_t i = 0; i < queried->count; i++) {
        uint64_t length = ballot->lengths[i];
        if (length < WEIGHED_ONCE)
            common[length]++;
        else
            ballot->weights[i] = gather_is_distinctive(ballot, length)
                                     ? weigh_queried(queried, (double)length * place, 1)
                                     : 0;
    }
    for (uint64_t length = 0; length < WEIGHED_ONCE; length++) {
        bool counts = common[length] && gather_is_distinctive(ballot, length);
        common[length] =
            counts ? weigh_queried(queried, (double)length * place, common[length]) : 0;
    }
    for (size_t i = 0; i < queried->count; i++)
        if (ballot->lengths[i] < WEIGHED_ONCE)
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
    size_t hits = 0;
    enum doppel_status status = ballot_gather(ballot, window, hypothesis, &queried, &hits, error);
    if (status)
        return status;
    weigh_all(ballot, &queried);
    hits = sift_hits(&counting, hits);
    counting.hits = sort_hits(ballot, &queried, hits);
    *out_count = elect_counting(&counting, hits, out);
    return DOPPEL_OK;
}
