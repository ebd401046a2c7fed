/* The Hamming table's kernel with AVX-512 VPOPCNTDQ: a plane of 16 lanes is a vector. */
#include "index/hamming_kernels.h"

#include <immintrin.h>

struct needle {
    __m512i rest[PLANES_MAX];
};

static inline struct needle needle_prepare(const uint32_t *rest, const unsigned planes)
{
    struct needle needle;
    for (unsigned plane = 0; plane < planes; plane++)
        needle.rest[plane] = _mm512_set1_epi32((int)rest[plane]);
    return needle;
}

static inline uint32_t group_within(const uint32_t *group, const struct needle *needle,
                                    uint32_t limit, const unsigned planes)
{
    __m512i distance = _mm512_setzero_si512();
    for (unsigned plane = 0; plane < planes; plane++) {
        __m512i word = _mm512_load_si512(group + plane * LANES);
        __m512i ones = _mm512_popcnt_epi32(_mm512_xor_si512(word, needle->rest[plane]));
        distance = plane ? _mm512_add_epi32(distance, ones) : ones;
    }
    return _mm512_cmple_epu32_mask(distance, _mm512_set1_epi32((int)limit));
}

#include "index/hamming_lookup.h"

const hamming_kernel hamming_kernel_avx512 = {lookup, spill};
