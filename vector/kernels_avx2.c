/* The kernels for AVX2: 16 dot products at a time, in lanes of 16 bits. */
#include "vector/kernels.h"

#include <immintrin.h>

#include "core/scratch.h"

enum { HEAD_PAIRS = PREFIX_HEAD / 2 };

static inline __m256i spread_pair(const struct prefix_spread *query, size_t pair)
{
    return _mm256_loadu_si256((const __m256i *)query->pairs[pair]);
}

static inline __m256i load_lanes(const int16_t *lanes)
{
    return _mm256_loadu_si256((const __m256i *)lanes);
}

static inline __m256i above(__m256i sums, __m256i error, __m256i rest, int16_t query_rest,
                            int16_t below)
{
    const __m256i left = _mm256_mulhrs_epi16(rest, _mm256_set1_epi16(query_rest));
    const __m256i bound = _mm256_adds_epi16(_mm256_adds_epi16(sums, error), left);
    return _mm256_cmpgt_epi16(bound, _mm256_set1_epi16(below));
}

static inline uint16_t bits_of_lanes(__m256i lanes)
{
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return (uint16_t)_mm_movemask_epi8(bytes);
}

static inline __attribute__((always_inline)) void multiply_queries(
    const __m256i *codes, const struct prefix_spread *queries, size_t from, size_t to,
    __m256i sums[static PREFIX_QUERIES])
{
#pragma GCC unroll 1 /* or it multiplies all first, and has no registers for the sums */
    for (size_t pair = from; pair < to; pair++) {
        const __m256i two = _mm256_loadu_si256(codes + pair);
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = _mm256_add_epi16(sums[k],
                                       _mm256_maddubs_epi16(two, spread_pair(&queries[k], pair)));
    }
}

static size_t scan_all_avx2(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                            uint32_t from, uint32_t to, struct prefix_hit *hits)
{
    const size_t pairs = blocks->dimensions / 2;
    SCRATCH __m256i sums[PREFIX_QUERIES];
    size_t count = 0;
    for (uint32_t block = from; block < to; block++) {
        const size_t at = (size_t)block * PREFIX_BLOCK;
        const __m256i *codes = (const __m256i *)(blocks->codes + at * blocks->dimensions);
        const __m256i error = load_lanes(blocks->error + at), rest = load_lanes(blocks->rest + at);
        __m256i any = _mm256_setzero_si256();
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = _mm256_set1_epi16((int16_t)(queries[k].head_start + queries[k].tail_start));
        multiply_queries(codes, queries, 0, pairs, sums);
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++) {
            sums[k] = above(sums[k], error, rest, queries[k].rest, queries[k].below);
            any = _mm256_or_si256(any, sums[k]);
        }
        if (_mm256_testz_si256(any, any))
            continue;
        for (int k = 0; k < PREFIX_QUERIES; k++)
            hits[count].marks[k] = bits_of_lanes(sums[k]);
        hits[count++].block = block;
    }
    return count;
}

/* Which queries have lanes that are not 0: bits 2 k and 2 k + 1 are of query k, one of them is 1.
 */
static inline uint32_t queries_with_lanes(const __m256i lanes[static PREFIX_QUERIES])
{
    const __m256i low = _mm256_packs_epi16(_mm256_packs_epi16(lanes[0], lanes[1]),
                                           _mm256_packs_epi16(lanes[2], lanes[3]));
    const __m256i high = _mm256_packs_epi16(_mm256_packs_epi16(lanes[4], lanes[5]),
                                            _mm256_packs_epi16(lanes[6], lanes[7]));
    /* in each half of a register two bytes are of a query: 16 in order */
    const __m256i all = _mm256_packs_epi16(low, high);
    const __m256i none = _mm256_cmpeq_epi8(all, _mm256_setzero_si256());
    const uint32_t some = ~(uint32_t)_mm256_movemask_epi8(none);
    return (some | some >> 16) & 0xffff;
}

