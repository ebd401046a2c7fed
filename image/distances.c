/* How far a code is from each of several. */
#include "image/distances.h"

#include "core/cpu.h"

void distances_portable(const struct doppel_code *code, const struct doppel_code *others,
                        uint32_t count, struct code_distances *out)
{
    distances_loop(code, others, count, out);
}

void measure_distances(const struct doppel_code *code, const struct doppel_code *others,
                       uint32_t count, struct code_distances *out)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX2) {
        distances_avx2(code, others, count, out);
        return;
    }
#endif
    distances_portable(code, others, count, out);
}
