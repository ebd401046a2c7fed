/* The portable kernel, and the choice among them. */
#include "index/hamming_kernels.h"

#include "core/cpu.h"

struct needle {
    uint32_t rest[PLANES_MAX];
};

static inline struct needle needle_prepare(const uint32_t *rest, const unsigned planes)
{
    struct needle needle;
    for (unsigned plane = 0; plane < planes; plane++)
        needle.rest[plane] = rest[plane];
    return needle;
}

static inline uint32_t group_within(const uint32_t *group, const struct needle *needle,
                                    uint32_t limit, const unsigned planes)
{
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t distance = 0;
        for (unsigned plane = 0; plane < planes; plane++)
            distance +=
                (uint32_t)__builtin_popcount(group[plane * LANES + lane] ^ needle->rest[plane]);
        lanes |= (uint32_t)(distance <= limit) << lane;
    }
    return lanes;
}

#include "index/hamming_lookup.h"

const hamming_kernel hamming_kernel_portable = {lookup, spill};

const hamming_kernel *hamming_kernel_choose(void)
{
#if defined(__x86_64__)
    uint32_t flags = cpu_flags();
    if (flags & CPU_AVX512_POPCNT)
        return &hamming_kernel_avx512;
    if (flags & CPU_AVX2)
        return &hamming_kernel_avx2;
#endif
    return &hamming_kernel_portable;
}
