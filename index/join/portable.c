/* The join's kernels in portable C, the definition of the others, and the choice among them. */
#include "core/cpu.h"
#include "index/join/loop.h"

/* Without POPCNT the compiler calls a function for each word; this it can vectorise. Source:
 * Warren, "Hacker's Delight" (2012), 5-1. */
static inline uint32_t portable_ones(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(word * 0x0101010101010101u >> 56);
}

static uint64_t cell_lanes(const struct join_block *block, size_t left, size_t right,
                           uint32_t limit)
{
    uint64_t near = 0;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t lane = 0; lane < LANES32; lane++) {
            uint32_t differ = block->left->lanes[left + row] ^ block->right->lanes[right + lane];
            near |= (uint64_t)(portable_ones(differ) <= limit) << (row * LANES32 + lane);
        }
    return near;
}

INLINE uint64_t cell_words(const struct join_block *block, size_t left, size_t right,
                           uint32_t limit, uint32_t words)
{
    const struct join_side *a = block->left, *b = block->right;
    uint64_t near = 0;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t lane = 0; lane < LANES64; lane++) {
            uint32_t distance = 0;
            for (uint32_t word = 0; word < words; word++)
                distance += portable_ones(a->planes[word * a->stride + left + row] ^
                                          b->planes[word * b->stride + right + lane]);
            near |= (uint64_t)(distance <= limit) << (row * LANES64 + lane);
        }
    return near;
}

#include "index/join/cells.h"

const struct join_kernels join_portable = {lanes, words1, words2, words4, check_by_words, 28.0F};

const struct join_kernels *join_kernels_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_POPCNT)
        return &join_avx512;
    if (cpu_flags() & CPU_AVX2)
        return &join_avx2;
#endif
    return &join_portable;
}
