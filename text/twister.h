/* The random numbers behind datasketch's permutations: numpy's RandomState(seed).randint. */
#ifndef DOPPEL_TEXT_TWISTER_H
#define DOPPEL_TEXT_TWISTER_H

#include <stdint.h>

enum { TWISTER_WORDS = 624 };

/* Mersenne Twister, 32 bits. Source: Matsumoto and Nishimura, MT19937 (1998). */
struct twister {
    uint32_t words[TWISTER_WORDS];
    uint32_t next;
};

void twister_seed(struct twister *twister, uint32_t seed);

/** From `low` to below `high`, drawn again until the bits that `high` needs give such a number. */
uint64_t twister_between(struct twister *twister, uint64_t low, uint64_t high);

#endif
