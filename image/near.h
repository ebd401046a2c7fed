/* Many words against one code, in all its mirror images at once. */
#ifndef DOPPEL_IMAGE_NEAR_H
#define DOPPEL_IMAGE_NEAR_H

#include <doppel/image.h>

/** The 16-bit lanes of a sorted word: bits that mirroring leaves alone, the three parities that it
 * negates, and three more that it leaves alone, above the 13 of the last. */
enum { NEAR_LANE_BITS = 16, NEAR_LAST_BITS = 13, NEAR_WAYS = 8 };

/** Bits of a sorted word that negating some of the parities (bit 0 to 2 of `way`) turns over. */
static inline uint64_t near_turned(unsigned way)
{
    return (way & 1 ? UINT64_C(0xffff) << NEAR_LANE_BITS : 0) |
           (way & 2 ? UINT64_C(0xffff) << 2 * NEAR_LANE_BITS : 0) |
           (way & 4 ? UINT64_C(0x1fff) << 3 * NEAR_LANE_BITS : 0);
}

/** Mirroring turns an even number of parities over; but it leaves one alone that a code lacks, and
 * then any number may be. What a code has of them in word 0, it has.
 * @param whole the code that is looked for has all */
static inline bool near_is_mirroring(bool whole, uint64_t word, unsigned way)
{
    return __builtin_popcount(way) % 2 == 0 || !whole || !(word & near_turned(1)) ||
           !(word & near_turned(2)) || !(word & near_turned(4));
}

/** Whether a sorted word is within the radius of the code's in some mirror image. */
static inline bool near_in_some_way(const struct doppel_image_probe *probe, uint64_t word,
                                    uint32_t radius)
{
    const uint64_t differ = probe->code.word[0] ^ word;
    bool near = false;
    for (unsigned way = 0; way < NEAR_WAYS && !near; way++)
        near = (uint32_t)__builtin_popcountll(differ ^ near_turned(way)) <= radius &&
               near_is_mirroring(probe->whole, word, way);
    return near;
}

static inline uint64_t near_word(const struct doppel_image_words *words, uint32_t number)
{
    return words->words[number / 8 * words->step + number % 8];
}

static inline size_t near_emit(const uint32_t *words, size_t count, size_t probe,
                               struct doppel_image_near *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (struct doppel_image_near){(uint16_t)words[i], (uint16_t)probe};
    return count;
}

/** The words near to one code. @param out room for `words->count`; numbers, ascending */
typedef size_t near_kernel(const struct doppel_image_probe *probe,
                           const struct doppel_image_words *words, uint32_t radius, uint32_t *out);
near_kernel near_portable, near_avx512;

/** As doppel_image_probes_scan. */
size_t near_avx2(const struct doppel_image_probe *probes, size_t probe_count,
                 const struct doppel_image_words *words, uint32_t radius,
                 struct doppel_image_near *out);

#endif
