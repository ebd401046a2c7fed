/* What was found for a query: items, each once, and what they have in common with it. */
#ifndef DOPPEL_SEARCH_RESULTS_H
#define DOPPEL_SEARCH_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/array.h"
#include <doppel/compare.h>

struct answer {
    uint64_t id;
    bool near_miss;
    struct doppel_comparison pair; /* given */
};

/* Zero-initialised it is empty. */
struct answers {
    ARRAY(struct answer) items;
};

void answers_free(struct answers *answers);

/* Forget them all. */
void answers_clear(struct answers *answers);

/* The answer of this id, or NULL; borrowed until the next is kept. */
struct answer *answers_of(const struct answers *answers, uint64_t id);

/* Keep one, taken. @return false without memory */
bool answers_keep(struct answers *answers, struct answer *answer);

/* Keep a match of no video; copied with its segments. @return false without memory */
bool answers_keep_match(struct answers *answers, const struct doppel_found *found);

/* The best first, near misses last. */
void answers_order(struct answers *answers);

#endif
