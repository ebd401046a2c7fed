/* The sums of a decimator, compiled once for each instruction set: the same operations in the same
 * order, so the same bits. */
#ifndef DOPPEL_MEDIA_DECIMATE_LOOP_H
#define DOPPEL_MEDIA_DECIMATE_LOOP_H

#include <string.h>

#include "media/audio/decimate.h"

typedef float eight __attribute__((vector_size(32)));

static inline void decimate_lanes(const struct decimate_work *work, size_t first, float *out)
{
    enum { EIGHTS = DECIMATE_LANES / 8 };
    eight sums[EIGHTS] = {0};
    for (size_t phase = 0; phase < work->step; phase++) {
        const float *taps = work->taps + phase * work->rows;
        const float *samples = work->phases + phase * work->width + first;
        for (size_t row = 0; row < work->rows; row++)
            for (size_t k = 0; k < EIGHTS; k++) {
                eight values;
                memcpy(&values, samples + row + 8 * k, sizeof values);
                sums[k] += values * taps[row];
            }
    }
    memcpy(out, sums, sizeof sums);
}

static inline void decimate_loop(const struct decimate_work *work, size_t count, float *out)
{
    for (size_t first = 0; first < count; first += DECIMATE_LANES)
        decimate_lanes(work, first, out + first);
}

#endif
