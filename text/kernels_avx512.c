/* The kernels with AVX-512: eight hashes at a time. Bits as those of the portable ones. */
#include "text/hash.h"
#include "text/kernels.h"

#include <immintrin.h>

enum {
    LANES = 8,
    BINS_STEP = 256, /* numbers that fit a byte */
    LOW_LIMIT = 0x20000000,
    FILTER_BELOW = 0x90000000, /* the filter costs more than it spares above */
    FLUSH_ROUNDS = 31          /* of 8 each, in a byte */
};

/* ---- units ---- */

static inline __m512i mix_eight(__m512i hashes, uint64_t factor)
{
    hashes = _mm512_mullo_epi64(hashes, _mm512_set1_epi64((long long)factor));
    return _mm512_xor_si512(hashes, _mm512_srli_epi64(hashes, 32));
}

static inline __m512i absorb_eight(__m512i low, __m512i high)
{
    const __m512i first = _mm512_set1_epi64((long long)ROOT_2);
    return mix_eight(_mm512_xor_si512(mix_eight(_mm512_xor_si512(first, low), ROOT_3), high),
                     ROOT_5);
}

static inline __m512i load_pair(__m512i pairs, int place, const uint8_t *word)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)word);
    return _mm512_mask_broadcast_i64x2(pairs, (__mmask8)(3 << 2 * place), bytes);
}

/* What lies beyond the first `bytes` of eight; none is 0. */
static inline __m512i beyond_kernels_avx512(__m512i bytes)
{
    return _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_slli_epi64(bytes, 3));
}

/* Eight words, of which the first begins at `start`; those over 16 bytes come out wrong. */
static inline __m512i hash_eight(const uint8_t *bytes, uint32_t start, const uint32_t *ends,
                                 __m512i sizes)
{
    const uint8_t *words = bytes + 1;
    __m512i even = load_pair(_mm512_setzero_si512(), 0, bytes + start);
    __m512i odd = load_pair(_mm512_setzero_si512(), 0, words + ends[0]);
    for (int i = 1; i < 4; i++) {
        even = load_pair(even, i, words + ends[2 * i - 1]);
        odd = load_pair(odd, i, words + ends[2 * i]);
    }
    __m512i low =
        _mm512_andnot_si512(beyond_kernels_avx512(sizes), _mm512_unpacklo_epi64(even, odd));
    __m512i more =
        _mm512_max_epi64(_mm512_sub_epi64(sizes, _mm512_set1_epi64(8)), _mm512_setzero_si512());
    __m512i high =
        _mm512_andnot_si512(beyond_kernels_avx512(more), _mm512_unpackhi_epi64(even, odd));
    return absorb_eight(low, high);
}

static void hash_words(const uint8_t *bytes, uint32_t start, const uint32_t *ends, size_t count,
                       uint64_t *out)
{
    size_t i = 0;
    __m256i before = _mm256_set1_epi32((int)(start - 1));
    for (; i + LANES <= count; i += LANES) {
        __m256i these = _mm256_loadu_si256((const __m256i *)(const void *)(ends + i));
        __m256i starts = _mm256_alignr_epi32(these, before, 7);
        __m256i sizes = _mm256_sub_epi32(_mm256_sub_epi32(these, starts), _mm256_set1_epi32(1));
        _mm512_storeu_si512(out + i,
                            hash_eight(bytes, start, ends + i, _mm512_cvtepi32_epi64(sizes)));
        unsigned wrong = _mm256_cmpgt_epi32_mask(sizes, _mm256_set1_epi32(16));
        for (; __builtin_expect(wrong, 0); wrong &= wrong - 1) {
            size_t word = i + (size_t)__builtin_ctz(wrong);
            uint32_t from = word ? ends[word - 1] + 1 : start;
            out[word] = hash_word(bytes + from, ends[word] - from);
        }
        before = these;
        start = ends[i + LANES - 1] + 1;
    }
    for (; i < count; i++) {
        out[i] = hash_word(bytes + start, ends[i] - start);
        start = ends[i] + 1;
    }
}

