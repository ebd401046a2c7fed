/* The Hamming table's kernel with AVX2: a group of 16 lanes is two vectors. */
#include "index/hamming/kernels.h"
#include "index/ones_avx2.h"

struct needle {
    __m256i rest;
};

static inline struct needle needle_prepare(uint32_t rest)
{
    return (struct needle){_mm256_set1_epi32((int)rest)};
}

/* Distances of half a group. */
static inline __m256i half_distance(const uint32_t *half, const struct needle *needle)
{
    __m256i word = _mm256_load_si256((const __m256i *)half);
    return ones_of_words(ones_of_bytes(_mm256_xor_si256(word, needle->rest)));
}

static inline uint32_t within_radius_avx2(__m256i distance, uint32_t limit)
{
    return lanes_within(distance, _mm256_set1_epi32((int)limit));
}

static inline bool groups_near(const uint32_t *groups, uint32_t count, const struct needle *needle,
                               uint32_t limit)
{
    __m256i least = _mm256_set1_epi32(INT32_MAX);
    for (uint32_t i = 0; i < count; i++, groups += LANES) {
        least = _mm256_min_epi32(least, half_distance(groups, needle));
        least = _mm256_min_epi32(least, half_distance(groups + LANES / 2, needle));
    }
    return within_radius_avx2(least, limit) != 0;
}

static inline void group_pass(const uint32_t *group, const struct lanes *lanes,
                              const struct needle *needle, uint32_t limit, uint32_t mark,
                              struct pass_queue *queue)
{
    __m256i low = half_distance(group, needle);
    __m256i high = half_distance(group + LANES / 2, needle);
    uint32_t near = within_radius_avx2(low, limit) | within_radius_avx2(high, limit) << 8,
             distances[LANES];
    if (near == 0)
        return;
    _mm256_storeu_si256((__m256i *)distances, low);
    _mm256_storeu_si256((__m256i *)(distances + LANES / 2), high);
    lanes_append(near, distances, lanes, mark, queue);
}

#include "index/hamming/lookup.h"

const hamming_kernel hamming_kernel_avx2 = {lookup, spill};
