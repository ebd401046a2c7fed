/*
 * Peaks of a window and of an item paired: those of like frequency, at a time that one of the
 * alignments that are compared may make equal. All are looked at together: the time between two
 * says at which alignments they meet.
 */
#include "match/audio/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a meeting counts at the edge in time or in frequency; 1 in the middle. */
static const double EDGE_WEIGHT = 0.3;

const int board_shifts[BOARD_SHIFTS] = {-97, -83, -71, -61, -53, -47, -41, -37, -29, -23, -17, -11,
                                        11,  17,  23,  29,  37,  41,  47,  53,  61,  71,  83,  97};

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
    uint32_t *middle = board->masks + BOARD_REACH + hops * DOPPEL_AUDIO_TIME_STEPS;
    for (int late = -TIME_WITHIN; late <= TIME_WITHIN; late++)
        middle[late] |= 1u << bit;
}

bool board_init(struct board *board, const struct window *window,
                const struct doppel_audio_track *item)
{
    uint32_t next[BOARD_BINS + 1] = {0};
    memset(board->masks, 0, sizeof board->masks);
    board->window = window;
    board->with_faint = false;
    board->pairs.items = NULL;
    board->pairs.count = board->pairs.capacity = 0;
    board->peaks = malloc((item->count + 1) * sizeof *board->peaks);
    if (!board->peaks)
        return false;
    for (size_t i = 0; i < item->count; i++)
        next[bin_of(&item->peaks[i]) + 1]++;
    for (int bin = 0; bin < BOARD_BINS; bin++)
        next[bin + 1] += next[bin];
    memcpy(board->starts, next, sizeof next);
    for (size_t i = 0; i < item->count; i++)
        board->peaks[next[bin_of(&item->peaks[i])]++] = item->peaks[i];
    for (int i = 0; i < BOARD_SHIFTS; i++)
        mark_board(board, board_shifts[i], i);
    mark_board(board, 0, BOARD_SHIFTS);
    weigh_board(board->time_weights, TIME_WITHIN);
    weigh_board(board->frequency_weights, FREQUENCY_WITHIN);
    return true;
}

void board_free(struct board *board)
{
    free(board->peaks);
    array_free(&board->pairs);
}

/* ---- pairs ---- */

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
    *out_first = board->starts[low < BOARD_BINS ? low : BOARD_BINS];
    *out_end = board->starts[high < BOARD_BINS ? high + 1 : BOARD_BINS];
}

bool board_pair(struct board *board, const struct candidate *at)
{
    const struct window *window = board->window;
    board->pairs.count = 0;
    for (size_t i = 0; i < window->all_count; i++) {
        if (window->all[i].faint && !board->with_faint)
            continue;
        int64_t time = time_in_item(at, &window->all[i]);
        int32_t frequency = frequency_in_item(at, &window->all[i]);
        uint32_t first, end;
        range_of(board, frequency, FREQUENCY_WITHIN, &first, &end);
        if (first == end)
            continue;
        while (board->pairs.capacity < board->pairs.count + (end - first))
            if (!array_grow((void **)&board->pairs.items, board->pairs.capacity,
                            &board->pairs.capacity, sizeof *board->pairs.items))
                return false;
        struct paired_peaks *pair = board->pairs.items + board->pairs.count;
        for (uint32_t k = first; k < end; k++) { /* no branches: half of them are too far */
            int64_t late = board->peaks[k].time - time;
            int32_t high = abs(board->peaks[k].frequency - frequency);
            *pair = (struct paired_peaks){(uint32_t)i, (int16_t)late, (int16_t)high};
            pair += (high <= FREQUENCY_WITHIN) & (late >= -PAIRED_WITHIN) & (late <= PAIRED_WITHIN);
        }
        board->pairs.count = (size_t)(pair - board->pairs.items);
    }
    return true;
}

/* By how many steps a difference of times is off alignment `bit`. */
static int steps_off(int late, int bit)
{
    return abs(bit == BOARD_SHIFTS ? late : late - board_shifts[bit] * DOPPEL_AUDIO_TIME_STEPS);
}

uint32_t board_meet(const struct board *board, size_t *next, double weights[BOARD_SHIFTS + 1])
{
    const struct paired_peaks *pair = board->pairs.items + *next;
    const struct paired_peaks *end = board->pairs.items + board->pairs.count;
    uint32_t peak = pair->peak, met = 0;
    for (; pair < end && pair->peak == peak; pair++)
        for (uint32_t mask = board->masks[BOARD_REACH + pair->late]; mask; mask &= mask - 1) {
            int bit = __builtin_ctz(mask);
            double weight = board->time_weights[steps_off(pair->late, bit)] *
                            board->frequency_weights[pair->high];
            weights[bit] = met >> bit & 1 ? fmax(weights[bit], weight) : weight;
            met |= 1u << bit;
        }
    *next = (size_t)(pair - board->pairs.items);
    return met;
}

const struct doppel_audio_peak *board_nearest(const struct board *board, const struct candidate *at,
                                              const struct doppel_audio_peak *peak)
{
    int64_t time = time_in_item(at, peak);
    int32_t frequency = frequency_in_item(at, peak);
    const struct doppel_audio_peak *best = NULL;
    int64_t least = INT64_MAX;
    uint32_t first, end;
    range_of(board, frequency, FREQUENCY_WITHIN, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        const struct doppel_audio_peak *other = &board->peaks[i];
        int64_t late = llabs(other->time - time), high = abs(other->frequency - frequency);
        int64_t distance = late * FREQUENCY_WITHIN + high * TIME_WITHIN;
        if (late > TIME_WITHIN || high > FREQUENCY_WITHIN || distance >= least)
            continue;
        best = other;
        least = distance;
    }
    return best;
}
