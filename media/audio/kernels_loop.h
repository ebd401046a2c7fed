/* The loops that samples go through, compiled once for each instruction set: each sum is of the
 * same numbers in the same order, so the same bits. How many are made at once is for each to
 * choose. */
#ifndef DOPPEL_MEDIA_SAMPLE_KERNELS_LOOP_H
#define DOPPEL_MEDIA_SAMPLE_KERNELS_LOOP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "media/audio/kernels.h"

#ifndef SAMPLE_VECTOR
#define SAMPLE_VECTOR 4  /* floats of a register */
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

static inline void add_to_energy(some_samples samples, size_t k, struct energy_sums *lanes)
{
    lanes->sums[k] += samples;
    lanes->squares[k] += samples * samples;
}

static void add_and_measure(const float *a, const float *b, size_t count, float share, float *out,
                            double energies[3])
{
    struct energy_sums of_a = {0}, of_b = {0}, of_out = {0};
    size_t i = 0;
    for (; i + ENERGY_LANES <= count; i += ENERGY_LANES)
        for (size_t k = 0; k < ENERGY_VECTORS; k++) {
            const size_t at = i + SAMPLE_VECTOR * k;
            some_samples first = load_samples(a + at), second = load_samples(b + at);
            some_samples shares = (first + second) * share;
            memcpy(out + at, &shares, sizeof shares);
            add_to_energy(first, k, &of_a);
            add_to_energy(second, k, &of_b);
            add_to_energy(shares, k, &of_out);
        }
    energies[0] = end_energy(&of_a, a + i, count - i, count);
    energies[1] = end_energy(&of_b, b + i, count - i, count);
    for (size_t k = i; k < count; k++)
        out[k] = (a[k] + b[k]) * share;
    energies[2] = end_energy(&of_out, out + i, count - i, count);
}

typedef int32_t some_pairs __attribute__((vector_size(SAMPLE_VECTOR * sizeof(int32_t))));
typedef uint32_t some_bits __attribute__((vector_size(SAMPLE_VECTOR * sizeof(uint32_t))));

/* Two samples of 16 bits in one number: the first and the second as floats, by the machine's order
 * of bytes. */
static inline void split_pairs(some_pairs pairs, some_samples *first, some_samples *second)
{
    some_samples low =
        __builtin_convertvector((some_pairs)((some_bits)pairs << 16), some_samples) * 0x1p-31F;
    some_samples high = __builtin_convertvector(pairs >> 16, some_samples) * 0x1p-15F;
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    *first = little ? low : high;
    *second = little ? high : low;
}

