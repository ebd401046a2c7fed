/* The same with AVX-512 BITALG: the least distance of 8 words in all ways in five instructions. Of
 * a lane that may be negated, the smaller of the bits that differ and those that do not; of 16 bits
 * that is 8 less what the bits that differ are away from 8. */
#include <immintrin.h>

#include "image/near.h"

/* The three bits above the last lane's are left out: not more than is allowed may be dropped. */
static const uint64_t counted = UINT64_C(0x1fffffffffffffff);

struct near_vectors {
    __m512i query, counted, middle;
};

/* Bits of the first lane that are alike, and how far the others are from their middle. */
static inline __m512i likeness(const struct near_vectors *at, const uint64_t *words)
{
    enum { DIFFER_AND_COUNTED = 0x28 }; /* (a ^ b) & c */
    const __m512i differ = _mm512_ternarylogic_epi64(at->query, _mm512_loadu_si512(words),
                                                     at->counted, DIFFER_AND_COUNTED);
    return _mm512_sad_epu8(_mm512_popcnt_epi16(differ), at->middle);
}

/* Exactly: in the ways of mirroring; the others turn over what a code may not lack. */
static size_t near_of_eight(const struct doppel_image_probe *probe, const uint64_t *words,
                            uint32_t first, uint32_t count, uint32_t radius, uint32_t *out)
{
    const __m512i differ = _mm512_xor_si512(_mm512_set1_epi64((long long)probe->code.word[0]),
                                            _mm512_loadu_si512(words));
    const __m512i zero = _mm512_setzero_si512(), most = _mm512_set1_epi64(radius);
    uint32_t near = 0, perhaps = 0;
    size_t found = 0;
    for (unsigned way = 0; way < NEAR_WAYS; way++) {
        const __m512i turned =
            _mm512_xor_si512(differ, _mm512_set1_epi64((long long)near_turned(way)));
        const __m512i distance = _mm512_sad_epu8(_mm512_popcnt_epi8(turned), zero);
        *(__builtin_popcount(way) % 2 ? &perhaps : &near) |=
            _mm512_cmple_epu64_mask(distance, most);
    }
    for (uint32_t left = near | perhaps; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        if (first + i < count && (near >> i & 1 || near_in_some_way(probe, words[i], radius)))
            out[found++] = first + i;
    }
    return found;
}

size_t near_avx512(const struct doppel_image_probe *probe, const struct doppel_image_words *words,
                   uint32_t radius, uint32_t *out)
{
    enum { STRIDE = 8, ALL = 16 + 8 + 8 + 6 };
    const struct near_vectors at = {
        .query = _mm512_set1_epi64((long long)(probe->code.word[0] ^ UINT64_C(0xffff))),
        .counted = _mm512_set1_epi64((long long)counted),
        .middle = _mm512_set1_epi64(INT64_C(0x0006000800080000))};
    const __m512i least = _mm512_set1_epi64(radius < ALL ? ALL - (long long)radius : 0);
    const size_t groups = (words->count + 7) / 8;
    size_t found = 0;
    for (size_t group = 0; group < groups; group += STRIDE) {
        const size_t end = groups - group < STRIDE ? groups : group + STRIDE;
        __m512i best = _mm512_setzero_si512();
        for (size_t i = group; i < end; i++)
            best = _mm512_max_epu16(best, likeness(&at, words->words + i * words->step));
        if (__builtin_expect(_mm512_cmpge_epu64_mask(best, least) == 0, 1))
            continue;
        for (size_t i = group; i < end; i++)
            if (_mm512_cmpge_epu64_mask(likeness(&at, words->words + i * words->step), least))
                found += near_of_eight(probe, words->words + i * words->step, (uint32_t)i * 8,
                                       words->count, radius, out + found);
    }
    return found;
}
