/* The linear scan with AVX2: bits counted by bytes, 4 codes a vector. */
#include "index/ones_avx2.h"
#include "index/scan.h"

enum { HALF = SCAN_GROUP / 2 };

/* Set bits of each byte of code XOR query. */
static inline __m256i byte_counts(const uint64_t *code, uint64_t query)
{
    return ones_of_bytes(_mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)code),
                                          _mm256_set1_epi64x((long long)query)));
}

static inline size_t emit_scan_avx2(__m256i counts, uint32_t radius, size_t position,
                                    struct scan_hit *out)
{
    __m256i distance = _mm256_sad_epu8(counts, _mm256_setzero_si256());
    __m256i far = _mm256_cmpgt_epi64(distance, _mm256_set1_epi64x(radius));
    uint32_t near = ~(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(far)) & 0xf;
    if (!near)
        return 0;
    uint64_t lanes[HALF];
    size_t found = 0;
    _mm256_storeu_si256((__m256i *)(void *)lanes, distance);
    for (; near; near &= near - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(near);
        out[found++] = (struct scan_hit){(uint32_t)position + lane, (uint32_t)lanes[lane]};
    }
    return found;
}

size_t scan64_avx2(const uint64_t *groups, size_t group_count, const uint64_t *query,
                   uint32_t radius, struct scan_hit *out)
{
    size_t found = 0;
    for (size_t position = 0; position < group_count * SCAN_GROUP; position += HALF)
        found +=
            emit_scan_avx2(byte_counts(groups + position, query[0]), radius, position, out + found);
    return found;
}

static inline size_t scan_words(const uint64_t *groups, size_t group_count, const uint64_t *query,
                                uint32_t radius, struct scan_hit *out, size_t words)
{
    size_t found = 0;
    for (size_t position = 0; position < group_count * SCAN_GROUP; position += HALF) {
        const uint64_t *at =
            groups + position / SCAN_GROUP * SCAN_GROUP * words + position % SCAN_GROUP;
        /* A byte counts at most 8 bits of each word: 32 fit it. */
        __m256i counts = byte_counts(at, query[0]);
        for (size_t word = 1; word < words; word++)
            counts = _mm256_add_epi8(counts, byte_counts(at + word * SCAN_GROUP, query[word]));
        found += emit_scan_avx2(counts, radius, position, out + found);
    }
    return found;
}

size_t scan128_avx2(const uint64_t *groups, size_t group_count, const uint64_t *query,
                    uint32_t radius, struct scan_hit *out)
{
    return scan_words(groups, group_count, query, radius, out, 2);
}

size_t scan256_avx2(const uint64_t *groups, size_t group_count, const uint64_t *query,
                    uint32_t radius, struct scan_hit *out)
{
    return scan_words(groups, group_count, query, radius, out, 4);
}
