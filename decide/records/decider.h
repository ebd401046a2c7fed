/* The rule of doppel_decide (doppel/library.h) for records in order of input: the facts for it, and
 * what follows. */
#ifndef DOPPEL_DECIDE_RECORDS_DECIDER_H
#define DOPPEL_DECIDE_RECORDS_DECIDER_H

#include <stdbool.h>

#include <doppel/library.h>

struct ingest;

/* What was decided of the record at hand. Ids of the library; 0: none. */
struct decider_answer {
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    uint64_t of, replaces;
    uint64_t known;  /* the one that it is again, id and content */
    uint64_t leader; /* whom it follows, if it is remembered */
    bool has_match;
    struct doppel_match match;
    bool limited;  /* the match kept to a limit */
    bool follows;  /* it joins the group of `leader`, if it is remembered */
    bool leads;    /* later records are to be compared with it */
    bool replayed; /* it is what was decided of `known` */
    bool kept;     /* it says something that is not known yet: a library remembers it */
};

/** Decide of the record at hand, which changes nothing. DOPPEL_OK; DOPPEL_E_MEMORY; what reading
 * the library returns. */
enum doppel_status decider_decide(struct ingest *ingest, struct decider_answer *out,
                                  struct doppel_error *error);

#endif
