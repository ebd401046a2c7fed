/* The portable kernels, which are the definition, and the choice among all. */
#include "embed/rows.h"

#include "core/cpu.h"

enum { BLOCK = 64 };

static void add_int8_rows(float *sum, const int8_t *rows, size_t stride, const uint32_t *which,
                          const float *weights, size_t count)
{
    for (size_t block = 0; block < stride; block += BLOCK)
        for (size_t i = 0; i < count; i++) {
            const int8_t *row = rows + which[i] * stride + block;
            for (size_t d = 0; d < BLOCK; d++)
                sum[block + d] += weights[i] * (float)row[d];
        }
}

static void add_float_rows(float *sum, const float *rows, size_t stride, const uint32_t *which,
                           const float *weights, size_t count)
{
    for (size_t block = 0; block < stride; block += BLOCK)
        for (size_t i = 0; i < count; i++) {
            const float *row = rows + which[i] * stride + block;
            for (size_t d = 0; d < BLOCK; d++)
                sum[block + d] += weights[i] * row[d];
        }
}

const struct embed_kernels embed_kernels_portable = {add_int8_rows, add_float_rows};

const struct embed_kernels *embed_kernels_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_VBMI2)
        return &embed_kernels_avx512;
    if (cpu_flags() & CPU_AVX2)
        return &embed_kernels_avx2;
#endif
    return &embed_kernels_portable;
}