static void hash_ascii(const uint8_t *bytes, uint64_t *out)
{
    for (size_t i = 0; i < 64; i += LANES) {
        __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)(bytes + i));
        _mm512_storeu_si512(out + i,
                            absorb_eight(_mm512_cvtepu8_epi64(eight), _mm512_setzero_si512()));
    }
}

static size_t hash_characters(const uint8_t *bytes, size_t size, uint64_t *out)
{
    size_t at = 0, count = 0;
    while (at + 64 <= size) {
        size_t end = at + 64;
        if (!_mm512_movepi8_mask(_mm512_loadu_si512(bytes + at))) {
            hash_ascii(bytes + at, out + count);
            count += 64;
            at = end;
        }
        while (at < end)
            out[count++] = hash_code_point(next_code_point(bytes, &at));
    }
    while (at < size)
        out[count++] = hash_code_point(next_code_point(bytes, &at));
    return count;
}

static size_t count_characters(const uint8_t *bytes, size_t size)
{
    const __m512i last_inner = _mm512_set1_epi8((char)0xbf);
    size_t count = 0;
    for (size_t i = 0; i < size; i += 64) {
        __mmask64 there = size - i < 64 ? (UINT64_C(1) << (size - i)) - 1 : UINT64_MAX;
        __m512i block = _mm512_maskz_loadu_epi8(there, bytes + i);
        count +=
            (size_t)__builtin_popcountll(_mm512_mask_cmpgt_epi8_mask(there, block, last_inner));
    }
    return count;
}

/* ---- shingles ---- */

static inline __m512i turn_kernels_avx512(__m512i units, uint32_t place)
{
    return _mm512_rolv_epi64(units, _mm512_set1_epi64(shingle_turn(place)));
}

static void shingles_of_kernels_avx512(const uint64_t *units, size_t count, uint32_t shingle,
                                       uint64_t *out)
{
    for (size_t i = 0; i < count; i += LANES) {
        __m512i hashes = _mm512_loadu_si512(units + i);
        for (uint32_t place = 1; place < shingle; place++)
            hashes = _mm512_xor_si512(
                hashes, turn_kernels_avx512(_mm512_loadu_si512(units + i + place), place));
        _mm512_storeu_si512(out + i, mix_eight(hashes, ROOT_7));
    }
}

/* Shingles of five, from two to four, without loads that straddle cache lines. */
static void shingles_of_five(const uint64_t *units, size_t count, uint64_t *out)
{
    __m512i here = _mm512_loadu_si512(units);
    __m512i next = _mm512_loadu_si512(units + LANES);
    __m512i twos =
        _mm512_xor_si512(here, turn_kernels_avx512(_mm512_alignr_epi64(next, here, 1), 1));
    for (size_t i = 0; i < count; i += LANES) {
        __m512i after = _mm512_loadu_si512(units + i + 2 * LANES);
        __m512i next_twos =
            _mm512_xor_si512(next, turn_kernels_avx512(_mm512_alignr_epi64(after, next, 1), 1));
        __m512i fours =
            _mm512_xor_si512(twos, turn_kernels_avx512(_mm512_alignr_epi64(next_twos, twos, 2), 2));
        __m512i fives =
            _mm512_xor_si512(fours, turn_kernels_avx512(_mm512_alignr_epi64(next, here, 4), 4));
        _mm512_storeu_si512(out + i, mix_eight(fives, ROOT_7));
        here = next;
        next = after;
        twos = next_twos;
    }
}

static void shingles(const uint64_t *units, size_t count, uint32_t shingle, uint64_t *out)
{
    if (shingle == 5)
        shingles_of_five(units, count, out);
    else
        shingles_of_kernels_avx512(units, count, shingle, out);
}

/* ---- bins ---- */

/* The greatest value of any bin: what is not below it changes none. */
static uint32_t greatest(const uint32_t *bins, uint32_t lanes)
{
    __m512i most = _mm512_setzero_si512();
    for (uint32_t i = 0; i < lanes; i += 16)
        most = _mm512_max_epu32(most, _mm512_min_epu32(_mm512_load_si512(bins + i),
                                                       _mm512_load_si512(bins + lanes + i)));
    return _mm512_reduce_max_epu32(most);
}

