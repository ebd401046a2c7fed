/* Levels: the mean of a vector's highest cosines with a sample; many of both at once. */
#ifndef DOPPEL_VECTOR_LEVELS_H
#define DOPPEL_VECTOR_LEVELS_H

#include <doppel/vector.h>

#include "vector/kernels.h"

enum { LEVEL_NEAREST_MAX = DOPPEL_VECTOR_COHORT_NEAREST_MAX, LEVEL_ROWS = 64 /* at once */ };

/* Vectors of length 1, less their mean, rounded to integers. Each PREFIX_DIMENSIONS_MAX dimensions,
 * a part, have blocks of their own. The few that are too long then, or have too large a component,
 * are compared by bytes, without subtracting the mean. */
struct level_sample {
    uint32_t dimension, parts;
    float one; /* how many units are 1: so that twice a dot product fits 16 bits */
    float *mean;
    uint32_t count, blocks;
    uint8_t *codes; /* of each part: blocks × PREFIX_BLOCK × its width */
    uint32_t *own; /* of each member its place in the blocks; or LEVEL_ODD and its place in bytes */
    uint32_t odd;  /* how many are compared by bytes */
    size_t stride; /* of bytes: a multiple of 32, with zeros at the end */
    int8_t *bytes; /* of the odd */
    float *scales;
    uint32_t nearest; /* cosines of which a level is the mean */
};

#define LEVEL_ODD (UINT32_C(1) << 31)

/* Zero-initialised it is empty. @return false: no memory; level_sample_free is still due */
bool level_sample_make(struct level_sample *sample, uint32_t dimension, uint32_t count);
void level_sample_free(struct level_sample *sample);

/* Fill one that was made for `count` vectors. @return `count`; or the number of a vector that holds
 * what is no number */
uint32_t level_sample_fill(struct level_sample *sample, const float *const *rows, uint32_t count);

/* Working memory of level_find; one for each thread. */
struct level_work;
struct level_work *level_work_new(const struct level_sample *sample); /* NULL: no memory */
void level_work_free(struct level_work *work);

/* Levels of up to LEVEL_ROWS vectors.
 * @param own of each, the member of the sample that it is, with which it is not compared;
 *     UINT32_MAX: none
 * @param levels 0 of a vector that has no direction, or holds what is no number
 * @return false: one holds what is no number */
bool level_find(struct level_work *work, const float *const *rows, const uint32_t *own,
                size_t count, float *levels);

#endif
