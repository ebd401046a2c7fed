/* The first pass over what is simple, 64 bytes at a time: ASCII is copied; where much is not, code
 * points are decoded and looked up sixteen at a time. */
#include "text/normaliser.h"

#include <immintrin.h>

enum {
    DENSE = 14 /* bytes beyond ASCII in 64 from which all are decoded at once */
};

/* The code points of 64 bytes. */
struct byte_chunk {
    __m512i bytes;
    uint8_t places[64]; /* where each begins */
    unsigned count;
    unsigned end; /* of the last one */
};

static inline unsigned lowest(uint64_t bits)
{
    return bits ? (unsigned)__builtin_ctzll(bits) : 64;
}

static inline unsigned smaller_of_two(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static inline uint64_t at_least(__m512i bytes, uint8_t least)
{
    return _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8((char)least));
}

/* How many of 64 bytes are whole, good code points; surrogates count as good here, the table knows
 * none of them. */
static unsigned good_bytes(__m512i bytes, uint64_t high, uint64_t lead)
{
    uint64_t three = at_least(bytes, 0xe0), four = at_least(bytes, 0xf0);
    uint64_t never = at_least(bytes, 0xf5) | (lead & ~at_least(bytes, 0xc2));
    uint64_t e0 = three & ~at_least(bytes, 0xe1), f0 = four & ~at_least(bytes, 0xf1);
    uint64_t below_a0 = ~at_least(bytes, 0xa0) >> 1, below_90 = ~at_least(bytes, 0x90) >> 1;
    uint64_t cut =
        (lead & UINT64_C(1) << 63) | (three & UINT64_C(1) << 62) | (four & UINT64_C(1) << 61);
    unsigned end = lowest(never | (e0 & below_a0) | (f0 & below_90) | cut);
    uint64_t follow = high & ~lead, starts = ~follow;
    unsigned wrong = lowest(follow ^ (lead << 1 | three << 2 | four << 3));
    if (wrong <= end && wrong < 64) { /* it may be missing behind the start before it */
        uint64_t before = starts & ((UINT64_C(1) << wrong) - 1);
        end = before ? 63 - (unsigned)__builtin_clzll(before) : 0;
    }
    return end;
}

static bool find_points(__m512i bytes, uint64_t high, struct byte_chunk *chunk)
{
    uint8_t order[64];
    for (int i = 0; i < 64; i++)
        order[i] = (uint8_t)i;
    uint64_t lead = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8((char)0xc0));
    unsigned end = good_bytes(bytes, high, lead);
    uint64_t starts = ~(high & ~lead) & (end < 64 ? (UINT64_C(1) << end) - 1 : UINT64_MAX);
    __m512i places = _mm512_maskz_compress_epi8(starts, _mm512_loadu_si512(order));
    chunk->bytes = bytes;
    _mm512_storeu_si512(chunk->places, places);
    chunk->count = (unsigned)__builtin_popcountll(starts);
    chunk->end = end;
    return end > 0;
}

static inline __m512i low_bits(__m512i four, int mask, unsigned byte)
{
    return _mm512_and_epi32(_mm512_srli_epi32(four, 8 * byte), _mm512_set1_epi32(mask));
}

/* Where `four`, the bytes of a code point, begins with at least `lead`: six bits more of it. */
static inline __m512i longer(__m512i points, __m512i shorter, __m512i four, int lead, unsigned byte)
{
    __mmask16 is_longer = _mm512_cmpge_epu32_mask(low_bits(four, 0xff, 0), _mm512_set1_epi32(lead));
    __m512i more = _mm512_or_epi32(_mm512_slli_epi32(shorter, 6), low_bits(four, 0x3f, byte));
    return _mm512_mask_mov_epi32(points, is_longer, more);
}

/* Sixteen code points from `first` on. */
static inline __m512i decode_points(const struct byte_chunk *chunk, unsigned first)
{
    __m512i place = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(chunk->places + first)));
    __m512i spread = _mm512_mullo_epi32(place, _mm512_set1_epi32(0x01010101));
    spread = _mm512_add_epi32(spread, _mm512_set1_epi32(0x03020100));
    __m512i four = _mm512_permutexvar_epi8(spread, chunk->bytes);
    __m512i points = longer(low_bits(four, 0xff, 0), low_bits(four, 0x1f, 0), four, 0xc0, 1);
    points = longer(points, points, four, 0xe0, 2);
    __m512i three = _mm512_and_epi32(points, _mm512_set1_epi32(0x7fff));
    return longer(points, three, four, 0xf0, 3);
}

