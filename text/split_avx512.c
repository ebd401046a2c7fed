/* Words of cleaned bytes, 64 at a time: a table look-up of the ASCII, separators as a bit mask,
 * what stays compressed to the front. */
#include "text/normaliser.h"

#include <immintrin.h>

struct split_lanes {
    __m512i low, high, order; /* both halves of the table; 0, 1, 2, ... */
};

/* Positions of the set bits of `spaces` that stay, added to `base`. */
static inline size_t write_ends(uint64_t spaces, uint64_t keep, uint32_t base, __m512i order,
                                uint32_t *ends)
{
    uint64_t places = _pext_u64(spaces, keep);
    __m512i at = _mm512_maskz_compress_epi8(places, order), from = _mm512_set1_epi32((int)base);
    size_t count = (size_t)__builtin_popcountll(places);
    for (size_t i = 0; i < count; i += 16) {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(at));
        _mm512_storeu_si512(ends + i, _mm512_add_epi32(from, wide));
        at = _mm512_shuffle_i64x2(at, at, 0x39);
    }
    return count;
}

static inline uint64_t step_mapping(struct split *split, const struct split_lanes *lanes,
                                    __m512i bytes, uint64_t valid, uint64_t *before)
{
    uint64_t high = _mm512_movepi8_mask(bytes);
    __m512i mapped = _mm512_permutex2var_epi8(lanes->low, bytes, lanes->high);
    mapped = _mm512_mask_mov_epi8(mapped, high, bytes);
    uint64_t spaces = _mm512_cmpeq_epi8_mask(mapped, _mm512_set1_epi8(' ')) & valid;
    uint64_t keep = valid & ~(spaces & (spaces << 1 | *before));
    _mm512_storeu_si512(split->bytes + split->size, _mm512_maskz_compress_epi8(keep, mapped));
    size_t count =
        write_ends(spaces, keep, (uint32_t)split->size, lanes->order, split->ends + split->words);
    split->words += count;
    split->long_word |= !spaces;
    split->size += (size_t)__builtin_popcountll(keep);
    *before = spaces >> 63;
    return high;
}

bool split_avx512(struct split *out, const struct mapping *mapping, const uint8_t *bytes,
                  size_t size)
{
    uint8_t order[64];
    for (int i = 0; i < 64; i++)
        order[i] = (uint8_t)i;
    struct split_lanes lanes = {_mm512_loadu_si512(mapping->ascii),
                                _mm512_loadu_si512(mapping->ascii + 64), _mm512_loadu_si512(order)};
    struct split split = *out;
    uint64_t before = split.after_space, high = 0;
    size_t at = 0;
    for (; at + 64 <= size; at += 64)
        high |= step_mapping(&split, &lanes, _mm512_loadu_si512(bytes + at), UINT64_MAX, &before);
    if (at < size) {
        uint64_t valid = UINT64_MAX >> (64 - (size - at));
        __m512i last = _mm512_maskz_loadu_epi8(valid, bytes + at);
        high |= step_mapping(&split, &lanes, last, valid, &before);
        before = mapping->ascii[bytes[size - 1]] == ' ';
    }
    split.after_space = before;
    *out = split;
    return !high;
}
