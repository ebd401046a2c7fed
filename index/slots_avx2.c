/* Slots looked at with AVX2: half a slot a vector. */
#include "index/ones_avx2.h"
#include "index/slots.h"

/* Which of 8 remainders are near. */
static inline uint32_t near_of_half(const uint32_t *remainders, __m256i query, __m256i limit)
{
    __m256i differ =
        _mm256_xor_si256(_mm256_load_si256((const __m256i *)(const void *)remainders), query);
    return lanes_within(ones_of_words(ones_of_bytes(differ)), limit);
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
