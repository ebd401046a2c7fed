/* What this processor can do, and a mask for tests. */
#include "core/cpu.h"

static uint32_t mask = UINT32_MAX;

uint32_t cpu_flags(void)
{
    uint32_t flags = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        flags |= CPU_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq"))
        flags |= CPU_AVX512_POPCNT;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("bmi2"))
        flags |= CPU_AVX512_VBMI2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bitalg"))
        flags |= CPU_AVX512_BITALG;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
        flags |= CPU_AVX512_VNNI;
#endif
    return flags & mask;
}

void cpu_mask(uint32_t flags)
{
    mask = flags;
}
