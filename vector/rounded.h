/* A vector as bytes, and what that takes from a dot product. */
#ifndef DOPPEL_VECTOR_ROUNDED_H
#define DOPPEL_VECTOR_ROUNDED_H

#include <stdbool.h>

#include "vector/kernels.h"
#include "vector/numbers.h"

/* @param inverse 1 / its length; 0: it has none
 * @return false: it holds what is no number, or its length cannot be computed with */
bool vector_length(const float *x, size_t dimension, float *inverse);

struct rounded_vector {
    const float *values;
    float inverse;
    const int8_t *bytes; /* in units of `scale`, the vector being of length 1 */
    float scale;
    uint16_t lost; /* length of what rounding took, 2^16 being 1, rounded up */
};

/* @param vector its values and inverse; scale and lost are set
 * @param bytes `dimension` of them; they are not set in the vector */
void round_to_bytes(struct rounded_vector *vector, uint32_t dimension, int8_t *bytes);

/* Of a dot product of two of them no more than this is lost. */
static inline float lost_of_dot(uint16_t a, uint16_t b)
{
    enum { SLACK = 8 }; /* 2^-16: of the product of what rounding took, and of sums of floats */
    const float took = (float)(a + b + SLACK) / 65536;
    return took * (1 + took);
}

#endif
