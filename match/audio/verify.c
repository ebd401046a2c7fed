/*
 * Verification of a candidate on the peaks themselves: how many of the window's are met in the item
 * at this alignment, and how many at shifted ones, where only chance and the item's own repetitions
 * meet them. All are looked at together: the time between a peak of the window and one of the item,
 * of the same frequency, says at which alignments the two meet. A peak that is met right at its
 * place counts for more than one at the edge of what is near, where chance meets as many.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "match/audio/search.h"

enum {
    STEPS = DOPPEL_AUDIO_TIME_STEPS,
    SHIFTS = 24,
    BEST_SHIFTS = 8,       /* that chance is measured from */
    FREQUENCY_WITHIN = 70, /* of two peaks that meet: 1.1 bins */
    TIME_WITHIN = 21,      /* 1.3 hops */
    FARTHEST = 97 * STEPS + TIME_WITHIN,
    OFFSET_WITHIN = 2 * STEPS, /* of the true offset from the voted one */
    PAIRED_WITHIN = FARTHEST + OFFSET_WITHIN,
    REACH = PAIRED_WITHIN + OFFSET_WITHIN, /* once the offset has moved */
    FIT_FREQUENCY_WITHIN = 70,             /* while speed and pitch are not known yet */
    FIT_TIME_WITHIN = 21,
    MOST_FITS = 16,
    LEAST_FITTED = 12, /* peaks met that speed and pitch are fitted to */
    BINS = UINT16_MAX / DOPPEL_AUDIO_BIN_STEPS + 1
};

/* What a meeting counts at the edge in time or in frequency; 1 in the middle. */
static const double EDGE_WEIGHT = 0.3;

/* Nats by which faint peaks raise the best score of unrelated clips: measured. */
static const double FAINT_BY_CHANCE = 2;

static const double LEAST_EVIDENCE = 10; /* for a fit: what has less is chance */
static const double FIT_ERROR = 0.001;
static const double MOST_SCALED = 0.08; /* of the speeds a fit may tell */

/* In hops; primes, so that no rhythm agrees with many of them. */
static const int shifts[SHIFTS] = {-97, -83, -71, -61, -53, -47, -41, -37, -29, -23, -17, -11,
                                   11,  17,  23,  29,  37,  41,  47,  53,  61,  71,  83,  97};

/* A peak of the window and one of the item of like frequency, at a time that some alignment may
 * make equal. */
struct peak_pair {
    uint32_t peak; /* of the window */
    int16_t late;  /* steps by which the item's is later, at the candidate's alignment */
    int16_t high;  /* by which the frequencies differ, either way */
};

/* The item's peaks by bin, those of the window that they pair with, and which alignments a time
 * difference belongs to: bit 24 is the one in question, those below it are the shifted ones. */
struct board {
    const struct window *window;
    struct doppel_audio_peak *peaks;
    ARRAY(struct peak_pair) pairs; /* by peak of the window */
    uint32_t starts[BINS + 1];
    uint32_t masks[2 * REACH + 1];
    double time_weights[TIME_WITHIN + 1], frequency_weights[FREQUENCY_WITHIN + 1];
};

static void weigh_board(double *weights, int within)
{
    for (int off = 0; off <= within; off++)
        weights[off] = 1 - (1 - EDGE_WEIGHT) * off * off / ((double)within * within);
}

static uint32_t bin_of(const struct doppel_audio_peak *peak)
{
    return peak->frequency / DOPPEL_AUDIO_BIN_STEPS;
}

static void mark_board(struct board *board, int hops, int bit)
{
    uint32_t *middle = board->masks + REACH + hops * STEPS;
    for (int late = -TIME_WITHIN; late <= TIME_WITHIN; late++)
        middle[late] |= 1u << bit;
}

static bool board_init(struct board *board, const struct window *window,
                       const struct doppel_audio_track *item)
{
    uint32_t next[BINS + 1] = {0};
    memset(board->masks, 0, sizeof board->masks);
    board->window = window;
    board->pairs.items = NULL;
    board->pairs.count = board->pairs.capacity = 0;
    board->peaks = malloc((item->count + 1) * sizeof *board->peaks);
    if (!board->peaks)
        return false;
    for (size_t i = 0; i < item->count; i++)
        next[bin_of(&item->peaks[i]) + 1]++;
    for (int bin = 0; bin < BINS; bin++)
        next[bin + 1] += next[bin];
    memcpy(board->starts, next, sizeof next);
    for (size_t i = 0; i < item->count; i++)
        board->peaks[next[bin_of(&item->peaks[i])]++] = item->peaks[i];
    for (int i = 0; i < SHIFTS; i++)
        mark_board(board, shifts[i], i);
    mark_board(board, 0, SHIFTS);
    weigh_board(board->time_weights, TIME_WITHIN);
    weigh_board(board->frequency_weights, FREQUENCY_WITHIN);
    return true;
}

