/* Items that a search passes over, as they have another scheme than the query. */
#ifndef DOPPEL_SEARCH_OTHER_SCHEMES_H
#define DOPPEL_SEARCH_OTHER_SCHEMES_H

#include <doppel/compare.h>
#include <doppel/library.h>

/* Of one kind. Begins as zeros. */
struct other_schemes {
    uint64_t wanted;              /* items of the scheme that is searched */
    uint64_t others;              /* of another one */
    uint64_t without_file;        /* those of them that are from a list */
    enum doppel_scheme_id scheme; /* of the first of them; from a list, if one is */
    bool reported;
};

void other_schemes_count(struct other_schemes *kinds, const struct doppel_compare_options *compare,
                         const struct doppel_item *item);

/* Where nothing was found: notice once what another scheme might have found, if that is all that
 * there is, or a list of what others made; nobody would think of it. */
void other_schemes_report(struct other_schemes *kinds, enum doppel_kind kind,
                          struct doppel_run *run);

#endif
