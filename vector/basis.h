/* The directions in which a set of vectors varies most. */
#ifndef DOPPEL_VECTOR_BASIS_H
#define DOPPEL_VECTOR_BASIS_H

#include <doppel/vector.h>

/* Coordinate i of a vector adds row i × it to the prefix, which has `width` components. A vector of
 * length 1 has a prefix of at most that, and the prefixes of two have a dot product that lacks that
 * of what they leave out. */
struct vector_basis {
    uint32_t dimension, width;
    float *rows;
};

/* From a sample of the set; those in which it varies most come first.
 * @param width a multiple of PREFIX_HEAD
 * @param out given (vector_basis_free) */
enum doppel_status vector_basis_make(const struct doppel_vectors *vectors, uint32_t width,
                                     struct vector_basis *out, struct doppel_error *error);
void vector_basis_free(struct vector_basis *basis);

#endif
