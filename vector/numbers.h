/* Arithmetic that several files here need. */
#ifndef DOPPEL_VECTOR_NUMBERS_H
#define DOPPEL_VECTOR_NUMBERS_H

#include <stdint.h>

/* Bits that look like chance, the same for the same number. SplitMix64, of Steele, Lea and Flood,
 * "Fast Splittable Pseudorandom Number Generators" (2014). */
static inline uint64_t chance_bits(uint64_t number)
{
    uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Of a number below 2^22: added to it and taken away again, this leaves no room for what is behind
 * the point. */
static inline float nearest_whole(float x)
{
    const float to_whole = 3 << 22;
    return x + to_whole - to_whole;
}

#endif
