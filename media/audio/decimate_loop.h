/* The sums of a decimator, compiled once for each instruction set: the same operations in the same
 * order, so the same bits. */
#ifndef DOPPEL_MEDIA_DECIMATE_LOOP_H
#define DOPPEL_MEDIA_DECIMATE_LOOP_H

#include <string.h>

#include "media/audio/decimate.h"

#ifndef DECIMATE_VECTOR
#define DECIMATE_VECTOR 8 /* floats of a register */
#endif

typedef float some_lanes __attribute__((vector_size(DECIMATE_VECTOR * sizeof(float))));

static inline void decimate_lanes(const struct decimate_work *work, size_t first, float *out)
{
    enum { VECTORS = DECIMATE_LANES / DECIMATE_VECTOR };
    some_lanes sums[VECTORS] = {0};
    for (size_t phase = 0; phase < work->step; phase++) {
        const float *taps = work->taps + phase * work->rows;
        const float *samples = work->phases + phase * work->width + first;
        for (size_t row = 0; row < work->rows; row++)
            for (size_t k = 0; k < VECTORS; k++) {
                some_lanes values;
                memcpy(&values, samples + row + DECIMATE_VECTOR * k, sizeof values);
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
