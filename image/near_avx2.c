/* The same with AVX2, 256 words at once. Their half-bytes are sorted by place, so that the bits by
 * which one half-byte of 32 words differs from the code's are looked up in a table of 16; and they
 * are sorted once for all codes that are looked for. */
#include <immintrin.h>

#include "image/near.h"

enum {
    VECTOR = 32,
    VECTORS = DOPPEL_IMAGE_NEAR_WORDS / VECTOR,
    NIBBLES = 16,
    LANE_NIBBLES = 4,
    GROUP = 8
};

/* What the half-bytes of all words are, by place. */
struct near_planes {
    _Alignas(VECTOR) uint8_t nibbles[NIBBLES][DOPPEL_IMAGE_NEAR_WORDS];
};

/* Bits by which two half-bytes differ. */
static const _Alignas(16) uint8_t differing[16][16] = {
#define ONES(x) (((x)&1) + ((x) >> 1 & 1) + ((x) >> 2 & 1) + ((x) >> 3 & 1))
#define ROW(q)                                                                                     \
    {                                                                                              \
        ONES((q) ^ 0), ONES((q) ^ 1), ONES((q) ^ 2), ONES((q) ^ 3), ONES((q) ^ 4), ONES((q) ^ 5),  \
            ONES((q) ^ 6), ONES((q) ^ 7), ONES((q) ^ 8), ONES((q) ^ 9), ONES((q) ^ 10),            \
            ONES((q) ^ 11), ONES((q) ^ 12), ONES((q) ^ 13), ONES((q) ^ 14), ONES((q) ^ 15)         \
    }
    ROW(0), ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
    ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15)};

/* ---- sorting ---- */

/* Of 32 words the bytes of each place; which word byte i is of, word_of_byte says. */
static inline void transpose_words(const uint64_t *const groups[4], __m256i bytes[8])
{
    const __m256i pairs = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0,
                                           8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    __m256i of_two[8], of_four[8], of_eight[8];
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

/* Of the last half-byte counts the one bit that mirroring may negate: no more than is allowed may
 * be left out. */
static void sort_nibbles(const struct doppel_image_words *words, struct near_planes *out)
{
    static const uint64_t none[GROUP];
    const __m256i low = _mm256_set1_epi8(15);
    const size_t groups = (words->count + GROUP - 1) / GROUP;
    for (size_t vector = 0; vector * 4 < groups; vector++) {
        const uint64_t *of[4];
        __m256i bytes[8];
        for (size_t i = 0; i < 4; i++)
            of[i] = vector * 4 + i < groups ? words->words + (vector * 4 + i) * words->step : none;
        transpose_words(of, bytes);
        for (int i = 0; i < 8; i++) {
            const __m256i high =
                _mm256_and_si256(_mm256_srli_epi16(bytes[i], 4), i < 7 ? low : _mm256_set1_epi8(1));
            _mm256_store_si256((__m256i *)(void *)&out->nibbles[2 * i][vector * VECTOR],
                               _mm256_and_si256(bytes[i], low));
            _mm256_store_si256((__m256i *)(void *)&out->nibbles[2 * i + 1][vector * VECTOR], high);
        }
    }
}

/* ---- comparing ---- */

/* Bits of a lane by which each word differs. */
static inline __m256i count_lane(const __m256i tables[LANE_NIBBLES],
                                 const uint8_t (*nibbles)[DOPPEL_IMAGE_NEAR_WORDS], int vector)
{
    __m256i sums[LANE_NIBBLES];
    for (int i = 0; i < LANE_NIBBLES; i++)
        sums[i] = _mm256_shuffle_epi8(
            tables[i],
            _mm256_load_si256((const __m256i *)(const void *)&nibbles[i][vector * VECTOR]));
    return _mm256_add_epi8(_mm256_add_epi8(sums[0], sums[1]), _mm256_add_epi8(sums[2], sums[3]));
}

/* The least distances in all ways, whatever parities a code has. */
static inline void count_words(uint64_t code, const struct near_planes *planes,
                               __m256i distances[VECTORS])
{
    static const int lane_bits[4] = {0, NEAR_LANE_BITS, NEAR_LANE_BITS, NEAR_LAST_BITS};
    for (int lane = 0; lane < 4; lane++) {
        __m256i tables[LANE_NIBBLES];
        for (int i = 0; i < LANE_NIBBLES; i++)
            tables[i] = _mm256_broadcastsi128_si256(_mm_load_si128(
                (const __m128i *)(const void *)
                    differing[code >> (16 * lane + 4 * i) & (lane == 3 && i == 3 ? 1 : 15)]));
        const __m256i bits = _mm256_set1_epi8((char)lane_bits[lane]);
        for (int vector = 0; vector < VECTORS; vector++) {
            __m256i count = count_lane(tables, &planes->nibbles[LANE_NIBBLES * lane], vector);
            if (lane)
                count = _mm256_add_epi8(distances[vector],
                                        _mm256_min_epu8(count, _mm256_sub_epi8(bits, count)));
            distances[vector] = count;
        }
    }
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

size_t near_avx2(const struct doppel_image_probe *probes, size_t probe_count,
                 const struct doppel_image_words *words, uint32_t radius,
                 struct doppel_image_near *out)
{
    struct near_planes planes;
    uint32_t near[DOPPEL_IMAGE_NEAR_WORDS];
    size_t found = 0;
    sort_nibbles(words, &planes);
    for (size_t probe = 0; probe < probe_count; probe++) {
        __m256i distances[VECTORS];
        count_words(probes[probe].code.word[0], &planes, distances);
        __m256i least = distances[0];
        for (int vector = 1; vector < VECTORS; vector++)
            least = _mm256_min_epu8(least, distances[vector]);
        if (__builtin_expect(near_of_vector(least, _mm256_set1_epi8((char)radius)) == 0, 1))
            continue;
        const size_t count = list_near(&probes[probe], words, radius, distances, near);
        found += near_emit(near, count, probe, out + found);
    }
    return found;
}
