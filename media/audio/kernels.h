/* The loops that samples go through, of which there is a version for each instruction set. All give
 * the same bits. */
#ifndef DOPPEL_MEDIA_SAMPLE_KERNELS_H
#define DOPPEL_MEDIA_SAMPLE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Samples of whatever format that are `step` apart, as floats. */
typedef void sample_converter(const void *in, size_t step, size_t count, float *out);

/* Outputs of a decimator are dealt out in lanes, a run of them to each. Sample i of all lanes lies
 * at lanes[i * DECIMATE_LANES]. Output n of a lane is the sum over phases p and rows j, in this
 * order, of taps[p * rows + j] × sample (n + j) * step + p. */
enum { DECIMATE_LANES = 16, DECIMATE_MOST_STEPS = 5 };

struct decimate_work {
    const float *taps, *lanes; /* lanes: aligned to 64 bytes */
    size_t step, rows;         /* 32 rows and more */
};

struct sample_kernels {
    sample_converter *from_u8, *from_s16, *from_s32, *from_s64, *from_float, *from_double;
    /* (a + b) × share; and the energies of a, b and `out` about their means: a constant offset is
     * not heard. `out` may be `a`. */
    void (*add)(const float *a, const float *b, size_t count, float share, float *out,
                double energies[3]);
    /* The same of two channels that alternate, by a share of one half. */
    void (*mix_s16)(const int16_t *pairs, size_t count, float *out, double energies[3]);
    /* Deal a run of samples out to each lane, one behind the other. */
    void (*deal)(const float *samples, size_t of_lane, float *lanes);
    /* The outputs of all lanes, up to DECIMATE_MOST_STEPS - 1 too many of each; `out` aligned. */
    void (*decimate)(const struct decimate_work *work, size_t of_lane, float *out);
    /* The runs of all lanes one behind the other. */
    void (*collect)(const float *lanes, size_t of_lane, float *out);
};

extern const struct sample_kernels sample_kernels_avx2, sample_kernels_avx512;

/* The best for this processor. */
const struct sample_kernels *sample_kernels_choose(void);

#endif
