/* Lanes in which two signatures differ, in portable C, the definition of the others, and the choice
 * among them. */
#include "core/cpu.h"
#include "index/bands/bands_internal.h"

enum { BLOCK_LANES = 32 };

static uint32_t block_distance(const uint64_t *a, const uint64_t *b, uint32_t lanes)
{
    uint32_t distance = 0;
    for (uint32_t i = 0; i < lanes / 4; i++) {
        uint64_t differ = a[i] ^ b[i];
        distance += (differ & 0xffff) != 0;
        distance += (differ & 0xffff0000) != 0;
        distance += (differ & 0xffff00000000) != 0;
        distance += differ >> 48 != 0;
    }
    return distance;
}

uint32_t bands_distance_portable(const uint64_t *a, const uint64_t *b, uint32_t lanes,
                                 uint32_t limit)
{
    uint32_t distance = 0;
    for (uint32_t at = 0; at < lanes && distance <= limit; at += BLOCK_LANES) {
        uint32_t left = lanes - at;
        distance += block_distance(a + at / 4, b + at / 4, left < BLOCK_LANES ? left : BLOCK_LANES);
    }
    return distance;
}

bands_kernel *bands_kernel_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_POPCNT)
        return bands_distance_avx512;
    if (cpu_flags() & CPU_AVX2)
        return bands_distance_avx2;
#endif
    return bands_distance_portable;
}
