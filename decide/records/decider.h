/* The rule of doppel_decide (doppel/library.h) for records in order of input, in one place: whole
 * corpora and single records keep it alike. Who compares, and where texts are kept, is the host's
 * business. */
#ifndef DOPPEL_DECIDE_RECORDS_DECIDER_H
#define DOPPEL_DECIDE_RECORDS_DECIDER_H

#include <stdbool.h>

#include <doppel/library.h>

#include "corpus/dedup/number_map.h"

/* Records are numbered from 0 in the order in which they come, whatever is decided of them. */
struct decider_host {
    /* Compare a record with an earlier one; `*out_matches` as doppel_match_texts returns. */
    enum doppel_status (*match)(void *context, uint32_t record, uint32_t earlier,
                                struct doppel_match *out, bool *out_matches,
                                struct doppel_error *error);
    /* Strings borrowed until the next call but one. */
    struct doppel_origin (*origin)(void *context, uint32_t number);
    void *context;
    uint32_t lanes; /* of signatures, 128 or 256 */

    /* What people said, each NULL: nothing. What lists make of an earlier record. */
    enum doppel_list_state (*state)(void *context, uint32_t earlier);
    /* Whether it was decided to be nobody's duplicate on account of one that is on a benign list.
     */
    bool (*was_benign)(void *context, uint32_t earlier);
    /* The contents that somebody said this word of, and of the content of the record at hand;
     * borrowed until the next call. */
    const struct doppel_digest *(*marked)(void *context, const struct doppel_digest *content,
                                          enum doppel_manual_label word, size_t *out_count);
};

struct decider;

/** @param out given (decider_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
enum doppel_status decider_new(const struct decider_host *host, enum doppel_same_id on_same_id,
                               struct decider **out, struct doppel_error *error);
void decider_free(struct decider *decider);

/* A record to be decided. */
struct decider_record {
    const char *id; /* NULL: it has none */
    struct doppel_digest content;
    bool unreadable, too_short;
    bool only_asked; /* it is not known to later ones, and changes nothing of former ones */
    const uint32_t *candidates; /* records that share a band, ascending; of those that lead no
                                   more, or never did, nothing is asked */
    size_t candidate_count;
};

struct decider_answer {
    uint32_t number;
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    uint32_t of, replaces; /* NO_NUMBER: none */
    uint32_t known;        /* the one that it is again, id and content; likewise */
    bool has_match;
    struct doppel_match match;
    bool limited; /* the match kept to a limit */
    bool follows; /* it joins the group of `of`, if it is remembered */
    bool leads;   /* later records are to be compared with it */
    bool kept;    /* it says something that is not known yet: a library remembers it */
};

/** Whether candidates will be asked for, if this is the next record. */
bool decider_wants_candidates(const struct decider *decider, const struct decider_record *record);

/** Decide of the next record. DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_LIMIT (2^32 records); what
 * `match` returns: then the record is not decided, and the decider is to be freed. */
enum doppel_status decider_next(struct decider *decider, const struct decider_record *record,
                                struct decider_answer *out, struct doppel_error *error);

/** What was decided of a record in a former run, in the same order. */
struct decider_past {
    const char *id; /* NULL: it has none */
    struct doppel_digest content;
    uint32_t leader; /* number; NO_NUMBER: its own */
    bool leads;
};

/** Take it as the next record. @param out_number may be NULL. As decider_next. */
enum doppel_status decider_restore(struct decider *decider, const struct decider_past *past,
                                   uint32_t *out_number, struct doppel_error *error);

/** Whether a record leads (a later one with its id may have taken its place). */
bool decider_leads(const struct decider *decider, uint32_t number);

/** The record whose duplicate a duplicate of this one is; itself where it follows none. */
uint32_t decider_leader(const struct decider *decider, uint32_t number);

/** The first record with this content; NO_NUMBER: none. */
uint32_t decider_find(const struct decider *decider, const struct doppel_digest *content);

/** A person changed whom a record follows. @param leader itself, if it follows none */
void decider_regroup(struct decider *decider, uint32_t number, uint32_t leader, bool leads);

#endif
