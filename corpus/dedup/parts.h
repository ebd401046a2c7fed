/* Records that are a part of an earlier, longer one, with which they share no band: by their lowest
 * shingles, once all is decided otherwise. */
#ifndef DOPPEL_CORPUS_DEDUP_PARTS_H
#define DOPPEL_CORPUS_DEDUP_PARTS_H

#include "corpus/dedup/dedup_internal.h"

/** Keep those shingles of a record that are held of it: all below DOPPEL_TEXT_HELD_BELOW. */
enum doppel_status dedup_keep_held(struct dedup *dedup, uint32_t number, const uint32_t *shingles,
                                   uint32_t count, struct doppel_error *error);

#endif
