/* The same with AVX2, 256 words at once. Their half-bytes are sorted by place, so that the bits by
 * which one half-byte of 32 words differs from the code's are looked up in a table of 16; and they
 * are sorted once for all codes that are looked for. */
#include <immintrin.h>

#include "core/scratch.h"
#include "image/near.h"

enum {
    VECTOR = 32,
    VECTORS = DOPPEL_IMAGE_NEAR_WORDS / VECTOR,
    NIBBLES = 16,
    LANE_NIBBLES = 4,
    LAST = NIBBLES - 1, /* of a bit that mirroring may negate, and three that it leaves alone */
    GROUP = 8
};

/* What the half-bytes of all words are, by place; the last one's upper bits apart. */
struct near_planes {
    _Alignas(VECTOR) uint8_t nibbles[NIBBLES][DOPPEL_IMAGE_NEAR_WORDS];
    _Alignas(VECTOR) uint8_t above[DOPPEL_IMAGE_NEAR_WORDS];
};

/* Bits by which two half-bytes differ. */
static const _Alignas(16) uint8_t differing[16][16] = {
#define FOUR(x)                                                                                    \
    __builtin_popcount(x), __builtin_popcount((x) ^ 1), __builtin_popcount((x) ^ 2),               \
        __builtin_popcount((x) ^ 3)
#define ROW(x)                                                                                     \
    {                                                                                              \
        FOUR(x), FOUR((x) ^ 4), FOUR((x) ^ 8), FOUR((x) ^ 12)                                      \
    }
    ROW(0), ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
    ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15)};

/* ---- sorting ---- */

/* Of 32 words the bytes of each place; which word byte i is of, word_of_byte says. */
static inline void transpose_words(const uint64_t *const groups[4], __m256i bytes[8])
{
    const __m256i pairs = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0,
                                           8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    SCRATCH __m256i of_two[8], of_four[8], of_eight[8];
    for (int i = 0; i < 8; i++)
        of_two[i] = _mm256_shuffle_epi8(
            _mm256_loadu_si256((const __m256i *)(const void *)(groups[i / 2] + i % 2 * 4)), pairs);
    for (int i = 0; i < 8; i += 2) {
        of_four[i] = _mm256_unpacklo_epi16(of_two[i], of_two[i + 1]);
        of_four[i + 1] = _mm256_unpackhi_epi16(of_two[i], of_two[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int half = 0; half < 2; half++) {
            of_eight[i + 2 * half] =
                _mm256_unpacklo_epi32(of_four[i + half], of_four[i + 2 + half]);
            of_eight[i + 2 * half + 1] =
                _mm256_unpackhi_epi32(of_four[i + half], of_four[i + 2 + half]);
        }
    for (int i = 0; i < 4; i++) {
        bytes[2 * i] = _mm256_unpacklo_epi64(of_eight[i], of_eight[4 + i]);
        bytes[2 * i + 1] = _mm256_unpackhi_epi64(of_eight[i], of_eight[4 + i]);
    }
}

static inline uint32_t word_of_byte(uint32_t i)
{
    return (i & 15) / 2 * 4 + (i & 1) + i / 16 * 2;
}

static inline void store_plane(uint8_t *plane, size_t vector, __m256i bytes)
{
    _mm256_store_si256((__m256i *)(void *)(plane + vector * VECTOR), bytes);
}

/* All vectors: those that there are no words for count as 0. */
static void sort_nibbles(const struct doppel_image_words *words, struct near_planes *out)
{
    static const uint64_t none[GROUP];
    const __m256i low = _mm256_set1_epi8(15), first = _mm256_set1_epi8(1);
    const size_t groups = (words->count + GROUP - 1) / GROUP;
    for (size_t vector = 0; vector < VECTORS; vector++) {
        const uint64_t *of[4];
        SCRATCH __m256i bytes[8];
        for (size_t i = 0; i < 4; i++)
            of[i] = vector * 4 + i < groups ? words->words + (vector * 4 + i) * words->step : none;
        transpose_words(of, bytes);
        for (int i = 0; i < 8; i++) {
            const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes[i], 4), low);
            const bool last = 2 * i + 1 == LAST;
            store_plane(out->nibbles[2 * i], vector, _mm256_and_si256(bytes[i], low));
            store_plane(out->nibbles[2 * i + 1], vector,
                        last ? _mm256_and_si256(first, high) : high);
            if (last)
                store_plane(out->above, vector, _mm256_andnot_si256(first, high));
        }
    }
}

/* ---- comparing ---- */

static inline __m256i table_of(uint64_t nibble)
{
    return _mm256_broadcastsi128_si256(
        _mm_load_si128((const __m128i *)(const void *)differing[nibble]));
}

/* Bits by which a half-byte of each word differs. */
static inline __m256i count_nibble(__m256i table, const uint8_t *plane, int vector)
{
    return _mm256_shuffle_epi8(
        table, _mm256_load_si256((const __m256i *)(const void *)(plane + vector * VECTOR)));
}

