/* Arithmetic that several files here need. */
#ifndef DOPPEL_VECTOR_NUMBERS_H
#define DOPPEL_VECTOR_NUMBERS_H

#include <stdint.h>

#include "core/mix64.h"

/* Bits that look like chance, the same for the same number. */
static inline uint64_t chance_bits(uint64_t number)
{
    return mix64((number + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Of a number below 2^22: added to it and taken away again, this leaves no room for what is behind
 * the point. */
static inline float nearest_whole(float x)
{
    const float to_whole = 3 << 22;
    return x + to_whole - to_whole;
}

#endif
