/* 64 bits that look like chance, the same for the same number. SplitMix64, of Steele, Lea and
 * Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
#ifndef DOPPEL_CORE_MIX64_H
#define DOPPEL_CORE_MIX64_H

#include <stdint.h>

/* Each bit of a number depends on each bit of the other one, and none is lost. */
static inline uint64_t mix64(uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

/* The next of a sequence, which begins anywhere. */
static inline uint64_t next_mix64(uint64_t *state)
{
    return mix64(*state += UINT64_C(0x9e3779b97f4a7c15));
}

#endif
