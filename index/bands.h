/*
 * The band table: an immutable segment of signatures of 16-bit lanes. Candidates share a whole band
 * (some consecutive lanes) with the query; their distance, the number of lanes that differ, is then
 * computed from the whole signature. 1 - (1 - s^rows)^bands of the signatures with share s of equal
 * lanes are candidates.
 */
#ifndef DOPPEL_INDEX_BANDS_H
#define DOPPEL_INDEX_BANDS_H

#include "index/hits.h"
#include "index/segment.h"
#include "index/stream.h"

struct bands; /* a segment with its parameters checked and its parts found */

struct bands_options {
    uint32_t lanes;       /* of 16 bits; a multiple of 4; a signature is lanes/4 words */
    uint32_t bands, rows; /* bands × rows ≤ lanes */
};

enum doppel_status bands_build(const struct bands_options *options, struct code_stream *stream,
                               const struct segment_target *target, struct segment **out,
                               struct doppel_error *error);
enum doppel_status bands_open(struct segment *segment, struct bands **out,
                              struct doppel_error *error);
void bands_free(struct bands *table);
struct segment *bands_segment(const struct bands *table);
struct bands_options bands_info(const struct bands *table, uint64_t *out_count);

struct bands_scratch;
struct bands_scratch *bands_scratch_new(void);
void bands_scratch_free(struct bands_scratch *scratch);

/** Candidates of each query whose distance is within its radius (in lanes), each once. */
enum doppel_status bands_search(const struct bands *table, struct bands_scratch *scratch,
                                struct query *queries, size_t count, struct doppel_error *error);

/** As hamming_read. */
size_t bands_read(const struct bands *table, uint64_t first, size_t count, uint64_t *out_codes,
                  uint64_t *out_payloads);

#endif
