/* The portable kernel, and the choice among them. */
#include "index/hamming/kernels.h"

#include "core/cpu.h"

struct needle {
    uint32_t rest[PLANES_MAX];
};

static inline struct needle needle_prepare(const uint32_t *rest, const unsigned planes)
{
    struct needle needle = {{0}};
    for (unsigned plane = 0; plane < planes; plane++)
        needle.rest[plane] = rest[plane];
    return needle;
}

static inline uint32_t lane_distance(const uint32_t *lane, const struct needle *needle,
                                     const unsigned planes)
{
    uint32_t distance = 0;
    for (unsigned plane = 0; plane < planes; plane++)
        distance += (uint32_t)__builtin_popcount(lane[plane * LANES] ^ needle->rest[plane]);
    return distance;
}

static inline bool groups_near(const uint32_t *groups, uint32_t count, const struct needle *needle,
                               uint32_t limit, const unsigned planes)
{
    bool near = false;
    for (uint32_t i = 0; i < count; i++, groups += planes * LANES)
        for (unsigned lane = 0; lane < LANES; lane++)
            near |= lane_distance(groups + lane, needle, planes) <= limit;
    return near;
}

static inline void group_pass(const uint32_t *group, const struct lanes *lanes,
                              const struct needle *needle, uint32_t limit, uint32_t mark,
                              struct pass_queue *queue, const unsigned planes)
{
    uint32_t near = 0, distances[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        distances[lane] = lane_distance(group + lane, needle, planes);
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
