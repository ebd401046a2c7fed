/* Scanning the slots of a group with AVX-512: eight at a time, cut out of 64 bytes word by word. */
#include <immintrin.h>

#include "index/postings_room.h"

enum { LANES = 8 };

/* Slots number `first` and the next seven. */
static inline __m512i read_slots(const struct slot_scan *scan, uint64_t first)
{
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i next_words = _mm512_set1_epi64(0x0003000200010000);
    uint64_t at = first * scan->slot_bits;
    const uint8_t *from = scan->slots + at / 8;
    /* No more than is needed: it might lie in a cache line that nobody has asked for. */
    __m512i bytes =
        scan->slot_bits < 32
            ? _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)from))
            : _mm512_loadu_si512(from);
    __m512i bits = _mm512_add_epi64(_mm512_mul_epu32(lanes, _mm512_set1_epi64(scan->slot_bits)),
                                    _mm512_set1_epi64((long long)(at % 8)));
    __m512i word = _mm512_srli_epi64(bits, 4);
    word = _mm512_or_si512(word, _mm512_slli_epi64(word, 16));
    word = _mm512_or_si512(word, _mm512_slli_epi64(word, 32));
    __m512i cut = _mm512_permutexvar_epi16(_mm512_add_epi16(word, next_words), bytes);
    cut = _mm512_srlv_epi64(cut, _mm512_and_si512(bits, _mm512_set1_epi64(15)));
    return _mm512_and_si512(cut, _mm512_set1_epi64((long long)((1ull << scan->slot_bits) - 1)));
}

static inline uint32_t take(const struct slot_scan *scan, uint32_t at, uint32_t *out,
                            uint32_t *beyond)
{
    __m512i slots = read_slots(scan, scan->first + at);
    __m512i positions =
        _mm512_and_si512(slots, _mm512_set1_epi64((long long)((1ull << scan->position_bits) - 1)));
    __mmask8 there = (__mmask8)(scan->count - at >= LANES ? 0xff : (1u << (scan->count - at)) - 1);
    __m512i key = _mm512_set1_epi64((long long)scan->remainder);
    __m512i shift = _mm512_set1_epi64(scan->position_bits);
    __mmask8 found = _mm512_mask_cmpeq_epu64_mask(there, _mm512_srlv_epi64(slots, shift), key);
    *beyond |=
        _mm512_mask_cmpge_epu64_mask(found, positions, _mm512_set1_epi64((long long)scan->axis));
    __m512i packed = _mm512_maskz_compress_epi64(found, positions);
    _mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtepi64_epi32(packed));
    return (uint32_t)__builtin_popcount(found);
}

uint32_t postings_scan_avx512(const struct slot_scan *scan, uint32_t *out, bool *out_beyond)
{
    uint32_t beyond = 0, count = take(scan, 0, out, &beyond);
    uint32_t at = scan->count > LANES ? LANES : 0;
    /* The second eight are looked at in any case: most groups have some. */
    uint32_t found = take(scan, at, out + count, &beyond);
    count += at ? found : 0;
    for (at = 2 * LANES; at < scan->count; at += LANES)
        count += take(scan, at, out + count, &beyond);
    *out_beyond = beyond != 0;
    return count;
}
