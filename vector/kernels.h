/* The inner loops over vectors: integers of prefixes and rows, sums of floats. All versions give
 * the same bits. */
#ifndef DOPPEL_VECTOR_KERNELS_H
#define DOPPEL_VECTOR_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
    PREFIX_BLOCK = 16,  /* vectors whose prefixes lie together */
    PREFIX_QUERIES = 8, /* that are compared at once */
    PREFIX_HEAD = 16,   /* dimensions that are looked at first */
    PREFIX_DIMENSIONS_MAX = 64,
    /* A component of a prefix is a whole number from -63 to 63; stored, 64 is added. */
    PREFIX_MOST = 63,
    PREFIX_ZERO = 64,
    /* So much is 1 in it: what is larger than 63/122, of 16 dimensions that are alike, is rare. */
    PREFIX_ONE = 122,
    /* A dot product of prefixes, one of them doubled: 1 is 2 × 122², and fits 16 bits with the
     * errors of rounding. */
    PREFIX_DOT_ONE = 2 * PREFIX_ONE * PREFIX_ONE,
    PREFIX_REST_ONE = 31233, /* the root of PREFIX_DOT_ONE × 2^15 */
    LANES = 16               /* floats that are summed side by side */
};

/* Prefixes of vectors, in blocks: of dimensions 0 and 1 two bytes of each of 16 vectors, then of
 * dimensions 2 and 3, and so on. `rest` is the length of what a prefix leaves out, in units of
 * which PREFIX_REST_ONE are 1, and `head_rest` that of what its first PREFIX_HEAD dimensions do;
 * `error` bounds what rounding does to a dot product, in units of which PREFIX_DOT_ONE are 1. All
 * are rounded up. */
struct prefix_blocks {
    const uint8_t *codes;
    const int16_t *head_rest, *rest, *error;
    uint32_t dimensions; /* a multiple of PREFIX_HEAD */
};

/* A prefix as it is compared with blocks: of two dimensions each two bytes, doubled, the same 16
 * times, as a register holds them. */
struct prefix_spread {
    _Alignas(32) int8_t pairs[PREFIX_DIMENSIONS_MAX / 2][PREFIX_BLOCK][2];
    /* What PREFIX_ZERO adds to a dot product of the first PREFIX_HEAD dimensions, and of the
     * others, negative, mod 2^16. */
    int16_t head_start, tail_start;
    int16_t head_rest, rest; /* as in struct prefix_blocks */
    int16_t below;           /* a pair is a candidate when what bounds its cosine is above this */
};

struct prefix_hit {
    uint32_t block;
    uint16_t marks[PREFIX_QUERIES]; /* bit i: the vector i of the block is a candidate */
};

struct vector_kernels {
    /* The prefix of vector `at`, spread; `below` is not touched. */
    void (*spread)(const struct prefix_blocks *blocks, size_t at, struct prefix_spread *out);
    /* Compare PREFIX_QUERIES queries with blocks `from` to `to`: by all dimensions, or by the first
     * PREFIX_HEAD, and what that leaves by all, which is faster where that is little.
     * @param hits room for to - from. @return how many blocks have a candidate */
    size_t (*scan)(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                   uint32_t from, uint32_t to, struct prefix_hit *hits);
    size_t (*scan_heads)(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                         uint32_t from, uint32_t to, struct prefix_hit *hits);
    /* scores[k × stride + i] is the dot product of query k of PREFIX_QUERIES and vector i of all
     * blocks, plus blocks->error[i]. */
    void (*score)(const struct prefix_spread *queries, const struct prefix_blocks *blocks,
                  uint32_t count, int16_t *scores, size_t stride);
    /* @param size a multiple of 32; -128 is none of the bytes */
    int32_t (*dot_bytes)(const int8_t *a, const int8_t *b, size_t size);
    /* In LANES sums, that are added up at last by halves. */
    float (*dot_floats)(const float *a, const float *b, size_t size);
    /* out[j] is the sum of row[i] × basis[i × width + j], in order of i.
     * @param width a multiple of 16 up to PREFIX_DIMENSIONS_MAX */
    void (*project)(const float *row, size_t size, const float *basis, size_t width, float *out);
};

const struct vector_kernels *vector_kernels_get(void);

extern const struct vector_kernels vector_kernels_portable;
extern const struct vector_kernels vector_kernels_avx2;
extern const struct vector_kernels vector_kernels_avx512;

/* Of AVX2, those of AVX-512 too: there they are no faster. */
void spread_avx2(const struct prefix_blocks *blocks, size_t at, struct prefix_spread *out);
int32_t dot_bytes_avx2(const int8_t *a, const int8_t *b, size_t size);
float dot_floats_avx2(const float *a, const float *b, size_t size);
void project_avx2(const float *row, size_t size, const float *basis, size_t width, float *out);

#endif
