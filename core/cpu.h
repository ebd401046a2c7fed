/* What this processor can do, chosen once; a mask lets a test switch kernels off. */
#ifndef DOPPEL_CORE_CPU_H
#define DOPPEL_CORE_CPU_H

#include <stdint.h>

enum {
    CPU_AVX2 = 1 << 0,
    CPU_AVX512_POPCNT = 1 << 1, /* F, BW, VL and VPOPCNTDQ */
    CPU_AVX512_VBMI2 = 1 << 2,  /* F, BW, VL, DQ, VBMI and VBMI2, with BMI2: Ice Lake, Zen 4 */
    CPU_AVX512_BITALG = 1 << 3, /* F, BW, VL and BITALG */
    CPU_AVX512_VNNI = 1 << 4    /* F, BW, VL and VNNI: Cascade Lake, Zen 4 */
};

/** The flags of this processor, less those masked. Thread-safe. */
uint32_t cpu_flags(void);

/** Keep only these flags from now on (tests). Not thread-safe. */
void cpu_mask(uint32_t flags);

#endif
