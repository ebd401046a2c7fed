/* A row is one transform as levels: what the spectrogram is made of, and how it is searched. */
#ifndef DOPPEL_AUDIO_ROWS_H
#define DOPPEL_AUDIO_ROWS_H

#include <stddef.h>
#include <stdint.h>

enum {
    BINS = 480,     /* of the 513 that a transform gives */
    ROW_PAD = 16,   /* levels of 0 below bin 0, and above the last */
    ROW = 512,      /* levels of a row, with both pads */
    LOWEST_BIN = 3, /* offset and hum below it are not looked at */
    END_BIN = 471,  /* nor at it and above */
    FIRST_BIN = 8,  /* of a peak: 86 Hz */
    LAST_BIN = 469, /* of a peak: 5050 Hz */
    BAND_BINS = 16, /* of a band of the background; band 0 begins at FIRST_BIN */
    BANDS = 29,
    REACH_BINS = 8, /* a peak is the highest so far to either side */
    REACH_HOPS = 3,
    NEAR_BINS = 3, /* likewise a faint one */
    NEAR_HOPS = 2,
    LEVEL_OCTAVE = 128 /* a level is log2 of the power in steps of .0235 dB; 0: silence */
};

/* Above every level: the floor of a row in which nothing is heard. */
enum { SILENT = INT16_MAX };

/* What is known of a row beside its levels. */
struct row_facts {
    int16_t floor;        /* lower levels are rounding, or masked; SILENT */
    int32_t bands[BANDS]; /* sums of 16 levels, none taken as lower than the floor */
};

/* All versions give the same bits. */
struct row_kernels {
    /* Samples that a transform can be made of: none is infinite, no square of any. */
    void (*take)(const float *samples, size_t count, float *out);
    void (*window)(const float *samples, const float *window, float *out);
    /* From 513 complex numbers to a row (not yet cut to LOWEST_BIN .. END_BIN). */
    void (*levels)(const float *spectrum, int16_t *row);
    /* Cuts the row. */
    void (*facts)(int16_t *row, struct row_facts *out);
    /* The highest of REACH_BINS to either side; the pads' are 0. */
    void (*spread)(const int16_t *row, int16_t *out);
    /* Likewise of NEAR_BINS. */
    void (*spread_near)(const int16_t *row, int16_t *out);
    /* Bit i: level i is over the floor and no lower than the seven spread rows, three before
     * and three after its own. */
    void (*maxima)(const int16_t *row, const int16_t *first_spread, int16_t floor,
                   uint64_t bits[ROW / 64]);
    /* Likewise of five rows that spread_near made. */
    void (*maxima_near)(const int16_t *row, const int16_t *first_spread, int16_t floor,
                        uint64_t bits[ROW / 64]);
    /* How many of the values are higher. */
    int (*rank)(const int32_t *values, int count, int32_t value);
};

extern const struct row_kernels row_kernels_avx2, row_kernels_avx512;

/* The best for this processor. */
const struct row_kernels *row_kernels_choose(void);

#endif
