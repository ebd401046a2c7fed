/* The kernels for AVX-512 as any processor runs them: SIMDe's functions in place of instructions.
 */
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#ifndef _mm512_cvtepi32_epi16 /* not in all versions of it */
#define _mm512_cvtepi32_epi16 narrow_lanes
static simde__m256i narrow_lanes(simde__m512i lanes)
{
    int32_t from[16];
    int16_t to[16];
    simde_mm512_storeu_si512(from, lanes);
    for (int i = 0; i < 16; i++)
        to[i] = (int16_t)from[i];
    return simde_mm256_loadu_si256(to);
}
#endif

#define vector_kernels_avx512 vector_kernels_emulated
#include "vector/kernels_avx512.c"
