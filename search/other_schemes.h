/* Items that a search passes over, as they have another scheme than the query. */
#ifndef DOPPEL_SEARCH_OTHER_SCHEMES_H
#define DOPPEL_SEARCH_OTHER_SCHEMES_H

#include <doppel/search.h>

/* Where nothing was found: notice what another scheme might have found, if that is all that there
 * is, or a list of what others made; nobody would think of it. */
void other_schemes_report(const struct doppel_search_options *options,
                          struct doppel_library *library, enum doppel_kind kind,
                          struct doppel_run *run);

/* Notice how many items are of another version of what is searched. */
void other_versions_report(const struct doppel_search_options *options,
                           struct doppel_library *library, struct doppel_run *run);

#endif