/* Which of 64 hashes have a value below the limit. */
static uint64_t below(const uint64_t *hashes, uint32_t limit)
{
    const __m512i low_halves =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        __m512i values = _mm512_permutex2var_epi32(_mm512_loadu_si512(hashes + i), low_halves,
                                                   _mm512_loadu_si512(hashes + i + LANES));
        __mmask16 some = _mm512_cmplt_epu32_mask(values, _mm512_set1_epi32((int)limit));
        mask |= (uint64_t)some << i;
    }
    return mask;
}

/* The numbers of those below the limit; how many. `kept` has room for 64 more. */
static size_t keep_below(const uint64_t *hashes, size_t count, uint32_t limit, uint8_t *kept)
{
    static const uint8_t first[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    __m512i numbers = _mm512_loadu_si512(first);
    size_t size = 0;
    for (size_t i = 0; i < count; i += 64) {
        uint64_t there = count - i < 64 ? (UINT64_C(1) << (count - i)) - 1 : UINT64_MAX;
        uint64_t keep = below(hashes + i, limit) & there;
        _mm512_storeu_si512(kept + size, _mm512_maskz_compress_epi8(keep, numbers));
        size += (size_t)__builtin_popcountll(keep);
        numbers = _mm512_add_epi8(numbers, _mm512_set1_epi8(64));
    }
    return size;
}

static void lower_below(uint32_t *bins, uint32_t lanes, const uint64_t *hashes, size_t count,
                        uint32_t limit)
{
    uint8_t kept[BINS_STEP + 64];
    count = keep_below(hashes, count, limit, kept);
    for (size_t i = 0; i < count; i++)
        lower_bin(bins + i % MINHASH_COPIES * lanes, bin_shift(lanes), hashes[kept[i]]);
}

/* Looking at all bins waits for those just written: not again once few hashes pass. */
static inline __attribute__((always_inline)) void lower_all(uint32_t *bins, uint32_t lanes,
                                                            const uint64_t *hashes, size_t count)
{
    uint32_t limit = greatest(bins, lanes);
    for (size_t i = 0; i < count; i += BINS_STEP) {
        size_t some = count - i < BINS_STEP ? count - i : BINS_STEP;
        if (i && limit >= LOW_LIMIT)
            limit = greatest(bins, lanes);
        if (limit >= FILTER_BELOW)
            lower_bins(bins, lanes, hashes + i, some);
        else
            lower_below(bins, lanes, hashes + i, some, limit);
    }
}

static void bins(uint32_t *bins, uint32_t lanes, const uint64_t *hashes, size_t count)
{
    if (lanes == 128)
        lower_all(bins, 128, hashes, count);
    else
        lower_all(bins, 256, hashes, count);
}

/* ---- empty bins ---- */

/* Which bins are not: a byte each. */
static void find_full(const uint32_t *bins, uint32_t lanes, __m512i full[4])
{
    for (uint32_t i = 0; i < lanes; i += 64) {
        uint64_t mask = 0;
        for (uint32_t j = 0; j < 64; j += 16)
            mask |= (uint64_t)_mm512_cmpneq_epi32_mask(_mm512_load_si512(bins + i + j),
                                                       _mm512_set1_epi32(-1))
                    << j;
        full[i / 64] = _mm512_movm_epi8(mask);
    }
}

/* Which of 64 bins, a byte each, are full. */
static inline uint64_t are_full(const __m512i full[4], uint32_t lanes, __m512i others)
{
    __m512i found = _mm512_permutex2var_epi8(full[0], others, full[1]);
    if (lanes > 128)
        found = _mm512_mask_mov_epi8(found, _mm512_movepi8_mask(others),
                                     _mm512_permutex2var_epi8(full[2], others, full[3]));
    return _mm512_movepi8_mask(found);
}

static uint32_t find_other(const __m512i full[4], uint32_t lanes, uint32_t bin)
{
    const __m512i turns = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    for (uint32_t turn = 0;; turn += LANES) {
        __m512i places = _mm512_add_epi64(turns, _mm512_set1_epi64((long long)bin << 16 | turn));
        __m512i others = absorb_eight(places, _mm512_setzero_si512());
        uint64_t mask = are_full(full, lanes, others);
        if (mask) {
            uint8_t bytes[64];
            _mm512_storeu_si512(bytes, others);
            return bytes[__builtin_ctzll(mask)] & (lanes - 1);
        }
    }
}

static void fill_empty_bins(const uint32_t *bins, uint32_t lanes, uint16_t *out)
{
    __m512i full[4] = {0};
    find_full(bins, lanes, full);
    for (uint32_t bin = 0; bin < lanes; bin++)
        if (bins[bin] == EMPTY_BIN)
            out[bin] = (uint16_t)bins[find_other(full, lanes, bin)];
}

/* ---- bits ---- */

static void add_lanes(__m512i *counts, __m512i hashes)
{
    uint64_t masks[LANES];
    _mm512_storeu_si512(masks, hashes);
    for (int i = 0; i < LANES; i++)
        *counts = _mm512_mask_add_epi8(*counts, masks[i], *counts, _mm512_set1_epi8(1));
}

static void flush_kernels_avx512(__m512i *counts, int64_t weight, int64_t sums[64])
{
    uint8_t bytes[64];
    _mm512_storeu_si512(bytes, *counts);
    for (int i = 0; i < 64; i++)
        sums[i] += weight * bytes[i];
    *counts = _mm512_setzero_si512();
}

/* A full adder in each bit: `*sum` + a + b, the carry returned. */
static __m512i add_bits_fully(__m512i *sum, __m512i a, __m512i b)
{
    __m512i carry = _mm512_ternarylogic_epi64(*sum, a, b, 0xe8);
    *sum = _mm512_ternarylogic_epi64(*sum, a, b, 0x96);
    return carry;
}

/* Sums of bits in place: level i weighs 2^i. Source: Harley and Seal's counter, as in Muła, Kurz
 * and Lemire, "Faster Population Counts Using AVX2 Instructions" (2018). */
static __m512i add_vectors(__m512i levels[4], const uint64_t *hashes)
{
    __m512i carries[8];
    for (int i = 0; i < 8; i++)
        carries[i] = add_bits_fully(&levels[0], _mm512_loadu_si512(hashes + 2 * LANES * i),
                                    _mm512_loadu_si512(hashes + 2 * LANES * i + LANES));
    for (int i = 0; i < 4; i++)
        carries[i] = add_bits_fully(&levels[1], carries[2 * i], carries[2 * i + 1]);
    for (int i = 0; i < 2; i++)
        carries[i] = add_bits_fully(&levels[2], carries[2 * i], carries[2 * i + 1]);
    return add_bits_fully(&levels[3], carries[0], carries[1]);
}

static void count_bits(const uint64_t *hashes, size_t count, int64_t sums[64])
{
    __m512i levels[4] = {0}, counts = _mm512_setzero_si512();
    size_t i = 0, rounds = 0;
    for (; i + 16 * LANES <= count; i += 16 * LANES) {
        add_lanes(&counts, add_vectors(levels, hashes + i));
        if (++rounds % FLUSH_ROUNDS == 0)
            flush_kernels_avx512(&counts, 16, sums);
    }
    flush_kernels_avx512(&counts, 16, sums);
    for (int level = 0; level < 4 && rounds; level++) {
        add_lanes(&counts, levels[level]);
        flush_kernels_avx512(&counts, 1 << level, sums);
    }
    for (; i < count; i++)
        counts = _mm512_mask_add_epi8(counts, hashes[i], counts, _mm512_set1_epi8(1));
    flush_kernels_avx512(&counts, 1, sums);
}

const struct sketch_kernels sketch_kernels_avx512 = {
    hash_words, hash_characters, shingles, bins, fill_empty_bins, count_bits, count_characters,
};
