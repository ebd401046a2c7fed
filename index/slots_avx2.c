/* Slots looked at with AVX2: half a slot a vector, bits counted by nibble look-up. */
#include "index/slots.h"

#include <immintrin.h>

/* Which of 8 remainders are near. Source: Muła, Kurz, Lemire, "Faster Population Counts Using AVX2
 * Instructions" (2018). */
static inline uint32_t near_of_half(const uint32_t *remainders, __m256i query, __m256i limit)
{
    const __m256i nibble_bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0,
                                                 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low_nibbles = _mm256_set1_epi8(0x0f);
    __m256i differ =
        _mm256_xor_si256(_mm256_load_si256((const __m256i *)(const void *)remainders), query);
    __m256i low = _mm256_and_si256(differ, low_nibbles);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(differ, 4), low_nibbles);
    __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(nibble_bits, low),
                                    _mm256_shuffle_epi8(nibble_bits, high));
    __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
    __m256i distances = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    __m256i far = _mm256_cmpgt_epi32(distances, limit);
    return ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(far)) & 0xff;
}

void slot_kernel_avx2(const struct slot *slots, const uint32_t *numbers, size_t count,
                      uint32_t query, uint32_t limit, struct slot_matches *out)
{
    const __m256i q = _mm256_set1_epi32((int)query);
    const __m256i most = _mm256_set1_epi32(limit < 32 ? (int)limit : 32);
    out->count = out->next_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct slot *slot = &slots[numbers[i]];
        uint32_t near = near_of_half(slot->remainders, q, most) |
                        near_of_half(slot->remainders + 8, q, most) << 8;
        for (near &= (1u << slot->count) - 1; near; near &= near - 1)
            out->found[out->count++] = numbers[i] * 16 + (uint32_t)__builtin_ctz(near);
        if (slot->next)
            out->next[out->next_count++] = slot->next;
    }
}
