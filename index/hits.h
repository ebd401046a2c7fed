/* What a search is asked for and what it has found, for one query at a time. */
#ifndef DOPPEL_INDEX_HITS_H
#define DOPPEL_INDEX_HITS_H

#include <doppel/index.h>

#include "core/array.h"

typedef ARRAY(struct doppel_index_hit) hit_array;

struct bands_options;

/* One query of a batch. A table appends its hits in any order, each once; its caller sorts. */
struct query {
    const uint64_t *code; /* words of it; borrowed */
    uint32_t number;      /* hit.query */
    uint32_t radius;      /* a k-NN search lowers it as it goes */
    hit_array *hits;
    const struct bands_options *bands; /* that are not the table's own; none of them: every
                                          signature; else NULL */
    float recall;                      /* vectors: the share to find; 0: all */
};

/** By distance, then payload. */
void hits_sort(struct doppel_index_hit *hits, size_t count);

/** The same order in a heap of at most k, the last of them first. hits_offer takes a hit that comes
 * before one of these. False without memory. */
void hits_make_heap(hit_array *hits);
bool hits_offer(hit_array *hits, size_t k, const struct doppel_index_hit *hit);

/** Sort them, and keep the k nearest. */
void hits_keep_nearest(hit_array *hits, size_t k);

#endif
