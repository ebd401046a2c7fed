/* Vectors by chance, of several kinds. */
#ifndef DOPPEL_TEST_VECTORS_H
#define DOPPEL_TEST_VECTORS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* SplitMix64 */
static inline uint64_t random_bits(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline double random_share(uint64_t *seed)
{
    return (double)(random_bits(seed) >> 11) / 9007199254740992.0;
}

/* About normal: a sum of four. */
static inline float random_normal(uint64_t *seed)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += random_share(seed) - 0.5;
    return (float)(sum * sqrt(3));
}

enum vector_shape {
    SHAPE_EVEN,     /* all directions alike */
    SHAPE_FAMILIES, /* around some of the others, as near as chance will have it */
    SHAPE_LOPSIDED, /* with a large mean, and few directions that matter */
    SHAPE_AXES,     /* one number that is not 0 */
    SHAPE_SAME,     /* all the same, but for their length */
    SHAPE_ODD,      /* of very different lengths, zeros among them */
    SHAPE_COUNT
};

static inline void random_vector(enum vector_shape shape, size_t i, uint32_t dimension,
                                 const float *before, uint64_t *seed, float *out)
{
    const float *model = i ? before + random_bits(seed) % i * dimension : before;
    const float off = (float)(random_share(seed) * 0.8);
    const double length = shape == SHAPE_ODD ? pow(10, random_share(seed) * 20 - 10) : 1;
    for (uint32_t j = 0; j < dimension; j++) {
        const float normal = random_normal(seed);
        float x = normal;
        if (shape == SHAPE_FAMILIES && i % 4)
            x = model[j] + normal * off;
        else if (shape == SHAPE_LOPSIDED)
            x = 1 + normal / (float)(1 + j);
        else if (shape == SHAPE_AXES)
            x = j == i % dimension ? normal : 0;
        else if (shape == SHAPE_SAME)
            x = (float)(i + 1) * (float)(j % 7 - 3.0);
        out[j] = x * (float)length;
    }
    if (shape == SHAPE_ODD && i % 10 == 3)
        for (uint32_t j = 0; j < dimension; j++)
            out[j] = 0;
}

/* Given (free). */
static inline float *random_vectors(enum vector_shape shape, size_t count, uint32_t dimension,
                                    uint64_t seed)
{
    float *rows = malloc((count * dimension + 1) * sizeof *rows);
    for (size_t i = 0; rows && i < count; i++)
        random_vector(shape, i, dimension, rows, &seed, rows + i * dimension);
    return rows;
}

#endif
