/* The choice of a permutation. */
#include "index/hamming_permute.h"

bool permutation_choose(const uint64_t *sample, size_t count, uint32_t bits, uint32_t chunks,
                        uint32_t prefix, uint8_t *out_places)
{
    (void)sample;
    (void)count;
    (void)chunks;
    (void)prefix;
    for (uint32_t bit = 0; bit < bits; bit++)
        out_places[bit] = (uint8_t)bit;
    return true;
}
