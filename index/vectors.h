/* The table of vectors: an immutable segment of float32 rows, and cells of them (vector/cells.h). A
 * code is the floats of a vector, two a word. */
#ifndef DOPPEL_INDEX_VECTORS_H
#define DOPPEL_INDEX_VECTORS_H

#include "index/hits.h"
#include "index/segment/segment.h"
#include "index/stream.h"

#include <doppel/vector.h>

struct vectors;

static inline size_t vector_words(uint32_t dimension)
{
    return (dimension + (size_t)1) / 2;
}

/** DOPPEL_E_FORMAT: one of so many codes holds what is no number, or too large or small a one. */
enum doppel_status vectors_check(uint32_t dimension, const uint64_t *codes, size_t count,
                                 struct doppel_error *error);

/** @return also DOPPEL_E_FORMAT: one holds what is no number, or too large or small a one */
enum doppel_status vectors_build(uint32_t dimension, struct code_stream *stream,
                                 const struct segment_target *target, struct segment **out,
                                 struct doppel_error *error);
/** @param segment taken also on failure */
enum doppel_status vectors_open(struct segment *segment, struct vectors **out,
                                struct doppel_error *error);
void vectors_free(struct vectors *table);
struct segment *vectors_segment(const struct vectors *table);
uint32_t vectors_dimension(const struct vectors *table, uint64_t *out_count);

/** As table_search. */
enum doppel_status vectors_search(const struct vectors *table, struct query *queries, size_t count,
                                  size_t k, struct doppel_index_counts *counts,
                                  struct doppel_error *error);

/** As hamming_read. */
size_t vectors_read(const struct vectors *table, uint64_t first, size_t count, uint64_t *out_codes,
                    uint64_t *out_payloads);

/** Append what is near of so many vectors of a head, one after the other, that live at a clock: all
 * or, with k, as hits_offer. False without memory. */
struct vector_run {
    const uint64_t *codes, *payloads;
    const uint32_t *deaths;
    uint32_t count, clock, dimension;
};
bool vectors_scan(const struct vector_run *run, const struct query *query, size_t k);

#endif
