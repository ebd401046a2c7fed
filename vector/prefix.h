/* Prefixes: a vector of length 1 as a few small integers, and what they leave out. */
#ifndef DOPPEL_VECTOR_PREFIX_H
#define DOPPEL_VECTOR_PREFIX_H

#include "vector/basis.h"
#include "vector/kernels.h"

struct prefix {
    int8_t values[PREFIX_DIMENSIONS_MAX]; /* -PREFIX_MOST to PREFIX_MOST */
    int16_t head_rest, rest, error;       /* as in struct prefix_blocks */
};

/* @param components as many as a prefix has, of a vector of length 1 */
void prefix_make(const float *components, uint32_t width, struct prefix *out);

/* The square of its length, of which PREFIX_ONE² are 1. */
int32_t prefix_square(const int8_t *values, uint32_t width);

/* Into place `at` of blocks. */
void prefix_put(const int8_t *values, uint32_t width, uint8_t *codes, size_t at);

/* From place `at`. */
void prefix_values(const struct prefix_blocks *blocks, size_t at, int8_t *values);

/* As it is compared with blocks; but for its rest, and what its bounds are to be above. */
void prefix_spread(const int8_t *values, uint32_t width, struct prefix_spread *out);

/* What is above it as a bound may have a cosine of at least `min_cosine` with a prefix. */
int16_t prefix_below(float min_cosine, int16_t error);

#endif
