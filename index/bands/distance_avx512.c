/* Lanes in which two signatures differ, with AVX-512: 32 lanes a vector. */
#include <immintrin.h>

#include "index/bands/bands_internal.h"

uint32_t bands_distance_avx512(const uint64_t *a, const uint64_t *b, uint32_t lanes, uint32_t limit)
{
    uint32_t distance = 0;
    for (uint32_t at = 0; at < lanes && distance <= limit; at += 32) {
        uint32_t left = lanes - at;
        __mmask32 within = left < 32 ? (1u << left) - 1 : ~0u;
        __mmask32 differ = _mm512_mask_cmpneq_epi16_mask(within, _mm512_loadu_si512(a + at / 4),
                                                         _mm512_loadu_si512(b + at / 4));
        distance += (uint32_t)__builtin_popcount(differ);
    }
    return distance;
}
