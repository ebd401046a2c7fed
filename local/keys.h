/* Keys of codes, and what a posting says of a point beside its item: its angle and scale. */
#ifndef DOPPEL_LOCAL_KEYS_H
#define DOPPEL_LOCAL_KEYS_H

#include "local/local_internal.h"

enum { KEY_PROBES = 1 << CODE_UNSURE_KEY };

static inline uint32_t point_key(const struct doppel_code *code)
{
    return (uint32_t)code->word[0] & ((1u << CODE_KEY_BITS) - 1);
}

/* Of the key, the bits that differ in copies most often. */
enum { KEY_WEAK_BITS = 10 };
static const uint8_t key_weak_bits[KEY_WEAK_BITS] = {15, 16, 22, 19, 13, 12, 3, 9, 14, 18};

/** The key, and those that differ from it in one bit, or two of those that often do. */
static inline void key_usual_probes(uint32_t key, uint32_t out[KEY_PROBES])
{
    size_t count = 0;
    out[count++] = key;
    for (unsigned i = 0; i < CODE_KEY_BITS; i++)
        out[count++] = key ^ 1u << i;
    for (unsigned i = 1; i < KEY_WEAK_BITS; i++)
        for (unsigned k = 0; k < i && count < KEY_PROBES; k++)
            out[count++] = key ^ 1u << key_weak_bits[i] ^ 1u << key_weak_bits[k];
}

/** The key, and those that differ from it in unsure bits; of a library's points, which have no
 * marks of these, in usual ones. */
static inline void key_probes(const struct doppel_code *code, uint32_t out[KEY_PROBES])
{
    uint32_t unsure = (uint32_t)(code->word[0] >> CODE_FIRST_BITS) & ((1u << CODE_KEY_BITS) - 1);
    uint32_t subset = 0;
    if (!unsure) {
        key_usual_probes(point_key(code), out);
        return;
    }
    for (size_t i = 0; i < KEY_PROBES; i++) {
        out[i] = point_key(code) ^ subset;
        subset = (subset - unsure) & unsure;
    }
}

/* Quarters of a scale's octave, and of a step of 90 / 8 degrees, are left out. */
enum { POSTING_SCALES = 8, POSTING_ANGLES = 32 };

static inline uint32_t posting_of(int32_t angle, int32_t scale)
{
    return (uint32_t)angle >> 2 << 3 | (uint32_t)scale >> 2;
}

#endif
