/* Rounding to bytes, and cosines of floats. */
#include "vector/rounded.h"

#include <math.h>

#include <doppel/vector.h>

bool vector_length(const float *x, size_t dimension, float *inverse)
{
    const double square = (double)vector_kernels_get()->dot_floats(x, x, dimension);
    *inverse = square > 0 ? (float)(1 / sqrt(square)) : 0;
    if (square != 0)
        return square > 1e-30 && square < 1e30;
    for (size_t j = 0; j < dimension; j++)
        if (x[j] != 0)
            return false; /* the squares of which are too small */
    return true;
}

void round_to_bytes(struct rounded_vector *vector, uint32_t dimension, int8_t *bytes)
{
    const float *x = vector->values;
    float largest = 0, lost = 0;
    for (uint32_t j = 0; j < dimension; j++)
        largest = fabsf(x[j]) > largest ? fabsf(x[j]) : largest;
    const float scale = largest * vector->inverse / INT8_MAX, by = INT8_MAX / largest;
    for (uint32_t j = 0; j < dimension; j++) {
        const float value = nearest_whole(x[j] * by);
        bytes[j] = (int8_t)(value > INT8_MAX ? INT8_MAX : value < -INT8_MAX ? -INT8_MAX : value);
        const float off = x[j] * vector->inverse - scale * bytes[j];
        lost += off * off;
    }
    const double up = ceil(sqrt((double)lost) * 65536) + 1;
    vector->scale = scale;
    vector->lost = up < UINT16_MAX ? (uint16_t)up : UINT16_MAX;
}

float doppel_vector_cosine(const float *a, const float *b, uint32_t dimension)
{
    float by_a, by_b;
    if (!vector_length(a, dimension, &by_a) || !vector_length(b, dimension, &by_b))
        return 0;
    return vector_kernels_get()->dot_floats(a, b, dimension) * (by_a * by_b);
}
