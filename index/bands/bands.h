/*
 * The band table: an immutable segment of signatures of 16-bit lanes. Candidates share a whole band
 * (some consecutive lanes) with the query; their distance, the number of lanes that differ, is then
 * computed from the whole signature. 1 - (1 - s^rows)^bands of the signatures with share s of equal
 * lanes are candidates.
 *
 * Identical signatures are kept once, with a list of payloads. A record of the table is a payload
 * with its signature.
 */
#ifndef DOPPEL_INDEX_BANDS_BANDS_H
#define DOPPEL_INDEX_BANDS_BANDS_H

#include "index/hits.h"
#include "index/segment/segment.h"
#include "index/stream.h"

enum { BANDS_MAX_LANES = 1024, BANDS_MAX_BANDS = 256 };

struct bands; /* a segment with its parameters checked and its parts found */

struct bands_options {
    uint32_t lanes;       /* of 16 bits; a multiple of 4; a signature is lanes/4 words */
    uint32_t bands, rows; /* bands × rows ≤ lanes */
};

/** DOPPEL_OK, or DOPPEL_E_ARGUMENT with what is wrong. */
enum doppel_status bands_options_check(const struct bands_options *options,
                                       struct doppel_error *error);

/**
 * Build a segment from a stream of signatures, which is read twice. Memory beside the segment: some
 * 45 bytes a record. In a file buckets are larger: fewer bytes, and a page is read anyway.
 * @param out given (segment_release)
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; _LIMIT (2^32 - 1 records and more); _MEMORY; _IO
 */
enum doppel_status bands_build(const struct bands_options *options, struct code_stream *stream,
                               const struct segment_target *target, struct segment **out,
                               struct doppel_error *error);

/** Take a segment apart. @param segment taken, also on failure */
enum doppel_status bands_open(struct segment *segment, struct bands **out,
                              struct doppel_error *error);
void bands_free(struct bands *table);
struct segment *bands_segment(const struct bands *table);

/** @param out_count records; may be NULL */
struct bands_options bands_info(const struct bands *table, uint64_t *out_count);

/** Signatures without repeats. */
uint64_t bands_distinct(const struct bands *table);

struct bands_scratch; /* of one thread; the same for every table */
struct bands_scratch *bands_scratch_new(void);
void bands_scratch_free(struct bands_scratch *scratch);

/** Find the records that share a whole band with a query and whose distance is within its radius
 * (in lanes), each once.
 * @param k of those only the nearest so many, ties by payload, the hits that are there counted; 0:
 * all
 * @return DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_CORRUPT */
enum doppel_status bands_search(const struct bands *table, struct bands_scratch *scratch,
                                struct query *queries, size_t count, size_t k,
                                struct doppel_error *error);

/** As hamming_read; records of one signature follow each other. */
size_t bands_read(const struct bands *table, uint64_t first, size_t count, uint64_t *out_codes,
                  uint64_t *out_payloads);

#endif