/* What a lane adds to the distances: of one that may be negated (`bits` wide), the fewer of the
 * bits that differ and those that do not; before the first come the bits that lie above the last.
 */
static inline __attribute__((always_inline)) void add_lane(uint64_t code, int lane, int bits,
                                                           const struct near_planes *planes,
                                                           __m256i distances[VECTORS])
{
    const uint8_t(*nibbles)[DOPPEL_IMAGE_NEAR_WORDS] = &planes->nibbles[LANE_NIBBLES * lane];
    const uint64_t of_lane = code >> NEAR_LANE_BITS * lane;
    const __m256i all = _mm256_set1_epi8((char)bits);
    const __m256i a = table_of(of_lane & 15), b = table_of(of_lane >> 4 & 15);
    const __m256i c = table_of(of_lane >> 8 & 15);
    const __m256i d = table_of(of_lane >> 12 & (bits == NEAR_LAST_BITS ? 1 : 15));
    const __m256i above = table_of(code >> 4 * LAST & 14);
    for (int vector = 0; vector < VECTORS; vector++) {
        __m256i count = _mm256_add_epi8(_mm256_add_epi8(count_nibble(a, nibbles[0], vector),
                                                        count_nibble(b, nibbles[1], vector)),
                                        _mm256_add_epi8(count_nibble(c, nibbles[2], vector),
                                                        count_nibble(d, nibbles[3], vector)));
        distances[vector] =
            bits ? _mm256_add_epi8(distances[vector],
                                   _mm256_min_epu8(count, _mm256_sub_epi8(all, count)))
                 : _mm256_add_epi8(count, count_nibble(above, planes->above, vector));
    }
}

/* The least distances in all ways, whatever parities a code has. */
static inline void count_words(uint64_t code, const struct near_planes *planes,
                               __m256i distances[VECTORS])
{
    add_lane(code, 0, 0, planes, distances);
    add_lane(code, 1, NEAR_LANE_BITS, planes, distances);
    add_lane(code, 2, NEAR_LANE_BITS, planes, distances);
    add_lane(code, 3, NEAR_LAST_BITS, planes, distances);
}

static inline uint32_t near_of_vector(__m256i distances, __m256i radius)
{
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_cmpeq_epi8(_mm256_min_epu8(distances, radius), distances));
}

/* The words of a vector, from the first, that bytes of it belong to. */
static uint32_t words_of_bytes(uint32_t bytes)
{
    uint32_t words = 0;
    for (; bytes; bytes &= bytes - 1)
        words |= UINT32_C(1) << word_of_byte((uint32_t)__builtin_ctz(bytes));
    return words;
}

/* Exactly: mirroring turns over what a code does not lack. */
static size_t list_near(const struct doppel_image_probe *probe,
                        const struct doppel_image_words *words, uint32_t radius,
                        const __m256i distances[VECTORS], uint32_t *out)
{
    const __m256i most = _mm256_set1_epi8((char)radius);
    size_t found = 0;
    for (uint32_t vector = 0; vector < VECTORS; vector++)
        for (uint32_t near = words_of_bytes(near_of_vector(distances[vector], most)); near;
             near &= near - 1) {
            const uint32_t i = vector * VECTOR + (uint32_t)__builtin_ctz(near);
            if (i < words->count && near_in_some_way(probe, near_word(words, i), radius))
                out[found++] = i;
        }
    return found;
}

/* A function of its own: else what all codes have in common, which is too much for the registers,
 * is moved about on the stack instead of being read where it lies. */
static __attribute__((noinline)) size_t scan_planes(const struct doppel_image_probe *probe,
                                                    const struct doppel_image_words *words,
                                                    const struct near_planes *planes,
                                                    uint32_t radius, uint32_t *out)
{
    SCRATCH __m256i distances[VECTORS];
    count_words(probe->code.word[0], planes, distances);
    __m256i least = distances[0];
    for (int vector = 1; vector < VECTORS; vector++)
        least = _mm256_min_epu8(least, distances[vector]);
    if (__builtin_expect(near_of_vector(least, _mm256_set1_epi8((char)radius)) == 0, 1))
        return 0;
    return list_near(probe, words, radius, distances, out);
}

size_t near_avx2(const struct doppel_image_probe *probes, size_t probe_count,
                 const struct doppel_image_words *words, uint32_t radius,
                 struct doppel_image_near *out)
{
    enum { ALL = 64 };
    SCRATCH struct near_planes planes;
    SCRATCH uint32_t near[DOPPEL_IMAGE_NEAR_WORDS];
    const uint32_t most = radius < ALL ? radius : ALL; /* it fits in a byte */
    size_t found = 0;
    sort_nibbles(words, &planes);
    for (size_t probe = 0; probe < probe_count; probe++) {
        const size_t count = scan_planes(&probes[probe], words, &planes, most, near);
        found += near_emit(near, count, probe, out + found);
    }
    return found;
}
