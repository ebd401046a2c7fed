/* What a Hamming table is built from: codes permuted, in the order of table 0, each once, and their
 * payloads. */
#ifndef DOPPEL_INDEX_HAMMING_GATHER_H
#define DOPPEL_INDEX_HAMMING_GATHER_H

#include "index/hamming_table.h"

struct gathered {
    struct hamming_shape shape;
    uint8_t places[256]; /* the permutation */
    uint64_t codes_count, distinct, repeated, more_count;
    uint64_t *codes;    /* distinct × words */
    uint64_t *payloads; /* of each distinct code the least */
    uint64_t *more, *ends;
    uint32_t *ids;
    uint64_t largest_payload;
};

enum doppel_status gather(const struct hamming_options *options, struct code_stream *stream,
                          struct gathered *out, struct doppel_error *error);
void gathered_free(struct gathered *gathered);

#endif
