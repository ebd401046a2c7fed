/*
 * Verification of a candidate on the peaks themselves: how many of the window's are met in the item
 * at this alignment, and how many at shifted ones, where only chance and the item's own repetitions
 * meet them. A peak that is met right at its place counts for more than one at the edge of what is
 * near, where chance meets as many.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/audio/board.h"

enum {
    SHIFTS = BOARD_SHIFTS,
    BEST_SHIFTS = 8, /* that chance is measured from */
    MOST_FITS = 16,
    LEAST_FITTED = 12 /* peaks met that speed and pitch are fitted to */
};

/* Nats by which faint peaks raise the best score of unrelated clips: measured. */
static const double FAINT_BY_CHANCE = 2;

/* Evidence of the other peaks from which on these are looked at. */
static const double FAINT_FROM = 1;

static const double LEAST_EVIDENCE = 10; /* for a fit: what has less is chance */
static const double FIT_ERROR = 0.001;
static const double MOST_SCALED = 0.08; /* of the speeds a fit may tell */

/* Of peaks in order of time those that lie within the item when it is shifted by `hops`. */
static uint32_t peaks_within(const struct doppel_audio_peak *peaks, size_t count,
                             const struct candidate *at, int hops)
{
    double offset = at->offset + hops * DOPPEL_AUDIO_TIME_STEPS;
    double from = -offset / at->speed,
           to = ((double)at->hops * DOPPEL_AUDIO_TIME_STEPS - offset) / at->speed;
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
        trials += tried_of(board->window, at, board_shifts[best[i]], faint);
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
        uint32_t mask = board_meet(board, &i, weights);
        all += !faint && (mask >> SHIFTS & 1);
        for (; mask; mask &= mask - 1)
            met[faint][__builtin_ctz(mask)] += weights[__builtin_ctz(mask)];
    }
    *out = (struct verdict){.met = all};
    for (int faint = 0; faint < (board->with_faint ? 2 : 1); faint++) {
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

/* Fit speed, offset and pitch to the peaks met, by least squares. @return whether they changed */
static bool refine_scales(const struct board *board, struct candidate *at)
{
    double count = 0, sum_t = 0, sum_tt = 0, sum_l = 0, sum_tl = 0, sum_ff = 0, sum_fh = 0;
    for (size_t i = 0; i < board->window->count; i++) {
        const struct doppel_audio_peak *peak = &board->window->peaks[i];
        const struct doppel_audio_peak *other = board_nearest(board, at, peak);
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
    if (!board_pair(board, at))
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

/* Faint peaks, which are many, are looked at at once, or where the others tell something. False
 * without memory */
static bool judge_twice(struct board *board, struct candidate *at, struct verdict *out)
{
    const struct window *window = board->window;
    const struct candidate voted = *at;
    bool has_faint = window->all_count > window->count;
    board->with_faint = has_faint && window->faint_voted;
    if (!judge_board(board, at, out))
        return false;
    if (board->with_faint || !has_faint || out->evidence < FAINT_FROM)
        return true;
    *at = voted;
    board->with_faint = true;
    return judge_board(board, at, out);
}

bool candidate_check(const struct window *window, const struct doppel_audio_track *item,
                     bool same_speed, struct candidate *candidate, struct verdict *out)
{
    struct board board;
    bool done = board_init(&board, window, item) && judge_twice(&board, candidate, out);
    if (done && !same_speed && out->evidence >= LEAST_EVIDENCE)
        done = fit_board(&board, candidate, out);
    board_free(&board);
    return done;
}
