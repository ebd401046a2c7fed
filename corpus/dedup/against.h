/* Which texts of a library can matter to the records of a corpus. */
#ifndef DOPPEL_CORPUS_DEDUP_AGAINST_H
#define DOPPEL_CORPUS_DEDUP_AGAINST_H

#include "corpus/dedup/dedup_internal.h"

/* Ids of texts. */
struct chosen_texts {
    uint64_t *items;
    size_t count, capacity;
};

/**
 * Look the records that were read up in the library's indexes, unless reading all texts is less
 * work than that.
 * @param out     ascending, each once; given (array_free), also on failure
 * @param out_all all are to be read: nothing was chosen
 * @return also DOPPEL_E_CANCELLED
 */
enum doppel_status texts_choose(struct dedup *dedup, struct chosen_texts *out, bool *out_all,
                                struct doppel_error *error);

#endif
