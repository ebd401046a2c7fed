/* What matches an item of a benign list is nobody's duplicate by that: its other matches are
 * suppressed, where the benign item explains them. */
#ifndef DOPPEL_SEARCH_ALLOW_LIST_H
#define DOPPEL_SEARCH_ALLOW_LIST_H

#include <stddef.h>

#include <doppel/library.h>

/* A match of a query, and what the lists make of its item. */
struct listed_match {
    uint64_t id;
    enum doppel_list_state state;
    const struct doppel_segment *segments; /* where in the query; borrowed */
    size_t segment_count;                  /* 0: the query as a whole */
    uint64_t suppressed_by;                /* set: the benign item that explains it; 0: none */
};

/**
 * Mark the matches of a query that allow-listed items explain.
 *
 * One that matches the query as a whole explains all others. One that matches parts of it explains
 * others whose parts lie to 80 % or more within those of all benign items. Benign items explain
 * each other never, and items of disabled lists nothing.
 * DOPPEL_OK; DOPPEL_E_MEMORY.
 */
enum doppel_status allow_list_apply(struct listed_match *matches, size_t count,
                                    struct doppel_error *error);

#endif
