/* Lanes in which two signatures differ, with AVX2: 16 lanes a vector, two bits of a mask a lane. */
#include <immintrin.h>

#include "index/bands/bands_internal.h"

static inline uint32_t equal_mask(const uint64_t *a, const uint64_t *b)
{
    __m256i left = _mm256_loadu_si256((const __m256i *)(const void *)a);
    __m256i right = _mm256_loadu_si256((const __m256i *)(const void *)b);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(left, right));
}

uint32_t bands_distance_avx2(const uint64_t *a, const uint64_t *b, uint32_t lanes, uint32_t limit)
{
    uint32_t distance = 0;
    for (uint32_t at = 0; at < lanes && distance <= limit; at += 32) {
        uint64_t equal = equal_mask(a + at / 4, b + at / 4) |
                         (uint64_t)equal_mask(a + at / 4 + 4, b + at / 4 + 4) << 32;
        uint32_t left = lanes - at;
        uint64_t beyond = left < 32 ? ~0ull << 2 * left : 0;
        distance += (uint32_t)__builtin_popcountll(~(equal | beyond)) / 2;
    }
    return distance;
}
