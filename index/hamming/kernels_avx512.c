/* The Hamming table's kernel with AVX-512 VPOPCNTDQ: a group of 16 lanes is a vector. */
#include "index/hamming/kernels.h"

#include <immintrin.h>

struct needle {
    __m512i rest;
};

static inline struct needle needle_prepare(uint32_t rest)
{
    return (struct needle){_mm512_set1_epi32((int)rest)};
}

static inline __m512i group_distance(const uint32_t *group, const struct needle *needle)
{
    return _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_load_si512(group), needle->rest));
}

static inline bool groups_near(const uint32_t *groups, uint32_t count, const struct needle *needle,
                               uint32_t limit)
{
    __m512i least = group_distance(groups, needle);
    if (count >= 2)
        least = _mm512_min_epu32(least, group_distance(groups + LANES, needle));
    if (count >= 4)
        least =
            _mm512_min_epu32(least, _mm512_min_epu32(group_distance(groups + 2 * LANES, needle),
                                                     group_distance(groups + 3 * LANES, needle)));
    return _mm512_cmple_epu32_mask(least, _mm512_set1_epi32((int)limit)) != 0;
}

static inline void group_pass(const uint32_t *group, const struct lanes *lanes,
                              const struct needle *needle, uint32_t limit, uint32_t mark,
                              struct pass_queue *queue)
{
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i distance = group_distance(group, needle);
    __mmask16 codes = _mm512_cmpge_epi32_mask(numbers, _mm512_set1_epi32(lanes->from)) &
                      _mm512_cmplt_epi32_mask(numbers, _mm512_set1_epi32(lanes->to));
    __mmask16 near = _mm512_mask_cmple_epu32_mask(codes, distance, _mm512_set1_epi32((int)limit));
    size_t at = queue->count;
    __m512i positions = _mm512_add_epi32(numbers, _mm512_set1_epi32((int)lanes->position));
    __m512i marks = _mm512_add_epi32(distance, _mm512_set1_epi32((int)mark));
    _mm512_storeu_si512(queue->positions + at, _mm512_maskz_compress_epi32(near, positions));
    _mm512_storeu_si512(queue->marks + at, _mm512_maskz_compress_epi32(near, marks));
    _mm512_storeu_si512(queue->buckets + at, _mm512_set1_epi32((int)lanes->bucket));
    queue->count = at + (size_t)__builtin_popcount(near);
}

#include "index/hamming/lookup.h"

const hamming_kernel hamming_kernel_avx512 = {lookup, spill};
