/* Vectors near one, which need not be among them: in cells that lie in memory or in a mapped file,
 * of which each array may hold anything. */
#ifndef DOPPEL_VECTOR_LOOKUP_H
#define DOPPEL_VECTOR_LOOKUP_H

#include <doppel/vector_table.h>

#include "vector/cells.h"

/* What was found. @param place its row is one of the vectors
 * @return the lowest cosine that is wanted from now on; above 1: no more */
typedef float lookup_visitor(void *context, uint32_t place, float cosine);

struct vector_lookup {
    const struct vector_cells *cells;
    float min_cosine; /* that is wanted */
    uint32_t probes;  /* cells to visit, the nearest ones; 0: all that can have such a vector */
    lookup_visitor *visit;
    /* Before some bytes of the cells are read; NULL: nobody wants to know. */
    void (*touch)(void *context, const void *at, size_t bytes);
    void *context;                /* of both */
    uint64_t visited, candidates; /* added to: cells, and vectors that their prefixes left */
    bool damaged;                 /* set: the cells do not fit together */
};

/* @param query `dimension` numbers
 * @return DOPPEL_OK, also when it has no direction; DOPPEL_E_FORMAT: it holds what is no number, or
 *     too large or small a one; DOPPEL_E_MEMORY */
enum doppel_status vector_lookup_run(struct vector_lookup *lookup, const float *query,
                                     struct doppel_error *error);

/* ---- how many cells ---- */

/* Of a vector and one that is near it: their cosine, and how many cells are nearer to the first
 * than the one in which the second lies. */
struct lookup_rank {
    float cosine;
    uint16_t rank, number; /* `number` of those near the first are nearer */
};

enum { LOOKUP_SAMPLE = 256, LOOKUP_NEIGHBOURS = 100, LOOKUP_RANKS = 256 * 100 };

/* Of a sample of the vectors and the nearest of each, the highest cosines first.
 * @param ranks room for LOOKUP_RANKS. */
enum doppel_status lookup_ranks(const struct vector_cells *cells, struct lookup_rank *ranks,
                                uint32_t *out_count, struct doppel_error *error);

/* How many cells to visit so as to find a share of all vectors with such a cosine, or of the
 * nearest; 0: all, as the sample says nothing of so many. @param nearest 0: no limit */
uint32_t lookup_probes(const struct lookup_rank *ranks, uint32_t count,
                       const struct doppel_vector_search *search);

#endif