/* ---- meeting ---- */

/* Where a peak of the window is in the item, in whole steps. */
static int64_t time_in_item(const struct candidate *at, const struct doppel_audio_peak *peak)
{
    return llrint(at->speed * peak->time + at->offset);
}

static int32_t frequency_in_item(const struct candidate *at, const struct doppel_audio_peak *peak)
{
    return (int32_t)lrint(peak->frequency / at->pitch);
}

/* The item's peaks that may be as high as `frequency`. */
static void range_of(const struct board *board, int32_t frequency, int32_t within,
                     uint32_t *out_first, uint32_t *out_end)
{
    int32_t low = frequency - within, high = frequency + within;
    low = low < 0 ? 0 : low / DOPPEL_AUDIO_BIN_STEPS;
    high = high < 0 ? -1 : high / DOPPEL_AUDIO_BIN_STEPS;
    *out_first = board->starts[low < BINS ? low : BINS];
    *out_end = board->starts[high < BINS ? high + 1 : BINS];
}

/* Pair the peaks at a candidate's alignment. False without memory */
static bool pair_peaks(struct board *board, const struct candidate *at)
{
    const struct window *window = board->window;
    board->pairs.count = 0;
    for (size_t i = 0; i < window->all_count; i++) {
        int64_t time = time_in_item(at, &window->all[i]);
        int32_t frequency = frequency_in_item(at, &window->all[i]);
        uint32_t first, end;
        range_of(board, frequency, FREQUENCY_WITHIN, &first, &end);
        while (board->pairs.capacity < board->pairs.count + (end - first))
            if (!array_grow((void **)&board->pairs.items, board->pairs.capacity,
                            &board->pairs.capacity, sizeof *board->pairs.items))
                return false;
        struct peak_pair *pair = board->pairs.items + board->pairs.count;
        for (uint32_t k = first; k < end; k++) { /* no branches: half of them are too far */
            int64_t late = board->peaks[k].time - time;
            int32_t high = abs(board->peaks[k].frequency - frequency);
            *pair = (struct peak_pair){(uint32_t)i, (int16_t)late, (int16_t)high};
            pair += (high <= FREQUENCY_WITHIN) & (late >= -PAIRED_WITHIN) & (late <= PAIRED_WITHIN);
        }
        board->pairs.count = (size_t)(pair - board->pairs.items);
    }
    return true;
}

/* By how many steps a difference of times is off alignment `bit`. */
static int steps_off(int late, int bit)
{
    return abs(bit == SHIFTS ? late : late - shifts[bit] * STEPS);
}

/* The alignments at which a peak of the window is met, by the pairs from `*at` on, which are
 * passed.
 * @param weights of these, what the nearest peak of the item counts */
static uint32_t meet_board(const struct board *board, size_t *at, double weights[SHIFTS + 1])
{
    const struct peak_pair *pair = board->pairs.items + *at;
    const struct peak_pair *end = board->pairs.items + board->pairs.count;
    uint32_t peak = pair->peak, met = 0;
    for (; pair < end && pair->peak == peak; pair++)
        for (uint32_t mask = board->masks[REACH + pair->late]; mask; mask &= mask - 1) {
            int bit = __builtin_ctz(mask);
            double weight = board->time_weights[steps_off(pair->late, bit)] *
                            board->frequency_weights[pair->high];
            weights[bit] = met >> bit & 1 ? fmax(weights[bit], weight) : weight;
            met |= 1u << bit;
        }
    *at = (size_t)(pair - board->pairs.items);
    return met;
}

/* Of peaks in order of time those that lie within the item when it is shifted by `hops`. */
static uint32_t peaks_within(const struct doppel_audio_peak *peaks, size_t count,
                             const struct candidate *at, int hops)
{
    double offset = at->offset + hops * STEPS;
    double from = -offset / at->speed, to = ((double)at->hops * STEPS - offset) / at->speed;
    size_t limits[2];
    for (int side = 0; side < 2; side++) {
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (peaks[middle].time < (side ? to : from))
                low = middle + 1;
            else
                high = middle;
        }
        limits[side] = low;
    }
    return limits[1] > limits[0] ? (uint32_t)(limits[1] - limits[0]) : 0;
}

