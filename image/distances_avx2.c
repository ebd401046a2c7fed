/* Distances with the POPCNT that comes with AVX2. */
#include "image/distances.h"

void distances_avx2(const struct doppel_code *code, const struct doppel_code *others,
                    uint32_t count, struct code_distances *out)
{
    distances_loop(code, others, count, out);
}
