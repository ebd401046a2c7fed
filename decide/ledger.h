/* What was decided about an input, a file or a record, as a library remembers it: the only way in
 * which decisions are written. All within a transaction that the caller has begun. */
#ifndef DOPPEL_DECIDE_LEDGER_H
#define DOPPEL_DECIDE_LEDGER_H

#include <doppel/library.h>

/* A decision and why. Borrowed. */
struct ledger_decision {
    uint64_t item;      /* that was added; 0: none was */
    const char *name;   /* the path of a file, the id of a record, or where it stands */
    const char *source; /* NULL: not known */
    enum doppel_decision decision;
    const char *why;     /* the name of a reason, or a sentence; NULL: nothing */
    uint64_t of, former; /* 0: nothing */

    const struct doppel_match *match;  /* NULL: nothing was matched, and the rest says nothing */
    uint16_t version;                  /* of its scheme */
    enum doppel_limit_kind limit_kind; /* what the match kept to; NONE: nothing */
    double limit;
    const char *detail; /* an object in JSON; NULL: nothing */
};

/* Add a line to the log. As doppel_library_log */
enum doppel_status ledger_log(struct doppel_library *library,
                              const struct ledger_decision *decision, struct doppel_error *error);

/* Say of an item what is said of all, and its own. Of each, source and date are those of its record
 * where it is one. As doppel_library_set_metadata */
enum doppel_status ledger_describe(struct doppel_library *library, uint64_t item,
                                   const struct doppel_metadata *of_all,
                                   const struct doppel_metadata *own, struct doppel_error *error);

/* Link an item to its representative, and choose which one of the group is to be kept. @param
 * out_replaces the one that was, if it is this one now; else 0 */
enum doppel_status ledger_follow(struct doppel_library *library, uint64_t item, uint64_t leader,
                                 uint64_t *out_replaces, struct doppel_error *error);

#endif
