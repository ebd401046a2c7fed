/* The loops that samples go through, compiled once for each instruction set: each sum is of the
 * same numbers in the same order, so the same bits. How many are made at once is for each to
 * choose. */
#ifndef DOPPEL_MEDIA_SAMPLE_KERNELS_LOOP_H
#define DOPPEL_MEDIA_SAMPLE_KERNELS_LOOP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "media/audio/kernels.h"

#ifndef SAMPLE_VECTOR
#define SAMPLE_VECTOR 4 /* floats of a register */
#define ENERGY_PLANES 1
#define DECIMATE_STEPS 2 /* outputs of a lane whose sums are in registers */
#endif

typedef float some_samples __attribute__((vector_size(SAMPLE_VECTOR * sizeof(float))));

static inline some_samples load_samples(const float *from)
{
    some_samples samples;
    memcpy(&samples, from, sizeof samples);
    return samples;
}

/* ---- floats of samples in any format ---- */

/* Audio in whole numbers that came into a file of floats is below it. */
static const float ABSURD = 1e9F;

/* A loop for each distance between samples: the compiler makes vectors of those that are known. */
#define CONVERT(name, type, expression)                                                            \
    static inline void name##_by(const type *in, size_t step, size_t count, float *restrict out)   \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            const type x = in[i * step];                                                           \
            out[i] = (expression);                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void name(const void *in, size_t step, size_t count, float *out)                        \
    {                                                                                              \
        if (step == 1)                                                                             \
            name##_by(in, 1, count, out);                                                          \
        else if (step == 2)                                                                        \
            name##_by(in, 2, count, out);                                                          \
        else                                                                                       \
            name##_by(in, step, count, out);                                                       \
    }

CONVERT(from_u8, uint8_t, (float)(x - 128) * 0x1p-7F)
CONVERT(from_s16, int16_t, (float)x * 0x1p-15F)
CONVERT(from_s32, int32_t, (float)x * 0x1p-31F)
CONVERT(from_s64, int64_t, (float)x * 0x1p-63F)
CONVERT(from_float, float, fabsf(x) <= ABSURD ? x : 0)
CONVERT(from_double, double, fabs(x) <= (double)ABSURD ? (float)x : 0)

/* ---- channels ---- */

static void add_share(const float *a, const float *b, size_t count, float share, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (a[i] + b[i]) * share;
}

enum { ENERGY_LANES = 16, ENERGY_VECTORS = ENERGY_LANES / SAMPLE_VECTOR };

/* Sums in lanes, which add up in the same order everywhere. */
struct energy_sums {
    some_samples sums[ENERGY_VECTORS], squares[ENERGY_VECTORS];
};

static double end_energy(const struct energy_sums *lanes, const float *rest, size_t rest_count,
                         size_t count)
{
    float sums[ENERGY_LANES], squares[ENERGY_LANES];
    memcpy(sums, lanes->sums, sizeof sums);
    memcpy(squares, lanes->squares, sizeof squares);
    for (size_t lane = 0; lane < rest_count; lane++) {
        sums[lane] += rest[lane];
        squares[lane] += rest[lane] * rest[lane];
    }
    double sum = 0, square = 0;
    for (size_t lane = 0; lane < ENERGY_LANES; lane++) {
        sum += (double)sums[lane];
        square += (double)squares[lane];
    }
    double energy = square - sum * sum / (double)count;
    return energy > 0 ? energy : 0;
}

/* Several planes at a time, as a sum waits for the one before it. */
static inline void some_energies(const float *planes, size_t apart, size_t count, size_t some,
                                 double *out)
{
    struct energy_sums lanes[ENERGY_PLANES] = {0};
    size_t i = 0;
    for (; i + ENERGY_LANES <= count; i += ENERGY_LANES)
        for (size_t plane = 0; plane < some; plane++)
            for (size_t k = 0; k < ENERGY_VECTORS; k++) {
                some_samples samples = load_samples(planes + plane * apart + i + SAMPLE_VECTOR * k);
                lanes[plane].sums[k] += samples;
                lanes[plane].squares[k] += samples * samples;
            }
    for (size_t plane = 0; plane < some; plane++)
        out[plane] = end_energy(&lanes[plane], planes + plane * apart + i, count - i, count);
}

static void energies(const float *planes, size_t apart, size_t count, size_t some, double *out)
{
    for (; some >= ENERGY_PLANES; some -= ENERGY_PLANES) {
        some_energies(planes, apart, count, ENERGY_PLANES, out);
        planes += ENERGY_PLANES * apart;
        out += ENERGY_PLANES;
    }
    for (; some; some--, planes += apart, out++)
        some_energies(planes, apart, count, 1, out);
}

/* ---- a sample of every few ---- */

enum { DECIMATE_VECTORS = DECIMATE_LANES / SAMPLE_VECTOR };

typedef some_samples all_lanes[DECIMATE_VECTORS];

/* The samples of all lanes in the sums of outputs first..end-1: of output n under tap `row - n`. */
static inline void add_lane_products(const float *samples, const float *taps, size_t row,
                                     size_t first, size_t end, all_lanes *sums)
{
#pragma GCC unroll 16
    for (size_t k = 0; k < DECIMATE_VECTORS; k++) {
        some_samples some = load_samples(samples + k * SAMPLE_VECTOR);
#pragma GCC unroll 16
        for (size_t n = first; n < end; n++)
            sums[n][k] += some * taps[row - n];
    }
}

/* The sums of some outputs of each lane. */
static inline void decimate_steps(const struct decimate_work *work, const float *lanes, float *out)
{
    all_lanes sums[DECIMATE_STEPS] = {0};
    const size_t next = work->step * DECIMATE_LANES, last = DECIMATE_STEPS - 1;
    for (size_t phase = 0; phase < work->step; phase++) {
        const float *taps = work->taps + phase * work->rows, *from = lanes + phase * DECIMATE_LANES;
        size_t row = 0;
#pragma GCC unroll 16
        for (; row < last; row++, from += next)
            add_lane_products(from, taps, row, 0, row + 1, sums);
        for (; row < work->rows; row++, from += next)
            add_lane_products(from, taps, row, 0, DECIMATE_STEPS, sums);
#pragma GCC unroll 16
        for (size_t first = 1; first <= last; first++, row++, from += next)
            add_lane_products(from, taps, row, first, DECIMATE_STEPS, sums);
    }
    memcpy(out, sums, sizeof sums);
}

static void decimate_lanes(const struct decimate_work *work, size_t of_lane, float *out)
{
    for (size_t first = 0; first < of_lane; first += DECIMATE_STEPS)
        decimate_steps(work, work->lanes + first * work->step * DECIMATE_LANES,
                       out + first * DECIMATE_LANES);
}

#define SAMPLE_KERNELS                                                                             \
    {                                                                                              \
        from_u8, from_s16, from_s32, from_s64, from_float, from_double, add_share, energies,       \
            decimate_lanes                                                                         \
    }

#endif
