/* One block of lines to facts, digests and signatures: what each thread does in the first pass. */
#ifndef DOPPEL_CORPUS_DEDUP_SIGN_H
#define DOPPEL_CORPUS_DEDUP_SIGN_H

#include "corpus/dedup/dedup_internal.h"

struct bytes {
    char *items;
    size_t count, capacity;
};

/** False without memory. */
bool bytes_append(struct bytes *bytes, const void *more, size_t size);

struct signed_record {
    struct facts facts; /* `strings`: in the batch's; `place`: of the line in its file */
    struct doppel_digest digest;
    size_t strings_size;
    size_t shingles_at; /* bytes into the batch's */
    uint32_t held;      /* so many of them, the lowest, are for dedup_find_parts */
};

/* All records of a block, in order. */
struct batch {
    struct line_block block;
    ARRAY(struct signed_record) records;
    struct bytes strings;
    struct bytes lanes;    /* uint16_t, dedup->lanes of each record */
    struct bytes shingles; /* uint32_t, ascending, of those of which some are kept */
    struct doppel_text_looks looks;
};

void batch_free(struct batch *batch);

struct signer; /* of one thread */

enum doppel_status signer_new(const struct dedup *dedup, struct signer **out,
                              struct doppel_error *error);
void signer_free(struct signer *signer);

/** Fill the batch from its block, in place of what it held. */
enum doppel_status signer_sign(struct signer *signer, struct batch *batch,
                               struct doppel_error *error);

#endif
