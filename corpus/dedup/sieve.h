/* Pairs whose signatures make a match all but impossible are not looked at closer. */
#ifndef DOPPEL_CORPUS_DEDUP_SIEVE_H
#define DOPPEL_CORPUS_DEDUP_SIEVE_H

#include <doppel/match.h>

enum { SIEVE_STEPS = 64, SIEVE_CLASSES = 3 };

/* A pair at the limit is lost with a chance of 10^-5 at most, on top of what the bands lose. */
struct sieve {
    uint32_t lanes;
    struct doppel_text_limits limits;
    uint16_t least[SIEVE_CLASSES][SIEVE_STEPS + 1]; /* equal lanes, by similarity in steps */
};

void sieve_init(struct sieve *sieve, uint32_t lanes, const struct doppel_text_limits *limits);

/** @param sizes of the two sets; 0: not known. @return false: it is not worth it */
bool sieve_passes(const struct sieve *sieve, const uint16_t *a, const uint16_t *b, uint32_t size_a,
                  uint32_t size_b);

/** Likewise by how many lanes are equal. */
bool sieve_passes_equal(const struct sieve *sieve, uint32_t equal, uint32_t size_a,
                        uint32_t size_b);

#endif
