/* Fingerprints for the tests of matching: random codes, and copies near them. */
#ifndef TESTS_MATCH_IMAGES_H
#define TESTS_MATCH_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <doppel/match.h>

/* Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
static inline uint64_t random_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A picture with the full view, the crops, and what else `views` has as bits. */
static inline struct doppel_fingerprint make_fingerprint(enum doppel_scheme_id scheme,
                                                         unsigned views, uint64_t *state)
{
    bool all_views = scheme == DOPPEL_SCHEME_PHASH64;
    views = all_views ? views | 1u : 1u;
    struct doppel_fingerprint made = {0};
    uint16_t bits = scheme == DOPPEL_SCHEME_IMAGEHASH ? 64 : 256;
    if (doppel_fingerprint_make(doppel_scheme_by_id(scheme), bits,
                                (uint32_t)__builtin_popcount(views), &made, NULL))
        abort();
    uint32_t at = 0;
    for (uint32_t view = 0; view < DOPPEL_VIEW_COUNT; view++) {
        if (!(views >> view & 1))
            continue;
        for (unsigned word = 0; word < bits / 64u; word++)
            made.codes[at].word[word] = random_word(state);
        made.positions[at++] = view;
    }
    return made;
}

static inline struct doppel_fingerprint copy_fingerprint(const struct doppel_fingerprint *source)
{
    struct doppel_fingerprint made = {0};
    if (doppel_fingerprint_make(doppel_scheme_by_id(source->scheme), source->code_bits,
                                source->count, &made, NULL))
        abort();
    for (uint32_t i = 0; i < source->count; i++) {
        made.codes[i] = source->codes[i];
        made.positions[i] = source->positions[i];
    }
    return made;
}

/* Flip about one bit in `sparsity` of every code. */
static inline void disturb(struct doppel_fingerprint *fingerprint, unsigned sparsity,
                           uint64_t *state)
{
    for (uint32_t i = 0; i < fingerprint->count; i++)
        for (unsigned bit = 0; bit < fingerprint->code_bits; bit++)
            if (random_word(state) % sparsity == 0)
                fingerprint->codes[i].word[bit / 64] ^= (uint64_t)1 << bit % 64;
}

static inline void turn(struct doppel_fingerprint *fingerprint, unsigned orientation)
{
    for (uint32_t i = 0; i < fingerprint->count; i++)
        fingerprint->codes[i] = doppel_image_orient(&fingerprint->codes[i], orientation);
}

#endif
