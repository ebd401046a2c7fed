/*
 * The Hamming table: an immutable segment that finds every code within a radius. A code is cut into
 * chunks; a code within radius r of the query agrees with it, in some chunk, up to that chunk's
 * share of r (pigeonhole; the shares sum to r - chunks + 1), and from that chunk on up to the
 * shares of all that follows (pigeonring).
 */
#ifndef DOPPEL_INDEX_HAMMING_HAMMING_H
#define DOPPEL_INDEX_HAMMING_HAMMING_H

#include "index/hits.h"
#include "index/segment/segment.h"
#include "index/stream.h"

struct hamming; /* a segment with its parameters checked and its parts found */

struct hamming_options {
    uint32_t bits;          /* 32, 64, 128, 256 */
    uint32_t design_radius; /* chunks follow from it, the count and the width */
    bool compact;           /* fewer bytes a code (≤ 33 for 64 bits, 150 for 256), slower */
};

/**
 * Build a segment from a stream of codes. Identical codes are kept once, with a list of payloads.
 * Memory: the segment and at most half as much again.
 */
enum doppel_status hamming_build(const struct hamming_options *options, struct code_stream *stream,
                                 const struct segment_target *target, struct segment **out,
                                 struct doppel_error *error);

/** Take a segment apart. @param segment taken also on failure */
enum doppel_status hamming_open(struct segment *segment, struct hamming **out,
                                struct doppel_error *error);
void hamming_free(struct hamming *table);

struct hamming_info {
    uint64_t codes, distinct; /* with and without repeats */
    uint32_t bits, design_radius, chunks;
};
struct hamming_info hamming_info(const struct hamming *table);
struct segment *hamming_segment(const struct hamming *table);

/* Memory that a searching thread uses again and again; grows to what its searches need. */
struct hamming_scratch;
struct hamming_scratch *hamming_scratch_new(void);
void hamming_scratch_free(struct hamming_scratch *scratch);

struct hamming_counts {
    uint64_t lookups, candidates; /* buckets visited; codes whose distance was computed */
};

/** Find all codes within each query's radius. Interleaves the queries to hide memory latency.
 * @param counts added to; NULL: not counted
 * @return DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_CORRUPT */
enum doppel_status hamming_search(const struct hamming *table, struct hamming_scratch *scratch,
                                  struct query *queries, size_t count,
                                  struct hamming_counts *counts, struct doppel_error *error);

/** Keep in each query's hits the k nearest of those that are there (sorted, as a k-NN search leaves
 * them) and those of the table, ties by payload. */
enum doppel_status hamming_knn(const struct hamming *table, struct hamming_scratch *scratch,
                               struct query *queries, size_t count, size_t k,
                               struct hamming_counts *counts, struct doppel_error *error);

/** The codes of the table in the order in which they lie, for merging and joining.
 * @param out_codes words of count codes; @param out_payloads count of them
 * @return how many were read from position `first` on; fewer than `count` only at the end */
size_t hamming_read(const struct hamming *table, uint64_t first, size_t count, uint64_t *out_codes,
                    uint64_t *out_payloads);

#endif
