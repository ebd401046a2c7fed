/* Items of other schemes than the query: asked, too, or counted, so that nobody takes them for not
 * found. */
#ifndef DOPPEL_SEARCH_OTHER_SCHEMES_H
#define DOPPEL_SEARCH_OTHER_SCHEMES_H

#include <doppel/search.h>

/* Zero-initialised: none was asked yet. */
struct other_schemes {
    struct doppel_search *searches[DOPPEL_SEARCH_SCHEMES]; /* by scheme; NULL: not made yet */
    uint64_t counts[DOPPEL_SEARCH_SCHEMES];                /* of items; 0: not counted yet */
    bool reported[DOPPEL_KIND_VIDEO + 1];
};
void other_schemes_free(struct other_schemes *others);

/* Of one search. All borrowed. */
struct other_schemes_query {
    struct doppel_run *run;
    struct doppel_library *library;
    const struct doppel_search_options *options;
    const struct doppel_scheme *scheme; /* by which it was asked already */
    const struct doppel_record *record; /* NULL: of a code */
    const char *name;
};

/* Add what has other schemes of its kind to the results, or count it there. As
 * doppel_search_record. */
enum doppel_status other_schemes_search(struct other_schemes *others,
                                        const struct other_schemes_query *query,
                                        struct doppel_search_results *results,
                                        struct doppel_error *error);

/* Notice how many items are of another version of what is searched. */
void other_versions_report(const struct doppel_search_options *options,
                           struct doppel_library *library, struct doppel_run *run);

#endif
