/* Set bits counted with AVX2, for the kernels of that instruction set: by half-bytes looked up in a
 * table. Source: Muła, Kurz, Lemire, "Faster Population Counts Using AVX2 Instructions" (2018). */
#ifndef DOPPEL_INDEX_ONES_AVX2_H
#define DOPPEL_INDEX_ONES_AVX2_H

#include <immintrin.h>
#include <stdint.h>

/** Of each byte: at most 8, so that a byte holds the sum of 31. */
static inline __m256i ones_of_bytes(__m256i bits)
{
    const __m256i of_nibble = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1,
                                               1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low_nibbles = _mm256_set1_epi8(0x0f);
    __m256i low = _mm256_and_si256(bits, low_nibbles);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(bits, 4), low_nibbles);
    return _mm256_add_epi8(_mm256_shuffle_epi8(of_nibble, low),
                           _mm256_shuffle_epi8(of_nibble, high));
}

/** Sums of the counts of four bytes each. */
static inline __m256i ones_of_words(__m256i bytes)
{
    __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/** Bit i: 32-bit lane i is at most the limit's. */
static inline uint32_t lanes_within(__m256i distances, __m256i limit)
{
    __m256i far = _mm256_cmpgt_epi32(distances, limit);
    return ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(far)) & 0xff;
}

#endif
