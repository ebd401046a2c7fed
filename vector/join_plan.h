/* How many cells a vector is to be compared with. */
#ifndef DOPPEL_VECTOR_JOIN_PLAN_H
#define DOPPEL_VECTOR_JOIN_PLAN_H

#include "vector/scan.h"

/* What makes a pair; without levels, `levels` and `errors` are NULL. */
struct join_threshold {
    struct scan_threshold of;
    float *levels;     /* by place: those of `of` */
    int16_t *errors;   /* likewise */
    float *cell_level; /* lowest, by cell */
};

/* @param out zero-initialised; given (join_threshold_free) */
enum doppel_status join_threshold_make(const struct vector_cells *cells,
                                       const struct doppel_vector_join_options *options,
                                       struct join_threshold *out, struct doppel_error *error);
void join_threshold_free(struct join_threshold *threshold);

/* For a sample of vectors, find all pairs, and how far down in the order of cells of either vector
 * the cell of the other stands.
 * @param out as many cells as find a share `recall` of these pairs; 0: it takes too many, so look
 *     at all */
enum doppel_status join_choose_probes(const struct vector_cells *cells,
                                      const struct join_threshold *threshold, float recall,
                                      uint32_t *out, struct doppel_error *error);

/* The score of the farthest cell that each place is to be compared with.
 * @param out given (free), one of each place */
enum doppel_status join_find_reach(const struct vector_cells *cells, uint32_t probes,
                                   const struct doppel_vector_join_options *options, int16_t **out,
                                   struct doppel_error *error);

#endif
