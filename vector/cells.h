/* Vectors in cells: each lies with those that are nearest to the same centre, by its distance. */
#ifndef DOPPEL_VECTOR_CELLS_H
#define DOPPEL_VECTOR_CELLS_H

#include "vector/centres.h"

/* A place is one of a vector in the order of cells; each cell begins with a whole block, and what
 * is behind its last vector is never a candidate. */
struct vector_cells {
    struct doppel_vectors vectors;
    struct centres centres;
    uint32_t count;           /* vectors that have a direction */
    uint32_t places;          /* a multiple of PREFIX_BLOCK */
    uint32_t *starts, *sizes; /* of each cell: its first place, and how many vectors it has */
    struct prefix_blocks blocks;
    uint16_t *squares; /* of the distance from the centre, PREFIX_ONE² being 1; rising in a cell */
    uint32_t *rows;
    int8_t
        *bytes; /* `dimension` of each, and 32 behind the last: the vector in units of its scale */
    float *scales;
    uint16_t *lost;  /* length of what rounding to them took, 2^16 being 1, rounded up */
    float *inverses; /* by row: 1 / length; 0: it has none */
};

struct cells_options {
    uint32_t width, cells; /* of prefixes; how many at most */
    uint32_t threads;
    void *context;
    bool (*stopped)(void *context); /* NULL: never */
};

/* @param inverse 1 / its length; 0: it has none
 * @return false: it holds what is no number, or its length cannot be computed with */
bool vector_length(const float *x, size_t dimension, float *inverse);

/* @param vectors its rows stay the caller's, and stay there
 * @param out given (vector_cells_free) */
enum doppel_status vector_cells_make(const struct doppel_vectors *vectors,
                                     const struct cells_options *options, struct vector_cells *out,
                                     struct doppel_error *error);
void vector_cells_free(struct vector_cells *cells);

uint32_t cells_cell_of(const struct vector_cells *cells, uint32_t place);

/* The cosine of the vectors at two places, when it may be `least` or more; else some number below
 * it. @param bytes those of the first, with zeros up to a multiple of 32 */
float cells_cosine(const struct vector_cells *cells, const struct vector_kernels *kernels,
                   const int8_t *bytes, uint32_t a, uint32_t b, float least);

#endif
