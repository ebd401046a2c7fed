/* The portable kernels: the definition. */
#include "vector/kernels.h"

#include <stdbool.h>
#include <string.h>

#include "core/cpu.h"
#include "vector/prefix.h"

static void add_products(const struct prefix_spread *query, const struct prefix_blocks *blocks,
                         size_t block, uint32_t from, uint32_t to,
                         int32_t sums[static PREFIX_BLOCK])
{
    const uint8_t *codes = blocks->codes + block * PREFIX_BLOCK * blocks->dimensions;
    for (size_t j = from; j < to; j++)
        for (size_t i = 0; i < PREFIX_BLOCK; i++) {
            const uint8_t code = codes[j / 2 * 2 * PREFIX_BLOCK + 2 * i + j % 2];
            sums[i] += (code - PREFIX_ZERO) * query->pairs[j / 2][0][j % 2];
        }
}

static int32_t saturated(int32_t value)
{
    return value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value;
}

/* Of two numbers of which 1 is 2^15, rounded. */
static int32_t product_of_shares(int16_t a, int16_t b)
{
    return (a * b + (1 << 14)) >> 15;
}

static uint16_t marks_of_sums(const struct prefix_spread *query, int16_t query_rest,
                              const int32_t sums[static PREFIX_BLOCK], const int16_t *rest,
                              const int16_t *error)
{
    uint16_t marks = 0;
    for (size_t i = 0; i < PREFIX_BLOCK; i++) {
        const int32_t near = saturated(sums[i] + error[i]);
        const int32_t bound = saturated(near + product_of_shares(rest[i], query_rest));
        marks |= (uint16_t)((bound > query->below) << i);
    }
    return marks;
}

static uint16_t marks_of_block(const struct prefix_spread *query,
                               const struct prefix_blocks *blocks, size_t block, bool heads)
{
    const size_t at = block * PREFIX_BLOCK;
    int32_t sums[PREFIX_BLOCK] = {0};
    uint16_t marks = UINT16_MAX;
    add_products(query, blocks, block, 0, PREFIX_HEAD, sums);
    if (heads)
        marks = marks_of_sums(query, query->head_rest, sums, blocks->head_rest + at,
                              blocks->error + at);
    add_products(query, blocks, block, PREFIX_HEAD, blocks->dimensions, sums);
    return marks & marks_of_sums(query, query->rest, sums, blocks->rest + at, blocks->error + at);
}

static size_t scan_blocks(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                          uint32_t from, uint32_t to, struct prefix_hit *hits, bool heads)
{
    size_t count = 0;
    for (uint32_t block = from; block < to; block++) {
        struct prefix_hit hit = {.block = block};
        uint16_t any = 0;
        for (uint32_t k = 0; k < PREFIX_QUERIES; k++)
            any |= hit.marks[k] = marks_of_block(&queries[k], blocks, block, heads);
        if (any)
            hits[count++] = hit;
    }
    return count;
}

static size_t scan_all(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                       uint32_t from, uint32_t to, struct prefix_hit *hits)
{
    return scan_blocks(queries, blocks, from, to, hits, false);
}

static size_t scan_heads(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                         uint32_t from, uint32_t to, struct prefix_hit *hits)
{
    return scan_blocks(queries, blocks, from, to, hits, true);
}

static void spread(const struct prefix_blocks *blocks, size_t at, struct prefix_spread *out)
{
    int8_t values[PREFIX_DIMENSIONS_MAX];
    prefix_values(blocks, at, values);
    prefix_spread(values, blocks->dimensions, out);
    out->head_rest = blocks->head_rest[at];
    out->rest = blocks->rest[at];
}

static void score(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                  uint32_t count, int16_t *scores, size_t stride)
{
    for (size_t block = 0; block < count; block++)
        for (uint32_t k = 0; k < PREFIX_QUERIES; k++) {
            const size_t at = block * PREFIX_BLOCK;
            int32_t sums[PREFIX_BLOCK] = {0};
            add_products(&queries[k], blocks, block, 0, blocks->dimensions, sums);
            for (size_t i = 0; i < PREFIX_BLOCK; i++)
                scores[k * stride + at + i] = (int16_t)saturated(sums[i] + blocks->error[at + i]);
        }
}

static int32_t dot_bytes(const int8_t *a, const int8_t *b, size_t size)
{
    int32_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

static float dot_floats(const float *a, const float *b, size_t size)
{
    float lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= size; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += a[i + lane] * b[i + lane];
    for (size_t lane = 0; i + lane < size; lane++)
        lanes[lane] += a[i + lane] * b[i + lane];
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            lanes[lane] += lanes[lane + half];
    return lanes[0];
}

static void project(const float *row, size_t size, const float *basis, size_t width, float *out)
{
    memset(out, 0, width * sizeof *out);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < width; j++)
            out[j] += row[i] * basis[i * width + j];
}

const struct vector_kernels vector_kernels_portable = {
    .spread = spread,
    .scan = scan_all,
    .scan_heads = scan_heads,
    .score = score,
    .dot_bytes = dot_bytes,
    .dot_floats = dot_floats,
    .project = project,
};

const struct vector_kernels *vector_kernels_get(void)
{
#ifdef __x86_64__
    if (cpu_flags() & CPU_AVX512_VNNI)
        return &vector_kernels_avx512;
    if (cpu_flags() & CPU_AVX2)
        return &vector_kernels_avx2;
#endif
    return &vector_kernels_portable;
}
