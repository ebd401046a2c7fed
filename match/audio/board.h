/* The board of a verification: the peaks of a window beside those of an item, paired. */
#ifndef DOPPEL_MATCH_AUDIO_BOARD_H
#define DOPPEL_MATCH_AUDIO_BOARD_H

#include "core/array.h"
#include "match/audio/search.h"

enum {
    BOARD_SHIFTS = 24,
    FREQUENCY_WITHIN = 70,                       /* of two peaks that meet: 1.1 bins */
    TIME_WITHIN = 21,                            /* 1.3 hops */
    OFFSET_WITHIN = 2 * DOPPEL_AUDIO_TIME_STEPS, /* of the true offset from the voted one */
    FARTHEST = 97 * DOPPEL_AUDIO_TIME_STEPS + TIME_WITHIN,
    PAIRED_WITHIN = FARTHEST + OFFSET_WITHIN,
    BOARD_REACH = PAIRED_WITHIN + OFFSET_WITHIN, /* once the offset has moved */
    BOARD_BINS = UINT16_MAX / DOPPEL_AUDIO_BIN_STEPS + 1
};

/* In hops; primes, so that no rhythm agrees with many of them. */
extern const int board_shifts[BOARD_SHIFTS];

/* A peak of the window and one of the item of like frequency, at a time that some alignment may
 * make equal. */
struct paired_peaks {
    uint32_t peak; /* of the window */
    int16_t late;  /* steps by which the item's is later, at the candidate's alignment */
    int16_t high;  /* by which the frequencies differ, either way */
};

/* The item's peaks by bin, those of the window that they pair with, and which alignments a time
 * difference belongs to: bit 24 is the one in question, those below it are the shifted ones. */
struct board {
    const struct window *window;
    struct doppel_audio_peak *peaks;
    bool with_faint;                  /* faint peaks are looked at */
    ARRAY(struct paired_peaks) pairs; /* by peak of the window */
    uint32_t starts[BOARD_BINS + 1];
    uint32_t masks[2 * BOARD_REACH + 1];
    double time_weights[TIME_WITHIN + 1], frequency_weights[FREQUENCY_WITHIN + 1];
};

/* False without memory; to be freed in any case. */
bool board_init(struct board *board, const struct window *window,
                const struct doppel_audio_track *item);
void board_free(struct board *board);

/* Pair the peaks at a candidate's alignment. False without memory */
bool board_pair(struct board *board, const struct candidate *at);

/* The alignments at which a peak of the window is met, by the pairs from `*pair` on, which are
 * passed. @param weights of these, what the nearest peak of the item counts */
uint32_t board_meet(const struct board *board, size_t *pair, double weights[BOARD_SHIFTS + 1]);

/* The nearest peak of the item that meets one of the window; NULL: none. */
const struct doppel_audio_peak *board_nearest(const struct board *board, const struct candidate *at,
                                              const struct doppel_audio_peak *peak);

#endif
