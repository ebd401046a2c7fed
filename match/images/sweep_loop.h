/* What the kernels of the sweep share: each one's file defines `ones`, of a word, and includes
 * this. */
#ifndef DOPPEL_MATCH_IMAGES_SWEEP_LOOP_H
#define DOPPEL_MATCH_IMAGES_SWEEP_LOOP_H

#include "match/images/sweep.h"

static inline int32_t weighted_part(const struct sweep_limit *limit, const uint64_t differ[4],
                                    const uint64_t part[4])
{
    return limit->weight * ones(differ[0] & part[0]) + ones(differ[1] & part[1]) +
           ones(differ[2] & part[2]) + ones(differ[3] & part[3]);
}

static inline int32_t least_of(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static bool check_sweep_codes(const struct sweep_limit *limit, const struct doppel_code *a,
                              const struct doppel_code *b)
{
    uint64_t differ[4];
    int32_t part[4], other[4];
    for (int word = 0; word < 4; word++)
        differ[word] = a->word[word] ^ b->word[word];
    if (!limit->turned)
        return limit->weight * ones(differ[0]) + ones(differ[1]) + ones(differ[2]) +
                   ones(differ[3]) <=
               limit->most;
    for (int i = 0; i < 4; i++) {
        part[i] = weighted_part(limit, differ, limit->parts[i]);
        other[i] = limit->size[i] - part[i];
    }
    return part[0] +
               least_of(least_of(part[1] + part[2] + part[3], part[1] + other[2] + other[3]),
                        least_of(other[1] + part[2] + other[3], other[1] + other[2] + part[3])) <=
           limit->most;
}

#endif
