/*
 * The kernels of the join: two tiles, runs of neighbouring buckets, are compared bucket by bucket.
 * All kernels write the same hits in the same order; the portable one is their definition.
 */
#ifndef DOPPEL_INDEX_JOIN_KERNEL_H
#define DOPPEL_INDEX_JOIN_KERNEL_H

#include "index/join/side.h"

/* Two places whose codes are near, by what the kernel compared. */
struct join_hit {
    uint32_t left, right;
};

enum { JOIN_HITS = 2048, JOIN_CELL_MAX = 64 };

/* Where a kernel writes to. */
struct join_hits {
    struct join_hit items[JOIN_HITS];
    size_t count;
    bool (*flush)(struct join_hits *hits); /* empty it; false: enough */
    void *context;
};

/* The masks by which buckets of two tiles are paired, ordered by weight. */
struct join_masks {
    uint16_t *items;
    uint32_t ends[18]; /* ends[w]: of those of weight w */
};

struct join_block {
    const struct join_side *left, *right;
    const uint32_t *left_starts, *right_starts; /* of the tiles' first buckets */
    uint32_t buckets;                           /* of a tile */
    size_t from, to;                            /* places on the left that count */
    bool same;                                  /* one tile with itself: each pair once */
    const struct join_masks *masks;
    int32_t weight; /* most bits of a mask; ≥ 0 */
    int32_t limit; /* distance of lanes or codes, ≥ 0; where lanes are sketches, less the weight */
    bool sketches;
    struct join_hits *hits;
};

/** Compare. @return false when it was ended by `flush` */
typedef bool join_kernel(const struct join_block *block);

/* What a chunk's hits have to stand. */
struct join_check {
    const struct join_plan *plan;
    const struct join_side *left, *right;
    uint32_t chunk;
};

/** Keep the hits whose codes are within the radius and which no chunk before has found.
 * @return how many pairs were written, in order of the hits */
typedef size_t join_checker(const struct join_check *check, const struct join_hit *hits,
                            size_t count, struct doppel_index_pair *out);

/* Lanes of 32 bits, codes of 64, 128, 256; and the check. */
struct join_kernels {
    join_kernel *lanes, *words1, *words2, *words4;
    join_checker *check;
    float cell_ns; /* about: to compare four 32-bit lanes with sixteen */
};

extern const struct join_kernels join_portable, join_avx2, join_avx512;

/** The fastest of this processor, by core/cpu.h. */
const struct join_kernels *join_kernels_choose(void);

#endif
