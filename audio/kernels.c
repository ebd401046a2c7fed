/* The loops over a row in portable C, and which version a processor runs. */
#include "audio/kernels_loop.h"
#include "core/cpu.h"

static const struct row_kernels PORTABLE = ROW_KERNELS;

const struct row_kernels *row_kernels_choose(void)
{
#ifdef __x86_64__
    uint32_t flags = cpu_flags();
    if (flags & CPU_AVX512_POPCNT)
        return &row_kernels_avx512;
    if (flags & CPU_AVX2)
        return &row_kernels_avx2;
#endif
    return &PORTABLE;
}
