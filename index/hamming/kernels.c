/* The portable kernel, and the choice among them. */
#include "index/hamming/kernels.h"

#include "core/cpu.h"

struct needle {
    uint32_t rest;
};

static inline struct needle needle_prepare(uint32_t rest)
{
    return (struct needle){rest};
}

static inline uint32_t lane_distance(uint32_t lane, const struct needle *needle)
{
    return (uint32_t)__builtin_popcount(lane ^ needle->rest);
}

static inline bool groups_near(const uint32_t *groups, uint32_t count, const struct needle *needle,
                               uint32_t limit)
{
    bool near = false;
    for (uint32_t i = 0; i < count; i++, groups += LANES)
        for (unsigned lane = 0; lane < LANES; lane++)
            near |= lane_distance(groups[lane], needle) <= limit;
    return near;
}

static inline void group_pass(const uint32_t *group, const struct lanes *lanes,
                              const struct needle *needle, uint32_t limit, uint32_t mark,
                              struct pass_queue *queue)
{
    uint32_t near = 0, distances[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        distances[lane] = lane_distance(group[lane], needle);
        near |= (uint32_t)(distances[lane] <= limit) << lane;
    }
    lanes_append(near, distances, lanes, mark, queue);
}

#include "index/hamming/lookup.h"

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
