/* The loops that samples go through in portable C, and which version a processor runs. */
#include "core/cpu.h"
#include "media/audio/kernels_loop.h"

static const struct sample_kernels PORTABLE = SAMPLE_KERNELS;

const struct sample_kernels *sample_kernels_choose(void)
{
#ifdef __x86_64__
    uint32_t flags = cpu_flags();
    if (flags & CPU_AVX512_POPCNT)
        return &sample_kernels_avx512;
    if (flags & CPU_AVX2)
        return &sample_kernels_avx2;
#endif
    return &PORTABLE;
}