/* Kullback and Leibler's divergence of one share from another, where it is higher. */
static double divergence(double share, double chance)
{
    if (share <= chance)
        return 0;
    double rest = share < 1 ? (1 - share) * log((1 - share) / (1 - chance)) : 0;
    return share * log(share / chance) + rest;
}

/* Peaks of the window within the shifted item: faint ones, or all others. */
static uint32_t tried_of(const struct window *window, const struct candidate *at, int hops,
                         bool faint)
{
    uint32_t others = peaks_within(window->peaks, window->count, at, hops);
    return faint ? peaks_within(window->all, window->all_count, at, hops) - others : others;
}

/* Of the shifted alignments those that meet most: rhythm and key agree with some shifts only, and
 * chance that is as good as these is what a candidate must be better than. */
static void best_shifts(const double met[2][SHIFTS + 1], int out[BEST_SHIFTS])
{
    double left[SHIFTS];
    for (int i = 0; i < SHIFTS; i++)
        left[i] = met[0][i] + met[1][i];
    for (int rank = 0; rank < BEST_SHIFTS; rank++) {
        int best = 0;
        for (int i = 1; i < SHIFTS; i++)
            best = left[i] > left[best] ? i : best;
        out[rank] = best;
        left[best] = -1; /* counted */
    }
}

static double share_by_chance(const struct board *board, const struct candidate *at,
                              const double met[2][SHIFTS + 1], bool faint)
{
    int best[BEST_SHIFTS];
    double best_met = 0;
    uint32_t trials = 0;
    best_shifts(met, best);
    for (int i = 0; i < BEST_SHIFTS; i++) {
        best_met += met[faint][best[i]];
        trials += tried_of(board->window, at, shifts[best[i]], faint);
    }
    return fmin(1, (best_met + 1) / (trials + 2.0));
}

static void count_met(const struct board *board, const struct candidate *at, struct verdict *out)
{
    const struct window *window = board->window;
    double met[2][SHIFTS + 1] = {{0}}, weights[SHIFTS + 1]; /* of faint peaks apart */
    uint32_t all = 0;
    for (size_t i = 0; i < board->pairs.count;) {
        bool faint = window->all[board->pairs.items[i].peak].faint;
        uint32_t mask = meet_board(board, &i, weights);
        all += !faint && (mask >> SHIFTS & 1);
        for (; mask; mask &= mask - 1)
            met[faint][__builtin_ctz(mask)] += weights[__builtin_ctz(mask)];
    }
    *out = (struct verdict){.met = all};
    for (int faint = 0; faint < (window->all_count > window->count ? 2 : 1); faint++) {
        uint32_t peaks = tried_of(window, at, 0, faint);
        double by_chance = share_by_chance(board, at, met, faint);
        if (!faint) {
            peaks = out->peaks = all > peaks ? all : peaks;
            out->met_by_chance = by_chance;
        }
        double share = peaks ? fmin(1, met[faint][SHIFTS] / peaks) : 0;
        double evidence = peaks * divergence(share, by_chance);
        out->evidence += faint ? fmax(evidence - FAINT_BY_CHANCE, 0) : evidence;
    }
}

/* ---- refinement ---- */

/* How many pairs of peaks agree at each offset near the candidate's. */
struct delays {
    uint32_t pairs[2 * OFFSET_WITHIN + 1];
};

static void count_delays(const struct board *board, struct delays *delays)
{
    memset(delays, 0, sizeof *delays);
    for (size_t i = 0; i < board->pairs.count; i++) {
        int late = board->pairs.items[i].late;
        if (abs(late) <= OFFSET_WITHIN)
            delays->pairs[OFFSET_WITHIN + late]++;
    }
}

/* Move the offset, and the pairs, to where most pairs agree, and there to their median. */
static void refine_offset(struct board *board, struct candidate *at)
{
    enum { WIDTH = 2 * TIME_WITHIN + 1, DELAYS = 2 * OFFSET_WITHIN + 1 };
    struct delays delays;
    uint32_t sum = 0, most = 0, below = 0;
    int first = 0;
    count_delays(board, &delays);
    for (int end = 0; end < DELAYS; end++) {
        sum += delays.pairs[end] - (end >= WIDTH ? delays.pairs[end - WIDTH] : 0);
        if (sum <= most || end < WIDTH - 1)
            continue;
        most = sum;
        first = end - WIDTH + 1;
    }
    if (!most)
        return;
    while ((below += delays.pairs[first]) * 2 < most)
        first++;
    at->offset += first - OFFSET_WITHIN;
    for (size_t i = 0; i < board->pairs.count; i++)
        board->pairs.items[i].late -= (int16_t)(first - OFFSET_WITHIN);
}

