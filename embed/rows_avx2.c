/* Sums of rows, 64 numbers in eight registers. */
#include "embed/rows.h"

#include <immintrin.h>

enum { BLOCK = 64, LANES = 8, REGISTERS = BLOCK / LANES };

static inline __m256 weigh_int8(const int8_t *row, __m256 weight)
{
    __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)row));
    return _mm256_mul_ps(weight, _mm256_cvtepi32_ps(wide));
}

static void add_int8_rows(float *sum, const int8_t *rows, size_t stride, const uint32_t *which,
                          const float *weights, size_t count)
{
    for (size_t block = 0; block < stride; block += BLOCK) {
        __m256 sums[REGISTERS];
        for (int j = 0; j < REGISTERS; j++)
            sums[j] = _mm256_loadu_ps(sum + block + j * LANES);
        for (size_t i = 0; i < count; i++) {
            const int8_t *row = rows + which[i] * stride + block;
            __m256 weight = _mm256_set1_ps(weights[i]);
            for (int j = 0; j < REGISTERS; j++)
                sums[j] = _mm256_add_ps(sums[j], weigh_int8(row + j * LANES, weight));
        }
        for (int j = 0; j < REGISTERS; j++)
            _mm256_storeu_ps(sum + block + j * LANES, sums[j]);
    }
}

static void add_float_rows(float *sum, const float *rows, size_t stride, const uint32_t *which,
                           const float *weights, size_t count)
{
    for (size_t block = 0; block < stride; block += BLOCK) {
        __m256 sums[REGISTERS];
        for (int j = 0; j < REGISTERS; j++)
            sums[j] = _mm256_loadu_ps(sum + block + j * LANES);
        for (size_t i = 0; i < count; i++) {
            const float *row = rows + which[i] * stride + block;
            __m256 weight = _mm256_set1_ps(weights[i]);
            for (int j = 0; j < REGISTERS; j++)
                sums[j] =
                    _mm256_add_ps(sums[j], _mm256_mul_ps(weight, _mm256_loadu_ps(row + j * LANES)));
        }
        for (int j = 0; j < REGISTERS; j++)
            _mm256_storeu_ps(sum + block + j * LANES, sums[j]);
    }
}

const struct embed_kernels embed_kernels_avx2 = {add_int8_rows, add_float_rows};
