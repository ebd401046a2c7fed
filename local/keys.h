/* Keys of codes, and what a posting says of a point beside its item: its angle and scale. */
#ifndef DOPPEL_LOCAL_KEYS_H
#define DOPPEL_LOCAL_KEYS_H

#include "local/local_internal.h"

enum { KEY_PROBES = 1 << CODE_UNSURE_KEY };

static inline uint32_t point_key(const struct doppel_code *code)
{
    return (uint32_t)code->word[0] & ((1u << CODE_KEY_BITS) - 1);
}

/** The key, and those that differ from it in unsure bits. */
static inline void key_probes(const struct doppel_code *code, uint32_t out[KEY_PROBES])
{
    uint32_t unsure = (uint32_t)(code->word[0] >> CODE_FIRST_BITS) & ((1u << CODE_KEY_BITS) - 1);
    uint32_t subset = 0;
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
