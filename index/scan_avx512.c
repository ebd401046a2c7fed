/* The linear scan with AVX-512 VPOPCNTDQ: 8 codes a vector. */
#include "index/scan.h"

#include <immintrin.h>

/* Write the codes of a group whose distance is within the radius. Lane by lane: GCC 12, short of
 * registers, spills an 8-bit mask as a byte and reads it back as four. */
static inline size_t emit_scan_avx512(__m512i distance, __m512i radius, size_t group,
                                      struct scan_hit *out)
{
    if (_mm512_cmple_epu64_mask(distance, radius) == 0)
        return 0;
    uint64_t lanes[SCAN_GROUP];
    uint64_t limit = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(radius));
    size_t found = 0;
    _mm512_storeu_si512(lanes, distance);
    for (size_t lane = 0; lane < SCAN_GROUP; lane++)
        if (lanes[lane] <= limit)
            out[found++] =
                (struct scan_hit){(uint32_t)(group * SCAN_GROUP + lane), (uint32_t)lanes[lane]};
    return found;
}

static inline __m512i distance64(const uint64_t *group, __m512i query)
{
    return _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(group), query));
}

/* Hits are rare: the least distance of 8 groups says whether to look at each. */
size_t scan64_avx512(const uint64_t *groups, size_t group_count, const uint64_t *query,
                     uint32_t radius, struct scan_hit *out)
{
    enum { STRIDE = 8 };
    const __m512i q = _mm512_set1_epi64((long long)query[0]), r = _mm512_set1_epi64(radius);
    size_t found = 0, group = 0;
    for (; group + STRIDE <= group_count; group += STRIDE) {
        const uint64_t *at = groups + group * SCAN_GROUP;
        __m512i d[STRIDE];
        for (size_t i = 0; i < STRIDE; i++)
            d[i] = distance64(at + i * SCAN_GROUP, q);
        __m512i least = _mm512_min_epu64(
            _mm512_min_epu64(_mm512_min_epu64(d[0], d[1]), _mm512_min_epu64(d[2], d[3])),
            _mm512_min_epu64(_mm512_min_epu64(d[4], d[5]), _mm512_min_epu64(d[6], d[7])));
        if (__builtin_expect(_mm512_cmple_epu64_mask(least, r) == 0, 1))
            continue;
        for (size_t i = 0; i < STRIDE; i++)
            found +=
                emit_scan_avx512(distance64(at + i * SCAN_GROUP, q), r, group + i, out + found);
    }
    for (; group < group_count; group++)
        found +=
            emit_scan_avx512(distance64(groups + group * SCAN_GROUP, q), r, group, out + found);
    return found;
}

size_t scan128_avx512(const uint64_t *groups, size_t group_count, const uint64_t *query,
                      uint32_t radius, struct scan_hit *out)
{
    const __m512i q0 = _mm512_set1_epi64((long long)query[0]);
    const __m512i q1 = _mm512_set1_epi64((long long)query[1]);
    const __m512i r = _mm512_set1_epi64(radius);
    size_t found = 0;
    for (size_t group = 0; group < group_count; group++) {
        const uint64_t *at = groups + group * SCAN_GROUP * 2;
        __m512i both = _mm512_add_epi64(distance64(at, q0), distance64(at + SCAN_GROUP, q1));
        found += emit_scan_avx512(both, r, group, out + found);
    }
    return found;
}

size_t scan256_avx512(const uint64_t *groups, size_t group_count, const uint64_t *query,
                      uint32_t radius, struct scan_hit *out)
{
    const __m512i q0 = _mm512_set1_epi64((long long)query[0]);
    const __m512i q1 = _mm512_set1_epi64((long long)query[1]);
    const __m512i q2 = _mm512_set1_epi64((long long)query[2]);
    const __m512i q3 = _mm512_set1_epi64((long long)query[3]);
    const __m512i r = _mm512_set1_epi64(radius);
    size_t found = 0;
    for (size_t group = 0; group < group_count; group++) {
        const uint64_t *at = groups + group * SCAN_GROUP * 4;
        __m512i low = _mm512_add_epi64(distance64(at, q0), distance64(at + SCAN_GROUP, q1));
        __m512i high = _mm512_add_epi64(distance64(at + 2 * SCAN_GROUP, q2),
                                        distance64(at + 3 * SCAN_GROUP, q3));
        found += emit_scan_avx512(_mm512_add_epi64(low, high), r, group, out + found);
    }
    return found;
}
