/* Unpacking a block of deltas with AVX2: two rows of four a step. */
#include <immintrin.h>

#include "index/postings/postings_internal.h"

static inline __m128i load_unpack_avx2(const uint32_t *words)
{
    return _mm_loadu_si128((const __m128i *)(const void *)words);
}

/* Deltas of the row that starts at `bit` of its columns. */
static inline __m128i unpack_row(const uint32_t *packed, uint32_t bit, __m128i mask)
{
    const uint32_t *words = packed + bit / 32 * POSTINGS_COLUMNS;
    __m128i low = _mm_srl_epi32(load_unpack_avx2(words), _mm_cvtsi32_si128((int)(bit % 32)));
    __m128i high = _mm_sll_epi32(load_unpack_avx2(words + POSTINGS_COLUMNS),
                                 _mm_cvtsi32_si128((int)(32 - bit % 32)));
    return _mm_and_si128(_mm_or_si128(low, high), mask);
}

/* Sums of each half's lanes up to each lane. */
static inline __m256i add_up(__m256i deltas)
{
    deltas = _mm256_add_epi32(deltas, _mm256_slli_si256(deltas, 4));
    return _mm256_add_epi32(deltas, _mm256_slli_si256(deltas, 8));
}

void postings_unpack_avx2(const uint32_t *packed, uint32_t width, uint32_t rows, uint32_t before,
                          uint32_t *out)
{
    const __m256i last_of_low = _mm256_setr_epi32(3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i last = _mm256_set1_epi32(7);
    __m128i mask = _mm_set1_epi32((int)((1ull << width) - 1));
    __m256i carry = _mm256_set1_epi32((int)before);
    uint32_t row = 0, bit = 0;
    for (; row + 2 <= rows; row += 2, bit += 2 * width, out += 8) {
        __m256i sums = add_up(
            _mm256_set_m128i(unpack_row(packed, bit + width, mask), unpack_row(packed, bit, mask)));
        __m256i low = _mm256_permutevar8x32_epi32(sums, last_of_low);
        sums = _mm256_add_epi32(sums, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0));
        __m256i total = _mm256_permutevar8x32_epi32(sums, last);
        _mm256_storeu_si256((__m256i *)(void *)out, _mm256_add_epi32(sums, carry));
        carry = _mm256_add_epi32(carry, total);
    }
    if (row == rows)
        return;
    __m256i sums = add_up(_mm256_castsi128_si256(unpack_row(packed, bit, mask)));
    sums = _mm256_add_epi32(sums, carry);
    _mm_storeu_si128((__m128i *)(void *)out, _mm256_castsi256_si128(sums));
}
