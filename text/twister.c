/* The random numbers behind datasketch's permutations: numpy's RandomState(seed).randint. */
#include "text/twister.h"

enum { TWIST_FAR = 397 };

void twister_seed(struct twister *twister, uint32_t seed)
{
    twister->words[0] = seed;
    for (uint32_t i = 1; i < TWISTER_WORDS; i++) {
        uint32_t before = twister->words[i - 1];
        twister->words[i] = 1812433253u * (before ^ before >> 30) + i;
    }
    twister->next = TWISTER_WORDS;
}

static void twist(struct twister *twister)
{
    uint32_t *words = twister->words;
    for (uint32_t i = 0; i < TWISTER_WORDS; i++) {
        uint32_t mixed = (words[i] & 0x80000000u) | (words[(i + 1) % TWISTER_WORDS] & 0x7fffffffu);
        words[i] =
            words[(i + TWIST_FAR) % TWISTER_WORDS] ^ mixed >> 1 ^ (mixed & 1 ? 0x9908b0dfu : 0);
    }
    twister->next = 0;
}

static uint32_t draw32(struct twister *twister)
{
    if (twister->next == TWISTER_WORDS)
        twist(twister);
    uint32_t word = twister->words[twister->next++];
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
}

uint64_t twister_between(struct twister *twister, uint64_t low, uint64_t high)
{
    uint64_t range = high - 1 - low, value;
    uint64_t mask = UINT64_MAX >> __builtin_clzll(range | 1);
    do {
        value = (uint64_t)draw32(twister) << 32;
        value = (value | draw32(twister)) & mask;
    } while (value > range);
    return low + value;
}
