/* The join's kernels with AVX2. */
#include "index/join/loop.h"
#include "index/ones_avx2.h"

static inline __m256i load_avx2(const void *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

/* Eight lanes with one code: those that are near. */
static inline uint64_t near32(__m256i lanes, uint32_t row, __m256i limit)
{
    __m256i differ = _mm256_xor_si256(lanes, _mm256_set1_epi32((int)row));
    return lanes_within(ones_of_words(ones_of_bytes(differ)), limit);
}

static uint64_t cell_lanes(const struct join_block *block, size_t left, size_t right,
                           uint32_t limit)
{
    const uint32_t *rows = block->left->lanes + left, *lanes = block->right->lanes + right;
    const __m256i most = _mm256_set1_epi32((int)limit);
    __m256i low = load_avx2(lanes), high = load_avx2(lanes + 8);
    uint64_t near = 0;
    for (int row = 0; row < ROWS; row++)
        near |= (near32(low, rows[row], most) | near32(high, rows[row], most) << 8)
                << (row * LANES32);
    return near;
}

/* Four codes with one: a byte counts at most 8 bits of each word, 32 fit it. */
INLINE uint64_t near64(const struct join_side *a, size_t left, const struct join_side *b,
                       size_t right, __m256i limit, uint32_t words)
{
    __m256i bytes = _mm256_setzero_si256();
    for (uint32_t word = 0; word < words; word++) {
        __m256i row = _mm256_set1_epi64x((long long)a->planes[word * a->stride + left]);
        __m256i lanes = load_avx2(b->planes + word * b->stride + right);
        bytes = _mm256_add_epi8(bytes, ones_of_bytes(_mm256_xor_si256(lanes, row)));
    }
    __m256i distance = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
    __m256i far = _mm256_cmpgt_epi64(distance, limit);
    return ~(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(far)) & 0xf;
}

INLINE uint64_t cell_words(const struct join_block *block, size_t left, size_t right,
                           uint32_t limit, uint32_t words)
{
    const __m256i most = _mm256_set1_epi64x(limit);
    uint64_t near = 0;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t half = 0; half < LANES64; half += 4)
            near |= near64(block->left, left + row, block->right, right + half, most, words)
                    << (row * LANES64 + half);
    return near;
}

#include "index/join/cells.h"

const struct join_kernels join_avx2 = {lanes, words1, words2, words4, check_by_words, 8.0F};
