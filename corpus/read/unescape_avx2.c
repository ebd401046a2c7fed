/* Escapes of one letter in JSON strings, 64 bytes at a time, with AVX2: the bytes that are escaped
 * are looked up, the backslashes before them moved away, 8 bytes at a time. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "corpus/read/escapes.h"
#include "corpus/read/unescape.h"

/* Where the bytes of eight that are kept come from, a table of all ways to keep some. */
#define PLACE(kept, i)                                                                             \
    (((uint64_t)(kept) >> (i)&1) * (i) << 8 * __builtin_popcount((kept) & ((1 << (i)) - 1)))
#define PLACES(kept)                                                                               \
    PLACE(kept, 1) | PLACE(kept, 2) | PLACE(kept, 3) | PLACE(kept, 4) | PLACE(kept, 5) |           \
        PLACE(kept, 6) | PLACE(kept, 7)
#define PLACES_4(kept) PLACES(kept), PLACES(kept + 1), PLACES(kept + 2), PLACES(kept + 3)
#define PLACES_16(kept) PLACES_4(kept), PLACES_4(kept + 4), PLACES_4(kept + 8), PLACES_4(kept + 12)
#define PLACES_64(kept)                                                                            \
    PLACES_16(kept), PLACES_16(kept + 16), PLACES_16(kept + 32), PLACES_16(kept + 48)

static const uint64_t places[256] = {PLACES_64(0), PLACES_64(64), PLACES_64(128), PLACES_64(192)};

static inline __m256i twice(__m128i half)
{
    return _mm256_broadcastsi128_si256(half);
}

/* What letters stand for, and which are none: `"`, `/` and `\` for themselves, the others by their
 * lower four bits, of which those of `r` and `t` are made others than those of `b` and `f`. */
static inline __m256i look_letters_up(__m256i bytes, __m256i *out_known)
{
    const __m256i themselves =
        twice(_mm_setr_epi8(-1, 0, '"', 0, 0, 0, 0, 0, 0, 0, 0, 0, '\\', 0, 0, '/'));
    const __m256i letters =
        twice(_mm_setr_epi8(-1, 0, 'b', 'r', 0, 't', 'f', 0, 0, 0, 0, 0, 0, 0, 'n', 0));
    const __m256i plain =
        twice(_mm_setr_epi8(0, 0, '\b', '\r', 0, '\t', '\f', 0, 0, 0, 0, 0, 0, 0, '\n', 0));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(1));
    __m256i place = _mm256_xor_si256(bytes, odd);
    __m256i same = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(themselves, bytes), bytes);
    __m256i letter = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(letters, place), bytes);
    *out_known = _mm256_or_si256(same, letter);
    return _mm256_blendv_epi8(bytes, _mm256_shuffle_epi8(plain, place), letter);
}

/* Byte i is all ones where bit i is. */
static inline __m256i mask_of_bits(uint32_t bits)
{
    const __m256i from =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    __m256i each = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), from);
    return _mm256_cmpeq_epi8(_mm256_and_si256(each, bit), bit);
}

/* The half of a chunk as it is without escapes. @return which bytes are known letters */
static inline uint32_t replace_letters(__m256i bytes, uint32_t escaped, uint8_t *out)
{
    __m256i known, plain = look_letters_up(bytes, &known);
    plain = _mm256_blendv_epi8(bytes, plain, mask_of_bits(escaped));
    _mm256_storeu_si256((__m256i *)out, plain);
    return (uint32_t)_mm256_movemask_epi8(known);
}

/* The bytes that are kept; up to eight more are written over. */
static inline char *keep_bytes(const uint8_t *bytes, uint64_t keep, char *out)
{
    for (int i = 0; i < ESCAPES_CHUNK / 8; i++, keep >>= 8) {
        __m128i eight = _mm_loadl_epi64((const __m128i *)(bytes + 8 * i));
        __m128i from = _mm_loadl_epi64((const __m128i *)&places[keep & 255]);
        _mm_storel_epi64((__m128i *)out, _mm_shuffle_epi8(eight, from));
        out += __builtin_popcountll(keep & 255);
    }
    return out;
}

static inline uint32_t backslashes_of(__m256i bytes)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\')));
}

void unescape_simple_avx2(const char **in, const char *end, char **out)
{
    while (end - *in >= ESCAPES_CHUNK) {
        __m256i low = _mm256_loadu_si256((const __m256i *)*in);
        __m256i high = _mm256_loadu_si256((const __m256i *)(*in + 32));
        uint64_t escapes = find_escapes(backslashes_of(low) | (uint64_t)backslashes_of(high) << 32);
        uint8_t bytes[ESCAPES_CHUNK];
        uint64_t escaped = escapes << 1;
        uint64_t known = replace_letters(low, (uint32_t)escaped, bytes);
        known |= (uint64_t)replace_letters(high, (uint32_t)(escaped >> 32), bytes + 32) << 32;
        uint64_t others = (escaped & ~known) >> 1;
        others |= escapes & UINT64_C(1) << (ESCAPES_CHUNK - 1); /* what it begins is not here */
        size_t size = others ? (size_t)__builtin_ctzll(others) : ESCAPES_CHUNK;
        *out = keep_bytes(bytes, first_bits(size) & ~escapes, *out);
        *in += size;
        if (others)
            return;
    }
}
