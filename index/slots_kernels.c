/* Slots looked at in portable C, the definition of the others, and the choice among them. */
#include "core/cpu.h"
#include "index/slots.h"

void slot_kernel_portable(const struct slot *slots, const uint32_t *numbers, size_t count,
                          uint32_t query, uint32_t limit, struct slot_matches *out)
{
    out->count = out->next_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct slot *slot = &slots[numbers[i]];
        for (uint32_t lane = 0; lane < slot->count; lane++)
            if ((uint32_t)__builtin_popcount(slot->remainders[lane] ^ query) <= limit)
                out->found[out->count++] = numbers[i] * 16 + lane;
        if (slot->next)
            out->next[out->next_count++] = slot->next;
    }
}

slot_kernel *slot_kernel_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_POPCNT)
        return slot_kernel_avx512;
    if (cpu_flags() & CPU_AVX2)
        return slot_kernel_avx2;
#endif
    return slot_kernel_portable;
}