/* Marks blocks in which the first dimensions leave something: no branch depends on it. */
static size_t list_heads(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                         uint32_t from, uint32_t to, struct prefix_hit *hits)
{
    SCRATCH __m256i sums[PREFIX_QUERIES];
    size_t count = 0;
    for (uint32_t block = from; block < to; block++) {
        const size_t at = (size_t)block * PREFIX_BLOCK;
        const __m256i *codes = (const __m256i *)(blocks->codes + at * blocks->dimensions);
        const __m256i error = load_lanes(blocks->error + at);
        const __m256i head_rest = load_lanes(blocks->head_rest + at);
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = _mm256_set1_epi16(queries[k].head_start);
        multiply_queries(codes, queries, 0, HEAD_PAIRS, sums);
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = above(sums[k], error, head_rest, queries[k].head_rest, queries[k].below);
        const uint32_t some = queries_with_lanes(sums);
        hits[count].block = block;
        hits[count].marks[0] = (uint16_t)some;
        count += some != 0;
    }
    return count;
}

static inline uint16_t marks_of_query(const struct prefix_spread *query,
                                      const struct prefix_blocks *blocks, uint32_t block)
{
    const size_t at = (size_t)block * PREFIX_BLOCK;
    const __m256i *codes = (const __m256i *)(blocks->codes + at * blocks->dimensions);
    const __m256i error = load_lanes(blocks->error + at);
    __m256i sums = _mm256_set1_epi16(query->head_start);
    for (uint32_t pair = 0; pair < HEAD_PAIRS; pair++)
        sums = _mm256_add_epi16(
            sums, _mm256_maddubs_epi16(_mm256_loadu_si256(codes + pair), spread_pair(query, pair)));
    const __m256i left =
        above(sums, error, load_lanes(blocks->head_rest + at), query->head_rest, query->below);
    sums = _mm256_add_epi16(sums, _mm256_set1_epi16(query->tail_start));
    for (uint32_t pair = HEAD_PAIRS; pair < blocks->dimensions / 2; pair++)
        sums = _mm256_add_epi16(
            sums, _mm256_maddubs_epi16(_mm256_loadu_si256(codes + pair), spread_pair(query, pair)));
    const __m256i all =
        above(sums, error, load_lanes(blocks->rest + at), query->rest, query->below);
    return bits_of_lanes(_mm256_and_si256(left, all));
}

static size_t scan_heads_avx2(const struct prefix_spread *queries,
                              const struct prefix_blocks *blocks, uint32_t from, uint32_t to,
                              struct prefix_hit *hits)
{
    const size_t listed = list_heads(queries, blocks, from, to, hits);
    size_t count = 0;
    for (size_t i = 0; i < listed; i++) {
        struct prefix_hit hit = {.block = hits[i].block};
        uint32_t marked = 0;
        for (uint32_t some = hits[i].marks[0], k; some; some &= ~(3U << 2 * k)) {
            k = (uint32_t)__builtin_ctz(some) / 2;
            marked |= hit.marks[k] = marks_of_query(&queries[k], blocks, hit.block);
        }
        hits[count] = hit;
        count += marked != 0;
    }
    return count;
}

void spread_avx2(const struct prefix_blocks *blocks, size_t at, struct prefix_spread *out)
{
    const uint8_t *codes = blocks->codes + at / PREFIX_BLOCK * PREFIX_BLOCK * blocks->dimensions +
                           at % PREFIX_BLOCK * 2;
    const __m256i zero = _mm256_set1_epi8(PREFIX_ZERO);
    int head = 0, all = 0;
    for (uint32_t pair = 0; pair < blocks->dimensions / 2; pair++) {
        const uint8_t *two = codes + (size_t)pair * 2 * PREFIX_BLOCK;
        const __m256i values =
            _mm256_sub_epi8(_mm256_set1_epi16((int16_t)(two[0] | (uint16_t)(two[1] << 8))), zero);
        _mm256_store_si256((__m256i *)out->pairs[pair], _mm256_add_epi8(values, values));
        all += two[0] + two[1] - 2 * PREFIX_ZERO;
        head = pair < HEAD_PAIRS ? all : head;
    }
    out->head_start = (int16_t)(-PREFIX_ZERO * 2 * head);
    out->tail_start = (int16_t)(-PREFIX_ZERO * 2 * (all - head));
    out->head_rest = blocks->head_rest[at];
    out->rest = blocks->rest[at];
}

