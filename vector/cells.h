/* Vectors in cells: each lies with those that are nearest to the same centre, by its distance. */
#ifndef DOPPEL_VECTOR_CELLS_H
#define DOPPEL_VECTOR_CELLS_H

#include "vector/angles.h"
#include "vector/basis.h"
#include "vector/centres.h"
#include "vector/rounded.h"

/* A place is one of a vector in the order of cells; each cell begins with a whole block, and what
 * is behind its last vector is never a candidate. */
struct vector_cells {
    struct doppel_vectors vectors;
    struct vector_basis basis; /* of the prefixes */
    struct centres centres;
    uint32_t count;           /* vectors that have a direction */
    uint32_t places;          /* a multiple of PREFIX_BLOCK */
    uint32_t *starts, *sizes; /* of each cell: its first place, and how many vectors it has */
    float *near, *far; /* of each cell: cosines of its first and last vector with the direction of
                          the centre, at most and at least */
    struct prefix_blocks blocks;
    int16_t *dots; /* with the centre, PREFIX_ONE² being 1; falling in a cell */
    uint32_t *rows;
    int8_t
        *bytes; /* `dimension` of each, and 32 behind the last: the vector in units of its scale */
    float *scales;
    uint16_t *lost;  /* length of what rounding to them took, 2^16 being 1, rounded up */
    float *inverses; /* by row: 1 / length; 0: it has none */
};

enum { CELLS_MOST = 1 << 15 };
#define VECTORS_MOST (UINT32_MAX - CELLS_MOST * PREFIX_BLOCK) /* places have numbers below 2^32 */

struct cells_options {
    uint32_t width, cells; /* of prefixes; how many at most */
    uint32_t threads;
    void *context;
    bool (*stopped)(void *context); /* NULL: never */
};

/* How many cells and how wide prefixes serve so many vectors well. */
struct cells_options cells_options_usual(const struct doppel_vectors *vectors);

/* @param vectors its rows stay the caller's, and stay there
 * @param out given (vector_cells_free) */
enum doppel_status vector_cells_make(const struct doppel_vectors *vectors,
                                     const struct cells_options *options, struct vector_cells *out,
                                     struct doppel_error *error);
void vector_cells_free(struct vector_cells *cells);

uint32_t cells_cell_of(const struct vector_cells *cells, uint32_t place);

/* Those vectors of a cell that may have a cosine of `min_cosine` or more with one: by the triangle
 * inequality their angles to the centre differ by no more than their angle to each other.
 * @param of cosines that it may have with the direction of the centre
 * @return false: there are none; else places `out_from` to `out_to` */
bool cells_in_reach(const struct vector_cells *cells, uint32_t cell, struct cosine_range of,
                    float min_cosine, uint32_t *out_from, uint32_t *out_to);

/* The cosine of a vector and that at a place, when it may be `least` or more; else some number
 * below it. @param vector its bytes have zeros behind them up to a multiple of 32 */
float cells_cosine(const struct vector_cells *cells, const struct vector_kernels *kernels,
                   const struct rounded_vector *vector, uint32_t place, float least);

/* What rounding may have done to a prefix, as a length. */
static inline float prefix_slack(int16_t error)
{
    return (float)error / PREFIX_DOT_ONE;
}

#endif