static void mix_pairs_and_measure(const int16_t *pairs, size_t count, float *out,
                                  double energies[3])
{
    struct energy_sums of_first = {0}, of_second = {0}, of_out = {0};
    float first_rest[ENERGY_LANES], second_rest[ENERGY_LANES];
    size_t i = 0;
    for (; i + ENERGY_LANES <= count; i += ENERGY_LANES)
        for (size_t k = 0; k < ENERGY_VECTORS; k++) {
            const size_t at = i + SAMPLE_VECTOR * k;
            some_pairs some;
            some_samples first, second;
            memcpy(&some, pairs + 2 * at, sizeof some);
            split_pairs(some, &first, &second);
            some_samples mean = (first + second) * .5F;
            memcpy(out + at, &mean, sizeof mean);
            add_to_energy(first, k, &of_first);
            add_to_energy(second, k, &of_second);
            add_to_energy(mean, k, &of_out);
        }
    from_s16(pairs + 2 * i, 2, count - i, first_rest);
    from_s16(pairs + 2 * i + 1, 2, count - i, second_rest);
    for (size_t k = i; k < count; k++)
        out[k] = (first_rest[k - i] + second_rest[k - i]) * .5F;
    energies[0] = end_energy(&of_first, first_rest, count - i, count);
    energies[1] = end_energy(&of_second, second_rest, count - i, count);
    energies[2] = end_energy(&of_out, out + i, count - i, count);
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

/* ---- to lanes, and back ---- */

typedef float quad __attribute__((vector_size(16)));

static inline quad load_quad(const float *from)
{
    quad four;
    memcpy(&four, from, sizeof four);
    return four;
}

static inline void store_quad(quad four, float *out)
{
    memcpy(out, &four, sizeof four);
}

/* A vector is quads side by side, each of four lanes. */
#if SAMPLE_VECTOR == 4
#define QUADS(pick) pick(0)
static inline some_samples load_quads(const float *from, size_t apart)
{
    (void)apart;
    return load_quad(from);
}
static inline void store_quads(some_samples quads, float *out, size_t apart)
{
    (void)apart;
    store_quad(quads, out);
}
#elif SAMPLE_VECTOR == 8
#define QUADS(pick) pick(0), pick(4)
static inline some_samples load_quads(const float *from, size_t apart)
{
    return __builtin_shufflevector(load_quad(from), load_quad(from + apart), 0, 1, 2, 3, 4, 5, 6,
                                   7);
}
static inline void store_quads(some_samples quads, float *out, size_t apart)
{
    store_quad(__builtin_shufflevector(quads, quads, 0, 1, 2, 3), out);
    store_quad(__builtin_shufflevector(quads, quads, 4, 5, 6, 7), out + apart);
}
#else
#define QUADS(pick) pick(0), pick(4), pick(8), pick(12)
typedef float two_quads __attribute__((vector_size(32)));
static inline two_quads load_two_quads(const float *from, size_t apart)
{
    return __builtin_shufflevector(load_quad(from), load_quad(from + apart), 0, 1, 2, 3, 4, 5, 6,
                                   7);
}
static inline some_samples load_quads(const float *from, size_t apart)
{
    return __builtin_shufflevector(load_two_quads(from, apart),
                                   load_two_quads(from + 2 * apart, apart), 0, 1, 2, 3, 4, 5, 6, 7,
                                   8, 9, 10, 11, 12, 13, 14, 15);
}
static inline void store_quads(some_samples quads, float *out, size_t apart)
{
    store_quad(__builtin_shufflevector(quads, quads, 0, 1, 2, 3), out);
    store_quad(__builtin_shufflevector(quads, quads, 4, 5, 6, 7), out + apart);
    store_quad(__builtin_shufflevector(quads, quads, 8, 9, 10, 11), out + 2 * apart);
    store_quad(__builtin_shufflevector(quads, quads, 12, 13, 14, 15), out + 3 * apart);
}
#endif

#define LOW_OF_BOTH(at) at, at + SAMPLE_VECTOR, at + 1, at + 1 + SAMPLE_VECTOR
#define HIGH_OF_BOTH(at) LOW_OF_BOTH(at + 2)
#define FIRST_HALVES(at) at, at + 1, at + SAMPLE_VECTOR, at + 1 + SAMPLE_VECTOR
#define SECOND_HALVES(at) FIRST_HALVES(at + 2)

/* Of the quads of four vectors, rows become columns. */
static inline void turn_quads(some_samples rows[4])
{
    some_samples low = __builtin_shufflevector(rows[0], rows[1], QUADS(LOW_OF_BOTH));
    some_samples high = __builtin_shufflevector(rows[0], rows[1], QUADS(HIGH_OF_BOTH));
    some_samples next_low = __builtin_shufflevector(rows[2], rows[3], QUADS(LOW_OF_BOTH));
    some_samples next_high = __builtin_shufflevector(rows[2], rows[3], QUADS(HIGH_OF_BOTH));
    rows[0] = __builtin_shufflevector(low, next_low, QUADS(FIRST_HALVES));
    rows[1] = __builtin_shufflevector(low, next_low, QUADS(SECOND_HALVES));
    rows[2] = __builtin_shufflevector(high, next_high, QUADS(FIRST_HALVES));
    rows[3] = __builtin_shufflevector(high, next_high, QUADS(SECOND_HALVES));
}

static void deal_samples(const float *samples, size_t of_lane, float *lanes)
{
    size_t i = 0;
    for (; i + 4 <= of_lane; i += 4)
        for (size_t lane = 0; lane < DECIMATE_LANES; lane += SAMPLE_VECTOR) {
            const float *from = samples + lane * of_lane + i;
            some_samples rows[4];
            for (size_t k = 0; k < 4; k++)
                rows[k] = load_quads(from + k * of_lane, 4 * of_lane);
            turn_quads(rows);
            for (size_t k = 0; k < 4; k++)
                memcpy(lanes + (i + k) * DECIMATE_LANES + lane, &rows[k], sizeof rows[k]);
        }
    for (; i < of_lane; i++)
        for (size_t lane = 0; lane < DECIMATE_LANES; lane++)
            lanes[i * DECIMATE_LANES + lane] = samples[lane * of_lane + i];
}

static void collect_samples(const float *lanes, size_t of_lane, float *out)
{
    size_t i = 0;
    for (; i + 4 <= of_lane; i += 4)
        for (size_t lane = 0; lane < DECIMATE_LANES; lane += SAMPLE_VECTOR) {
            float *to = out + lane * of_lane + i;
            some_samples rows[4];
            for (size_t k = 0; k < 4; k++)
                rows[k] = load_samples(lanes + (i + k) * DECIMATE_LANES + lane);
            turn_quads(rows);
            for (size_t k = 0; k < 4; k++)
                store_quads(rows[k], to + k * of_lane, 4 * of_lane);
        }
    for (; i < of_lane; i++)
        for (size_t lane = 0; lane < DECIMATE_LANES; lane++)
            out[lane * of_lane + i] = lanes[i * DECIMATE_LANES + lane];
}

#define SAMPLE_KERNELS                                                                             \
    {                                                                                              \
        from_u8, from_s16, from_s32, from_s64, from_float, from_double, add_and_measure,           \
            mix_pairs_and_measure, deal_samples, decimate_lanes, collect_samples                   \
    }

#endif