static void score_avx2(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                       uint32_t count, int16_t *scores, size_t stride)
{
    const uint32_t pairs = blocks->dimensions / 2;
    SCRATCH __m256i sums[PREFIX_QUERIES];
    for (uint32_t block = 0; block < count; block++) {
        const size_t at = (size_t)block * PREFIX_BLOCK;
        const __m256i *codes = (const __m256i *)(blocks->codes + at * blocks->dimensions);
        const __m256i error = load_lanes(blocks->error + at);
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            sums[k] = _mm256_add_epi16(_mm256_set1_epi16(queries[k].head_start),
                                       _mm256_set1_epi16(queries[k].tail_start));
        multiply_queries(codes, queries, 0, pairs, sums);
#pragma GCC unroll 8
        for (int k = 0; k < PREFIX_QUERIES; k++)
            _mm256_storeu_si256((__m256i *)(scores + (size_t)k * stride + at),
                                _mm256_adds_epi16(sums[k], error));
    }
}

int32_t dot_bytes_avx2(const int8_t *a, const int8_t *b, size_t size)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < size; i += 32) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(a + i));
        const __m256i y = _mm256_loadu_si256((const __m256i *)(b + i));
        /* up to 127 × 127 × 2, which fits */
        const __m256i products = _mm256_maddubs_epi16(_mm256_abs_epi8(x), _mm256_sign_epi8(y, x));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(products, ones));
    }
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1));
    return _mm_cvtsi128_si32(four);
}

static inline __m256 load_some(const float *from, size_t count)
{
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), places));
}

static inline __m256 add_product(__m256 sum, __m256 a, __m256 b)
{
    return _mm256_add_ps(sum, _mm256_mul_ps(a, b));
}

float dot_floats_avx2(const float *a, const float *b, size_t size)
{
    __m256 low = _mm256_setzero_ps(), high = low;
    size_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        low = add_product(low, _mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i));
        high = add_product(high, _mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8));
    }
    if (i < size)
        low = add_product(low, load_some(a + i, size - i), load_some(b + i, size - i));
    if (i + 8 < size)
        high = add_product(high, load_some(a + i + 8, size - i - 8),
                           load_some(b + i + 8, size - i - 8));
    const __m256 eight = _mm256_add_ps(low, high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    four = _mm_add_ss(four, _mm_movehdup_ps(four));
    return _mm_cvtss_f32(four);
}

static inline __attribute__((always_inline)) void project_part(const float *row, size_t size,
                                                               const float *basis, size_t width,
                                                               float *out, int registers)
{
    __m256 sums[8];
#pragma GCC unroll 8
    for (int j = 0; j < registers; j++)
        sums[j] = _mm256_setzero_ps();
    for (size_t i = 0; i < size; i++) {
        const __m256 x = _mm256_set1_ps(row[i]);
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++)
            sums[j] = add_product(sums[j], x, _mm256_loadu_ps(basis + i * width + 8 * j));
    }
#pragma GCC unroll 8
    for (int j = 0; j < registers; j++)
        _mm256_storeu_ps(out + 8 * j, sums[j]);
}

void project_avx2(const float *row, size_t size, const float *basis, size_t width, float *out)
{
    size_t at = 0;
    for (; at + 64 <= width; at += 64)
        project_part(row, size, basis + at, width, out + at, 8);
    for (; at + 32 <= width; at += 32)
        project_part(row, size, basis + at, width, out + at, 4);
    for (; at < width; at += 16)
        project_part(row, size, basis + at, width, out + at, 2);
}

const struct vector_kernels vector_kernels_avx2 = {
    .spread = spread_avx2,
    .scan = scan_all_avx2,
    .scan_heads = scan_heads_avx2,
    .score = score_avx2,
    .dot_bytes = dot_bytes_avx2,
    .dot_floats = dot_floats_avx2,
    .project = project_avx2,
};
