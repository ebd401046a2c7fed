/* The highest cosines of vectors with a sample: many of both at once. */
#ifndef DOPPEL_VECTOR_LEVELS_H
#define DOPPEL_VECTOR_LEVELS_H

#include <doppel/vector.h>

#include "vector/kernels.h"

enum { LEVEL_NEAREST_MAX = DOPPEL_VECTOR_COHORT_NEAREST_MAX, LEVEL_ROWS = 64 /* at once */ };

/* Vectors of length 1 less their mean, in whole units, PREFIX_DIMENSIONS_MAX dimensions after the
 * other in blocks of their own. A few that are too long then, or of which a component is too large,
 * are compared by bytes, as they are. */
struct level_sample {
    uint32_t dimension, parts;
    float one; /* units of 1: no dot product, twice, exceeds 16 bits */
    float *mean;
    uint32_t count, blocks;
    uint8_t *codes; /* of each part: blocks × PREFIX_BLOCK × its width */
    uint32_t *own;  /* of each member its place in blocks; or LEVEL_ODD and one of the others */
    uint32_t odd;
    size_t stride; /* of bytes: a multiple of 32, with zeros at the end */
    int8_t *bytes; /* of the odd */
    float *scales;
    uint32_t nearest; /* cosines of which a level is the mean */
};

#define LEVEL_ODD (UINT32_C(1) << 31)

/* Zero-initialised it is empty. @return false: no memory; to be freed */
bool level_sample_make(struct level_sample *sample, uint32_t dimension, uint32_t count);
void level_sample_free(struct level_sample *sample);

/* Fill one that was made for so many. @return `count`; or of a vector that holds what is no number
 * its number */
uint32_t level_sample_fill(struct level_sample *sample, const float *const *rows, uint32_t count);

/* What finding needs; one of each thread. */
struct level_work;
struct level_work *level_work_new(const struct level_sample *sample); /* NULL: no memory */
void level_work_free(struct level_work *work);

/* Levels of up to LEVEL_ROWS vectors.
 * @param own the members that they are, with which they are not compared; UINT32_MAX: none
 * @param levels 0 of a vector without a direction, and of one that holds what is no number
 * @return false: one does */
bool level_find(struct level_work *work, const float *const *rows, const uint32_t *own,
                size_t count, float *levels);

#endif
