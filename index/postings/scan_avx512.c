/* Scanning the slots of a group with AVX-512: eight at a time, cut out word by word. */
#include <immintrin.h>

#include "index/postings/postings_internal.h"

enum { LANES = 8 };

/* Where words of the 32 bytes from the first slot and of the 32 that end with the eighth lie. */
struct scan_reach {
    uint64_t second; /* bytes from the first 32 to the others */
    __m512i closer;  /* words by which those beyond the first 16 come closer */
    __m512i slot_bits, mask, position_bits, position_mask, key, axis;
};

static inline struct scan_reach make_reach(const struct slot_scan *scan)
{
    uint64_t second = scan->slot_bits > 30 ? (scan->slot_bits - 30) & ~1u : 0;
    return (struct scan_reach){
        .second = second,
        .closer = _mm512_set1_epi16((short)(16 - second / 2)),
        .slot_bits = _mm512_set1_epi64(scan->slot_bits),
        .mask = _mm512_set1_epi64((long long)((1ull << scan->slot_bits) - 1)),
        .position_bits = _mm512_set1_epi64(scan->position_bits),
        .position_mask = _mm512_set1_epi64((long long)((1ull << scan->position_bits) - 1)),
        .key = _mm512_set1_epi64((long long)scan->remainder),
        .axis = _mm512_set1_epi64((long long)scan->axis),
    };
}

/* Slots number `first` and the next seven. No byte is read but theirs, if they take 32: it might
 * lie in a cache line that nobody has asked for. */
static inline __m512i read_slots(const struct slot_scan *scan, const struct scan_reach *reach,
                                 uint64_t first)
{
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i next_words = _mm512_set1_epi64(0x0003000200010000);
    uint64_t at = first * scan->slot_bits;
    const uint8_t *from = scan->slots + at / 8;
    __m512i bytes = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)from));
    bytes = _mm512_inserti64x4(
        bytes, _mm256_loadu_si256((const __m256i *)(const void *)(from + reach->second)), 1);
    __m512i bits = _mm512_add_epi64(_mm512_mul_epu32(lanes, reach->slot_bits),
                                    _mm512_set1_epi64((long long)(at % 8)));
    __m512i word = _mm512_srli_epi64(bits, 4);
    word = _mm512_or_si512(word, _mm512_slli_epi64(word, 16));
    word = _mm512_or_si512(word, _mm512_slli_epi64(word, 32));
    word = _mm512_add_epi64(word, next_words);
    __mmask32 beyond = _mm512_cmpge_epu16_mask(word, _mm512_set1_epi16(16));
    word = _mm512_mask_add_epi16(word, beyond, word, reach->closer);
    __m512i cut = _mm512_permutexvar_epi16(word, bytes);
    cut = _mm512_srlv_epi64(cut, _mm512_and_si512(bits, _mm512_set1_epi64(15)));
    return _mm512_and_si512(cut, reach->mask);
}

/* Of the eight slots from `at` on those that `there` says. */
static inline uint32_t take_slot_scan(const struct slot_scan *scan, const struct scan_reach *reach,
                                      uint32_t at, uint32_t there, uint32_t *out, uint32_t *beyond)
{
    __m512i slots = read_slots(scan, reach, scan->first + at);
    __m512i positions = _mm512_and_si512(slots, reach->position_mask);
    __mmask8 found = _mm512_mask_cmpeq_epu64_mask(
        (__mmask8)there, _mm512_srlv_epi64(slots, reach->position_bits), reach->key);
    *beyond |= _mm512_mask_cmpge_epu64_mask(found, positions, reach->axis);
    __m512i packed = _mm512_maskz_compress_epi64(found, positions);
    _mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtepi64_epi32(packed));
    return (uint32_t)__builtin_popcount(found);
}

/* The last eight are read again rather than what follows the group. */
uint32_t postings_scan_avx512(const struct slot_scan *scan, uint32_t *out, bool *out_beyond)
{
    const struct scan_reach reach = make_reach(scan);
    uint32_t beyond = 0, last = scan->count > LANES ? scan->count - LANES : 0;
    uint32_t few = scan->count < LANES ? (1u << scan->count) - 1 : 0xff;
    uint32_t count = take_slot_scan(scan, &reach, 0, few, out, &beyond), at = LANES;
    for (; at < last; at += LANES)
        count += take_slot_scan(scan, &reach, at, 0xff, out + count, &beyond);
    /* Done in any case: many groups have more than eight. */
    count +=
        take_slot_scan(scan, &reach, last, last ? 0xff << (at - last) : 0, out + count, &beyond);
    *out_beyond = beyond != 0;
    return count;
}
