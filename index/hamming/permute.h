/* The bits of codes, permuted so that each chunk's are as little correlated as can be: on skewed
 * codes buckets stay small. */
#ifndef DOPPEL_INDEX_HAMMING_PERMUTE_H
#define DOPPEL_INDEX_HAMMING_PERMUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct permuter; /* applies a permutation and its inverse */

/** @param places where each of `bits` bits goes; borrowed
 * @return NULL without memory, or when it is no permutation (*out_valid false) */
struct permuter *permuter_new(const uint8_t *places, uint32_t bits, bool *out_valid);
void permuter_free(struct permuter *permuter);

/** Whether it changes nothing. */
bool permuter_idle(const struct permuter *permuter);

/** Permute a code; `code` and `out` may be the same. */
void permute(const struct permuter *permuter, const uint64_t *code, uint64_t *out);
void permute_back(const struct permuter *permuter, const uint64_t *code, uint64_t *out);

/** Choose places from a sample of codes: bit places k × prefix … are chunk k. */
bool permutation_choose(const uint64_t *sample, size_t count, uint32_t bits, uint32_t chunks,
                        uint32_t prefix, uint8_t *out_places);

#endif
