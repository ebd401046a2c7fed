/* Words of cleaned bytes, 32 at a time. There is no compression in AVX2: eight bytes are shuffled
 * together by a table of what stays. */
#include "text/normaliser.h"

#include <immintrin.h>

enum { STEP = 32, ENDS_AT_ONCE = 8 };

/* What becomes of 32 bytes, and which of them are separators. */
static inline __m256i map_bytes(const struct mapping *mapping, __m256i bytes, uint32_t *out_spaces)
{
    __m256i rows =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)mapping->space_rows));
    __m256i bit_of_row = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, 1,
                                          2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i row = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0xf));
    __m256i bits =
        _mm256_and_si256(_mm256_shuffle_epi8(rows, bytes), _mm256_shuffle_epi8(bit_of_row, row));
    __m256i kept = _mm256_cmpeq_epi8(bits, _mm256_setzero_si256());
    char last_upper = mapping->ascii['A'] == 'a' ? 'Z' : 'A' - 1; /* none if case is kept */
    __m256i upper = _mm256_andnot_si256(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(last_upper)),
                                        _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8('A' - 1)));
    __m256i folded = _mm256_or_si256(bytes, _mm256_and_si256(upper, _mm256_set1_epi8(0x20)));
    *out_spaces = ~(uint32_t)_mm256_movemask_epi8(kept);
    return _mm256_blendv_epi8(_mm256_set1_epi8(' '), folded, kept);
}

static inline void write_ends(struct split *split, uint32_t spaces, uint32_t keep)
{
    uint32_t *ends = split->ends + split->words, left = spaces & keep;
    split->words += (size_t)__builtin_popcount(left);
    do {
        for (int i = 0; i < ENDS_AT_ONCE; i++) { /* more than there are do no harm */
            uint32_t before = (left & -left) - 1;
            *ends++ = (uint32_t)split->size + (uint32_t)__builtin_popcount(keep & before);
            left &= left - 1;
        }
    } while (left);
}

static inline void write_bytes_mapping(const struct mapping *mapping, struct split *split,
                                       __m256i bytes, uint32_t keep)
{
    uint8_t *out = split->bytes + split->size;
    split->size += (size_t)__builtin_popcount(keep);
    if (keep == UINT32_MAX) {
        _mm256_storeu_si256((__m256i *)out, bytes);
        return;
    }
    uint8_t flat[STEP];
    _mm256_storeu_si256((__m256i *)flat, bytes);
    for (int i = 0; i < STEP / 8; i++, keep >>= 8) {
        __m128i eight = _mm_loadl_epi64((const __m128i *)(flat + 8 * i));
        __m128i order = _mm_loadl_epi64((const __m128i *)mapping->squeeze[keep & 0xff]);
        _mm_storel_epi64((__m128i *)out, _mm_shuffle_epi8(eight, order));
        out += __builtin_popcount(keep & 0xff);
    }
}

static inline void step_mapping(const struct mapping *mapping, struct split *split, __m256i bytes,
                                uint32_t valid)
{
    uint32_t spaces;
    __m256i mapped = map_bytes(mapping, bytes, &spaces);
    spaces &= valid;
    uint32_t keep = valid & ~(spaces & (spaces << 1 | split->after_space));
    write_ends(split, spaces, keep);
    write_bytes_mapping(mapping, split, mapped, keep);
    split->long_word |= !spaces;
    split->after_space = spaces >> (31 - __builtin_clz(valid)) & 1;
}

bool split_avx2(struct split *out, const struct mapping *mapping, const uint8_t *bytes, size_t size)
{
    struct split split = *out;
    uint32_t high = 0;
    size_t at = 0;
    for (; at + STEP <= size; at += STEP) {
        __m256i part = _mm256_loadu_si256((const __m256i *)(bytes + at));
        high |= (uint32_t)_mm256_movemask_epi8(part);
        step_mapping(mapping, &split, part, UINT32_MAX);
    }
    if (at < size) {
        uint8_t last[STEP] = {0};
        memcpy(last, bytes + at, size - at);
        __m256i part = _mm256_loadu_si256((const __m256i *)last);
        high |= (uint32_t)_mm256_movemask_epi8(part);
        step_mapping(mapping, &split, part, UINT32_MAX >> (STEP - (size - at)));
    }
    *out = split;
    return !high;
}
