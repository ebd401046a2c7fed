/*
 * Lists of representatives, one a bucket, in the cells.
 *
 * The cell of a record points at the first record of its bucket; that of the first at the first
 * representative after it. A record that becomes a representative is put at the end of the list,
 * and its cell then points at the representative after it. So 4 bytes a record and band hold all
 * lists; they ascend.
 */
#ifndef DOPPEL_CORPUS_DEDUP_LEADERS_H
#define DOPPEL_CORPUS_DEDUP_LEADERS_H

#include "corpus/dedup/dedup_internal.h"

/* A walk through the representatives that share a band with a record, ascending, each once. */
struct leader_walk {
    const struct dedup *dedup;
    uint32_t count;    /* bands in which the record is not the first of its bucket */
    uint32_t *bands;   /* these */
    uint32_t *leaders; /* the next of each, or NO_RECORD */
    uint32_t *ends;    /* whose cell points at that */
};

enum doppel_status leader_walk_new(struct leader_walk *walk, const struct dedup *dedup,
                                   struct doppel_error *error);
void leader_walk_free(struct leader_walk *walk);

void leader_walk_begin(struct leader_walk *walk, uint32_t number);
/** @return NO_RECORD at the end */
uint32_t leader_walk_next(struct leader_walk *walk);

/** The record of a walk that has come to its end becomes a representative. */
void leader_walk_append(const struct leader_walk *walk, uint32_t number);

#endif
