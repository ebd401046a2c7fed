/* When a query shows what an item shows, by the pairs of their frames. */
#ifndef DOPPEL_LOCAL_SHOWN_H
#define DOPPEL_LOCAL_SHOWN_H

#include "local/verify.h"

/* A frame of the query that shares points with one of an item. */
struct shown_pair {
    uint64_t id;
    uint32_t query, item, frames; /* numbers of the frames; how many the item has */
    struct doppel_local_span span;
    struct verify_found found;
};

/** The spans of an item's pairs, and what follows from them for a verdict.
 * @param pairs the best first
 * @param most rate of a pair, times the frames of the item, that counts; the best counts anyway
 * @param out given (free); `verdict` has them, too. DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status shown_spans(const struct shown_pair *pairs, size_t count, double most,
                               struct doppel_local_verdict *verdict, struct doppel_local_span **out,
                               struct doppel_error *error);

#endif
