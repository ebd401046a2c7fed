/* The linear table: an immutable segment of codes as they are, which are all looked at. For so few
 * codes, or such large radii, that look-ups in buckets do not pay; 12 bytes a code of 64 bits. */
#ifndef DOPPEL_INDEX_LINEAR_H
#define DOPPEL_INDEX_LINEAR_H

#include "index/scan_codes.h"
#include "index/stream.h"

struct linear; /* a segment with its parameters checked and its parts found */

/** @param apart of 256 bits: word 0 of all codes together, the rest with the payload */
enum doppel_status linear_build(uint32_t bits, bool apart, struct code_stream *stream,
                                const struct segment_target *target, struct segment **out,
                                struct doppel_error *error);
/** @param segment taken also on failure */
enum doppel_status linear_open(struct segment *segment, struct linear **out,
                               struct doppel_error *error);
void linear_free(struct linear *table);
const struct scan_codes *linear_codes(const struct linear *table);
struct segment *linear_segment(const struct linear *table);
uint32_t linear_bits(const struct linear *table, uint64_t *out_count);

/** As hamming_search and hamming_knn; k = 0: all within the radius. */
enum doppel_status linear_search(const struct linear *table, struct query *queries, size_t count,
                                 size_t k, struct doppel_error *error);

/** As hamming_read. */
size_t linear_read(const struct linear *table, uint64_t first, size_t count, uint64_t *out_codes,
                   uint64_t *out_payloads);

#endif
