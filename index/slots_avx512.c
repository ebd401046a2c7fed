/* Slots looked at with AVX-512 VPOPCNTDQ: a slot a vector. */
#include "index/slots.h"

#include <immintrin.h>

void slot_kernel_avx512(const struct slot *slots, const uint32_t *numbers, size_t count,
                        uint32_t query, uint32_t limit, struct slot_matches *out)
{
    const __m512i q = _mm512_set1_epi32((int)query), most = _mm512_set1_epi32((int)limit);
    out->count = out->next_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct slot *slot = &slots[numbers[i]];
        __m512i differ = _mm512_xor_si512(_mm512_load_si512(slot), q);
        uint32_t near = _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(differ), most);
        for (near &= (1u << slot->count) - 1; near; near &= near - 1)
            out->found[out->count++] = numbers[i] * 16 + (uint32_t)__builtin_ctz(near);
        if (slot->next)
            out->next[out->next_count++] = slot->next;
    }
}
