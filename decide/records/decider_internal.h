/* What the files of the decider share. */
#ifndef DOPPEL_DECIDE_RECORDS_DECIDER_INTERNAL_H
#define DOPPEL_DECIDE_RECORDS_DECIDER_INTERNAL_H

#include "core/array.h"
#include "decide/records/decider.h"

struct decider {
    struct decider_host host;
    enum doppel_same_id on_same_id;
    size_t count;
    /* by number: */
    ARRAY(struct doppel_digest) contents;
    ARRAY(struct doppel_digest) ids; /* digests of the ids; zeros: it has none */
    ARRAY(uint32_t) leaders;
    ARRAY(uint8_t) flags;
    struct number_map
        by_content;          /* the first with a content whose representative is not replaced */
    struct number_map by_id; /* the last with an id */

    ARRAY(uint32_t)
    apart; /* representatives of what the record at hand is said to be distinct from */
};

enum {
    FLAG_LEADS = 1 << 0,
    FLAG_REPLACED = 1 << 1 /* by a later text of the same id */
};

/* Of an id; zeros: there is none. */
struct doppel_digest decider_id_digest(const char *id);

/* The next record, which says nothing yet. */
enum doppel_status decider_push(struct decider *decider, const char *id,
                                const struct doppel_digest *content, struct doppel_error *error);

/* What lists make of an earlier record. */
enum doppel_list_state decider_state_of(const struct decider *decider, uint32_t earlier);

/* The record that has this content, unless what it follows was replaced: then its text is no longer
 * there. One on disabled lists alone is not there, either. NO_NUMBER: none. */
uint32_t decider_find_content(const struct decider *decider, const struct doppel_digest *content);

/* The last record with this id; NO_NUMBER: none. */
uint32_t decider_find_id(const struct decider *decider, const struct doppel_digest *digest,
                         const char *id);

/* A later text has its id. */
void decider_replace(struct decider *decider, uint32_t number);

/* Its content, unless another one has it, and its id, in place of a former one. */
enum doppel_status decider_remember(struct decider *decider, uint32_t number, const char *id,
                                    struct doppel_error *error);

#endif
