/* What was found for a query, while it is being found. */
#ifndef DOPPEL_SEARCH_RESULTS_H
#define DOPPEL_SEARCH_RESULTS_H

#include <doppel/search.h>

/* Forget them all. */
void results_clear(struct doppel_search_results *results);

/* Append one, in any order; its comparison is taken, also on failure. @return false without memory
 */
bool results_append(struct doppel_search_results *results, struct doppel_search_result *result);

/* Append a match of no video; copied with its segments. @return false without memory */
bool results_append_match(struct doppel_search_results *results, const struct doppel_found *found);

/* The best first, matches below the threshold last. */
void results_order(struct doppel_search_results *results);

#endif
