/* Sums of rows, up to 256 numbers in sixteen registers. */
#include "embed/rows.h"

#include <immintrin.h>

enum { LANES = 16, REGISTERS = 16, BLOCK = 64 };

static inline __m512 weigh_int8(const int8_t *row, __m512 weight)
{
    __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)row));
    return _mm512_mul_ps(weight, _mm512_cvtepi32_ps(wide));
}

/* Inlined, so that `registers` is a constant, and the sums stay in registers. */
static inline __attribute__((always_inline)) void add_int8_block(float *sum, const int8_t *rows,
                                                                 size_t stride,
                                                                 const uint32_t *which,
                                                                 const float *weights, size_t count,
                                                                 int registers)
{
    __m512 sums[REGISTERS];
#pragma GCC unroll 16
    for (int j = 0; j < registers; j++)
        sums[j] = _mm512_loadu_ps(sum + j * LANES);
    for (size_t i = 0; i < count; i++) {
        const int8_t *row = rows + which[i] * stride;
        __m512 weight = _mm512_set1_ps(weights[i]);
#pragma GCC unroll 16
        for (int j = 0; j < registers; j++)
            sums[j] = _mm512_add_ps(sums[j], weigh_int8(row + j * LANES, weight));
    }
#pragma GCC unroll 16
    for (int j = 0; j < registers; j++)
        _mm512_storeu_ps(sum + j * LANES, sums[j]);
}

static inline __attribute__((always_inline)) void add_float_block(float *sum, const float *rows,
                                                                  size_t stride,
                                                                  const uint32_t *which,
                                                                  const float *weights,
                                                                  size_t count, int registers)
{
    __m512 sums[REGISTERS];
#pragma GCC unroll 16
    for (int j = 0; j < registers; j++)
        sums[j] = _mm512_loadu_ps(sum + j * LANES);
    for (size_t i = 0; i < count; i++) {
        const float *row = rows + which[i] * stride;
        __m512 weight = _mm512_set1_ps(weights[i]);
#pragma GCC unroll 16
        for (int j = 0; j < registers; j++)
            sums[j] =
                _mm512_add_ps(sums[j], _mm512_mul_ps(weight, _mm512_loadu_ps(row + j * LANES)));
    }
#pragma GCC unroll 16
    for (int j = 0; j < registers; j++)
        _mm512_storeu_ps(sum + j * LANES, sums[j]);
}

static void add_int8_rows(float *sum, const int8_t *rows, size_t stride, const uint32_t *which,
                          const float *weights, size_t count)
{
    size_t at = 0;
    for (; stride - at >= 4 * BLOCK; at += 4 * BLOCK)
        add_int8_block(sum + at, rows + at, stride, which, weights, count, 16);
    for (; stride - at >= 2 * BLOCK; at += 2 * BLOCK)
        add_int8_block(sum + at, rows + at, stride, which, weights, count, 8);
    for (; at < stride; at += BLOCK)
        add_int8_block(sum + at, rows + at, stride, which, weights, count, 4);
}

static void add_float_rows(float *sum, const float *rows, size_t stride, const uint32_t *which,
                           const float *weights, size_t count)
{
    size_t at = 0;
    for (; stride - at >= 4 * BLOCK; at += 4 * BLOCK)
        add_float_block(sum + at, rows + at, stride, which, weights, count, 16);
    for (; stride - at >= 2 * BLOCK; at += 2 * BLOCK)
        add_float_block(sum + at, rows + at, stride, which, weights, count, 8);
    for (; at < stride; at += BLOCK)
        add_float_block(sum + at, rows + at, stride, which, weights, count, 4);
}

const struct embed_kernels embed_kernels_avx512 = {add_int8_rows, add_float_rows};