/* Write up to sixteen code points; those of their own with a space behind, and behind the one
 * before. @return how many, up to the first whose mapping is not whole */
static inline unsigned write_points(const struct mapping *mapping, const struct byte_chunk *chunk,
                                    unsigned first, struct cursor *cursor)
{
    unsigned left = chunk->count - first;
    __mmask16 valid = left < 16 ? (__mmask16)((1u << left) - 1) : 0xffff;
    __m512i points = decode_points(chunk, first);
    valid = _mm512_mask_cmplt_epu32_mask(valid, points, _mm512_set1_epi32(TABLE_POINTS));
    __m512i mapped =
        _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), valid, points, mapping->points, 4);
    __mmask16 whole = _mm512_test_epi32_mask(mapped, _mm512_set1_epi32(MAPPED_WHOLE));
    __mmask16 alone = _mm512_test_epi32_mask(mapped, _mm512_set1_epi32(MAPPED_ALONE));
    unsigned count = (unsigned)__builtin_ctz(~(unsigned)whole);
    if (!count)
        return 0;
    *cursor->out = ' ';
    cursor->out += alone & 1;
    __m512i length =
        _mm512_and_epi32(_mm512_srli_epi32(mapped, MAPPED_LENGTH_SHIFT), _mm512_set1_epi32(3));
    __mmask16 spaced = (__mmask16)(alone | alone >> 1);
    length = _mm512_mask_add_epi32(length, spaced, length, _mm512_set1_epi32(1));
    length = _mm512_mullo_epi32(length, _mm512_set1_epi32(0x01010101));
    uint64_t keep = _mm512_cmpgt_epu8_mask(length, _mm512_set1_epi32(0x03020100));
    keep &= count < 16 ? (UINT64_C(1) << 4 * count) - 1 : UINT64_MAX;
    __m512i bytes = _mm512_ternarylogic_epi32(mapped, _mm512_set1_epi32(MAPPED_BYTES),
                                              _mm512_set1_epi32(' ' << 24), 0xea);
    _mm512_storeu_si512(cursor->out, _mm512_maskz_compress_epi8(keep, bytes));
    cursor->out += __builtin_popcountll(keep);
    cursor->last_out = cursor->out - __builtin_popcountll(keep >> (4 * count - 4));
    return count;
}

/* @return whether all of the chunk was simple */
static bool write_chunk(const struct mapping *mapping, const struct byte_chunk *chunk,
                        struct cursor *cursor)
{
    unsigned first = 0, count = 0;
    for (; first < chunk->count; first += count) {
        unsigned wanted = smaller_of_two(chunk->count - first, 16);
        count = write_points(mapping, chunk, first, cursor);
        if (count)
            cursor->last_at = cursor->at + chunk->places[first + count - 1];
        if (count < wanted) {
            cursor->at += chunk->places[first + count];
            return false;
        }
    }
    cursor->at += chunk->end;
    return true;
}

/* @return whether there may be more */
static bool take_chunk_mapping(const struct mapping *mapping, const uint8_t *bytes,
                               struct cursor *cursor)
{
    __m512i chunk_bytes = _mm512_loadu_si512(bytes + cursor->at);
    uint64_t high = _mm512_movepi8_mask(chunk_bytes);
    if (mapping->drop_punctuation && __builtin_popcountll(high) < DENSE) {
        _mm512_storeu_si512(cursor->out, chunk_bytes);
        cursor_copied(cursor, lowest(high));
        return !high;
    }
    struct byte_chunk chunk;
    return find_points(chunk_bytes, high, &chunk) && write_chunk(mapping, &chunk, cursor);
}

void clean_avx512(const struct mapping *mapping, const uint8_t *bytes, struct cursor *cursor)
{
    while (cursor->at + 64 <= cursor->end)
        if (!take_chunk_mapping(mapping, bytes, cursor))
            break;
    if (cursor->at < cursor->end && bytes[cursor->at] < 0x80)
        clean_portable(mapping, bytes, cursor);
}
