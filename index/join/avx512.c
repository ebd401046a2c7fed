/* The join's kernels with AVX-512 VPOPCNTDQ. */
#include <immintrin.h>

#include "index/join/loop.h"

/* Near codes are rare: the least distance of the four rows says whether to look at each. */
static inline uint64_t near32(const __m512i distance[ROWS], uint32_t limit)
{
    const __m512i most = _mm512_set1_epi32((int)limit);
    __m512i least = _mm512_min_epu32(_mm512_min_epu32(distance[0], distance[1]),
                                     _mm512_min_epu32(distance[2], distance[3]));
    uint64_t near = 0;
    if (__builtin_expect(_mm512_cmple_epu32_mask(least, most) == 0, 1))
        return 0;
    for (int row = 0; row < ROWS; row++)
        near |= (uint64_t)_mm512_cmple_epu32_mask(distance[row], most) << (row * LANES32);
    return near;
}

static inline uint64_t near64(const __m512i distance[ROWS], uint32_t limit)
{
    const __m512i most = _mm512_set1_epi64(limit);
    __m512i least = _mm512_min_epu64(_mm512_min_epu64(distance[0], distance[1]),
                                     _mm512_min_epu64(distance[2], distance[3]));
    uint64_t near = 0;
    if (__builtin_expect(_mm512_cmple_epu64_mask(least, most) == 0, 1))
        return 0;
    for (int row = 0; row < ROWS; row++)
        near |= (uint64_t)_mm512_cmple_epu64_mask(distance[row], most) << (row * LANES64);
    return near;
}

static uint64_t cell_lanes(const struct join_block *block, size_t left, size_t right,
                           uint32_t limit)
{
    const uint32_t *rows = block->left->lanes + left;
    __m512i lanes = _mm512_loadu_si512(block->right->lanes + right), distance[ROWS];
    for (int row = 0; row < ROWS; row++)
        distance[row] =
            _mm512_popcnt_epi32(_mm512_xor_si512(lanes, _mm512_set1_epi32((int)rows[row])));
    return near32(distance, limit);
}

INLINE uint64_t cell_words(const struct join_block *block, size_t left, size_t right,
                           uint32_t limit, uint32_t words)
{
    const struct join_side *a = block->left, *b = block->right;
    __m512i distance[ROWS] = {0};
    for (uint32_t word = 0; word < words; word++) {
        const uint64_t *rows = a->planes + word * a->stride + left;
        __m512i lanes = _mm512_loadu_si512(b->planes + word * b->stride + right);
        for (int row = 0; row < ROWS; row++)
            distance[row] = _mm512_add_epi64(distance[row],
                                             _mm512_popcnt_epi64(_mm512_xor_si512(
                                                 lanes, _mm512_set1_epi64((long long)rows[row]))));
    }
    return near64(distance, limit);
}

#include "index/join/cells.h"

const struct join_kernels join_avx512 = {lanes, words1, words2, words4, check_by_words, 1.6F};
