/* What is known of records, read again from their lines where that can be done; with a cache of
 * shingles of representatives. Of one thread. */
#ifndef DOPPEL_CORPUS_DEDUP_EVIDENCE_H
#define DOPPEL_CORPUS_DEDUP_EVIDENCE_H

#include "corpus/dedup/dedup_internal.h"

struct evidence;

/** @param cache_bytes of shingles that are kept */
enum doppel_status evidence_new(struct dedup *dedup, size_t cache_bytes, struct evidence **out,
                                struct doppel_error *error);
void evidence_free(struct evidence *evidence);

/** Of the record that is being decided. Without shingles where they are not to be had.
 * @param out borrowed until it is asked of another one. DOPPEL_E_MEMORY */
enum doppel_status evidence_of_record(struct evidence *evidence, uint32_t number,
                                      struct doppel_text_evidence *out, struct doppel_error *error);

/** Of a representative. @param out borrowed until it is asked of another one. DOPPEL_E_MEMORY */
enum doppel_status evidence_of_leader(struct evidence *evidence, uint32_t number,
                                      struct doppel_text_evidence *out, struct doppel_error *error);

/** The record that was being decided has become a representative. */
void evidence_promote(struct evidence *evidence, uint32_t number);

/** How many shingles a record has, as far as it is known: else 0. Thread-safe. */
uint32_t shingles_of(const struct dedup *dedup, uint32_t number);

#endif
