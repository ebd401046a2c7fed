/* The kernels for AVX-512 with VNNI: of 16 vectors four dimensions at a time, in sums of 32 bits.
 */
#include "vector/kernels.h"

#include <immintrin.h>
#include <string.h>

enum { HEAD_FOURS = PREFIX_HEAD / 4, FOURS_MAX = PREFIX_DIMENSIONS_MAX / 4 };

/* Of some queries four dimensions each, as one number that an instruction spreads by itself. */
struct query_fours {
    int32_t of[FOURS_MAX][PREFIX_QUERIES];
};

static void gather_fours(const struct prefix_spread *queries, uint32_t dimensions,
                         struct query_fours *out)
{
    for (uint32_t four = 0; four < dimensions / 4; four++)
        for (int k = 0; k < PREFIX_QUERIES; k++) {
            int8_t bytes[4];
            memcpy(bytes, queries[k].pairs[2 * four][0], 2);
            memcpy(bytes + 2, queries[k].pairs[2 * four + 1][0], 2);
            memcpy(&out->of[four][k], bytes, sizeof bytes);
        }
}

/* Two pairs of dimensions of 16 vectors lie one after the other: each vector's four side by side.
 */
static inline __m512i load_fours(const uint8_t *codes)
{
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order, _mm512_loadu_si512(codes));
}

static inline __attribute__((always_inline)) void multiply_fours(
    const uint8_t *codes, const struct query_fours *fours, size_t to,
    __m512i sums[static PREFIX_QUERIES])
{
#pragma GCC unroll 1
    for (size_t four = 0; four < to; four++) {
        const __m512i some = load_fours(codes + 64 * four);
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = _mm512_dpbusd_epi32(sums[k], some, _mm512_set1_epi32(fours->of[four][k]));
    }
}

/* What a sum is fits 16 bits with its start, so nothing is lost. */
static inline __m256i fold(__m512i sums, int16_t start)
{
    return _mm256_add_epi16(_mm512_cvtepi32_epi16(sums), _mm256_set1_epi16(start));
}

static inline __m256i lanes_at(const int16_t *lanes)
{
    return _mm256_loadu_si256((const __m256i *)lanes);
}

static inline uint16_t marks_above(__m256i sums, __m256i error, __m256i rest, int16_t query_rest,
                                   int16_t below)
{
    const __m256i left = _mm256_mulhrs_epi16(rest, _mm256_set1_epi16(query_rest));
    const __m256i bound = _mm256_adds_epi16(_mm256_adds_epi16(sums, error), left);
    return _mm256_movepi16_mask(_mm256_cmpgt_epi16(bound, _mm256_set1_epi16(below)));
}

static inline uint16_t start_of(const struct prefix_spread *query)
{
    return (uint16_t)(query->head_start + query->tail_start);
}

static size_t scan_all_avx512(const struct prefix_spread *queries,
                              const struct prefix_blocks *blocks, uint32_t from, uint32_t to,
                              struct prefix_hit *hits)
{
    struct query_fours fours;
    size_t count = 0;
    gather_fours(queries, blocks->dimensions, &fours);
    for (uint32_t block = from; block < to; block++) {
        const size_t at = (size_t)block * PREFIX_BLOCK;
        const __m256i error = lanes_at(blocks->error + at), rest = lanes_at(blocks->rest + at);
        __m512i sums[PREFIX_QUERIES];
        uint32_t marked = 0;
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = _mm512_setzero_si512();
        multiply_fours(blocks->codes + at * blocks->dimensions, &fours, blocks->dimensions / 4,
                       sums);
        hits[count].block = block;
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            marked |= hits[count].marks[k] =
                marks_above(fold(sums[k], (int16_t)start_of(&queries[k])), error, rest,
                            queries[k].rest, queries[k].below);
        count += marked != 0;
    }
    return count;
}

struct block_range {
    uint32_t from, to;
};

/* As of AVX2: marks blocks in which the first dimensions leave something. */
static size_t list_heads_avx512(const struct prefix_spread *queries,
                                const struct query_fours *fours, const struct prefix_blocks *blocks,
                                struct block_range range, struct prefix_hit *hits)
{
    size_t count = 0;
    for (uint32_t block = range.from; block < range.to; block++) {
        const size_t at = (size_t)block * PREFIX_BLOCK;
        const __m256i error = lanes_at(blocks->error + at);
        const __m256i head_rest = lanes_at(blocks->head_rest + at);
        __m512i sums[PREFIX_QUERIES];
        uint32_t marked = 0;
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = _mm512_setzero_si512();
        multiply_fours(blocks->codes + at * blocks->dimensions, fours, HEAD_FOURS, sums);
        hits[count].block = block;
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            marked |= hits[count].marks[k] =
                marks_above(fold(sums[k], queries[k].head_start), error, head_rest,
                            queries[k].head_rest, queries[k].below);
        count += marked != 0;
    }
    return count;
}

static inline uint16_t marks_of_all(const struct prefix_spread *query,
                                    const struct query_fours *fours, int number,
                                    const struct prefix_blocks *blocks, uint32_t block)
{
    const size_t at = (size_t)block * PREFIX_BLOCK;
    const uint8_t *codes = blocks->codes + at * blocks->dimensions;
    __m512i sums = _mm512_setzero_si512();
    for (uint32_t four = 0; four < blocks->dimensions / 4; four++)
        sums = _mm512_dpbusd_epi32(sums, load_fours(codes + 64 * (size_t)four),
                                   _mm512_set1_epi32(fours->of[four][number]));
    return marks_above(fold(sums, (int16_t)start_of(query)), lanes_at(blocks->error + at),
                       lanes_at(blocks->rest + at), query->rest, query->below);
}

static size_t scan_heads_avx512(const struct prefix_spread *queries,
                                const struct prefix_blocks *blocks, uint32_t from, uint32_t to,
                                struct prefix_hit *hits)
{
    struct query_fours fours;
    gather_fours(queries, blocks->dimensions, &fours);
    const size_t listed =
        list_heads_avx512(queries, &fours, blocks, (struct block_range){from, to}, hits);
    size_t count = 0;
    for (size_t i = 0; i < listed; i++) {
        struct prefix_hit hit = hits[i];
        uint32_t marked = 0;
        for (int k = 0; k < PREFIX_QUERIES; k++)
            if (hit.marks[k])
                marked |= hit.marks[k] &= marks_of_all(&queries[k], &fours, k, blocks, hit.block);
        hits[count] = hit;
        count += marked != 0;
    }
    return count;
}

static void score_avx512(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                         uint32_t count, int16_t *scores, size_t stride)
{
    struct query_fours fours;
    gather_fours(queries, blocks->dimensions, &fours);
    for (uint32_t block = 0; block < count; block++) {
        const size_t at = (size_t)block * PREFIX_BLOCK;
        const __m256i error = lanes_at(blocks->error + at);
        __m512i sums[PREFIX_QUERIES];
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = _mm512_setzero_si512();
        multiply_fours(blocks->codes + at * blocks->dimensions, &fours, blocks->dimensions / 4,
                       sums);
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            _mm256_storeu_si256(
                (__m256i *)(scores + (size_t)k * stride + at),
                _mm256_adds_epi16(fold(sums[k], (int16_t)start_of(&queries[k])), error));
    }
}

const struct vector_kernels vector_kernels_avx512 = {
    .spread = spread_avx2,
    .scan = scan_all_avx512,
    .scan_heads = scan_heads_avx512,
    .score = score_avx512,
    .dot_bytes = dot_bytes_avx2,
    .dot_floats = dot_floats_avx2,
    .project = project_avx2,
};
