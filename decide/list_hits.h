/* The items on lists that an input matched: what their lists say, and how often that happens. */
#ifndef DOPPEL_DECIDE_LIST_HITS_H
#define DOPPEL_DECIDE_LIST_HITS_H

#include "corpus/dedup/rule.h"

/* All zero: there are none. */
struct list_hits {
    char **lists, **labels; /* of all of them, each once; given (list_hits_free) */
    size_t list_count, label_count;
    bool review; /* all that are on active lists are to be reviewed */
};

/* What was decided, and all that it matched. */
struct list_query {
    const struct rule_answer *answer;
    const struct rule_candidate *candidates;
    size_t count;
    bool counts; /* each match is counted: in a transaction */
};

enum doppel_status list_hits_gather(struct doppel_library *library, const struct list_query *query,
                                    struct list_hits *out, struct doppel_error *error);
void list_hits_free(struct list_hits *hits);

#endif