/* The nearest peak of the item that meets one of the window; NULL: none. */
static const struct doppel_audio_peak *nearest_board(const struct board *board,
                                                     const struct candidate *at,
                                                     const struct doppel_audio_peak *peak)
{
    int64_t time = time_in_item(at, peak);
    int32_t frequency = frequency_in_item(at, peak);
    const struct doppel_audio_peak *best = NULL;
    int64_t least = INT64_MAX;
    uint32_t first, end;
    range_of(board, frequency, FIT_FREQUENCY_WITHIN, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        const struct doppel_audio_peak *other = &board->peaks[i];
        int64_t late = llabs(other->time - time), high = abs(other->frequency - frequency);
        int64_t distance = late * FIT_FREQUENCY_WITHIN + high * FIT_TIME_WITHIN;
        if (late > FIT_TIME_WITHIN || high > FIT_FREQUENCY_WITHIN || distance >= least)
            continue;
        best = other;
        least = distance;
    }
    return best;
}

/* Fit speed, offset and pitch to the peaks met, by least squares. @return whether they changed */
static bool refine_scales(const struct board *board, struct candidate *at)
{
    double count = 0, sum_t = 0, sum_tt = 0, sum_l = 0, sum_tl = 0, sum_ff = 0, sum_fh = 0;
    for (size_t i = 0; i < board->window->count; i++) {
        const struct doppel_audio_peak *peak = &board->window->peaks[i];
        const struct doppel_audio_peak *other = nearest_board(board, at, peak);
        if (!other)
            continue;
        double late = other->time - (at->speed * peak->time + at->offset);
        double frequency = peak->frequency / at->pitch;
        count++;
        sum_t += peak->time;
        sum_tt += (double)peak->time * peak->time;
        sum_l += late;
        sum_tl += peak->time * late;
        sum_ff += frequency * frequency;
        sum_fh += frequency * (other->frequency - frequency);
    }
    double spread = count * sum_tt - sum_t * sum_t;
    if (count < LEAST_FITTED || spread <= 0 || sum_ff <= 0)
        return false;
    double slope = (count * sum_tl - sum_t * sum_l) / spread, higher = sum_fh / sum_ff;
    if (fabs(at->speed + slope - 1) > MOST_SCALED)
        return false;
    at->speed += slope;
    at->offset += (sum_l - slope * sum_t) / count;
    at->pitch /= 1 + higher;
    return fabs(slope) > FIT_ERROR / 4 || fabs(higher) > FIT_ERROR / 4;
}

/* What is 1 but for what the fit errs by is 1. */
static void round_scales(const struct window *window, struct candidate *at)
{
    if (fabs(at->speed - 1) < FIT_ERROR) {
        at->offset += (at->speed - 1) * window->last / 2;
        at->speed = 1;
    }
    if (fabs(at->pitch - 1) < FIT_ERROR)
        at->pitch = 1;
}

/* What is met at an alignment, the offset of which is refined. False without memory */
static bool judge_board(struct board *board, struct candidate *at, struct verdict *out)
{
    if (!pair_peaks(board, at))
        return false;
    refine_offset(board, at);
    count_met(board, at, out);
    return true;
}

/* Speed and pitch as the peaks met tell them; more are met then, and tell more. Kept when better.
 * False without memory */
static bool fit_board(struct board *board, struct candidate *at, struct verdict *verdict)
{
    bool scaled = at->speed != 1 || at->pitch != 1;
    struct candidate fitted = *at;
    struct verdict better;
    for (int i = 0; i < MOST_FITS && refine_scales(board, &fitted);)
        i++;
    round_scales(board->window, &fitted);
    if (!judge_board(board, &fitted, &better))
        return false;
    /* A slightly different speed always meets some more peaks, by chance. */
    double least = scaled ? verdict->evidence * 0.9 : verdict->evidence * 1.1 + 8;
    if (better.evidence > least) {
        *at = fitted;
        *verdict = better;
    }
    return true;
}

bool candidate_check(const struct window *window, const struct doppel_audio_track *item,
                     bool same_speed, struct candidate *candidate, struct verdict *out)
{
    struct board board;
    bool done = board_init(&board, window, item) && judge_board(&board, candidate, out);
    if (done && !same_speed && out->evidence >= LEAST_EVIDENCE)
        done = fit_board(&board, candidate, out);
    free(board.peaks);
    array_free(&board.pairs);
    return done;
}
