/* Items that a search passes over, as they have another scheme than what is asked for. */
#ifndef DOPPEL_SEARCH_OTHER_SCHEMES_H
#define DOPPEL_SEARCH_OTHER_SCHEMES_H

#include "tools/args/options.h"
#include <doppel/run.h>

/* Of one kind. Begins as zeros. */
struct other_schemes {
    uint64_t wanted;              /* items of the scheme that is asked for */
    uint64_t others;              /* of another one */
    uint64_t without_file;        /* those of them that are from a list */
    enum doppel_scheme_id scheme; /* of the first of them; from a list, if one is */
    bool said;
};

void other_schemes_note(struct other_schemes *kinds, const struct settings *settings,
                        const struct doppel_item *item);

/* Where nothing was found: say once what might have been by another scheme, if that is all that
 * there is, or a list of what others made; nobody would think of it. */
void other_schemes_say(struct other_schemes *kinds, const struct settings *settings,
                       enum doppel_kind kind, struct doppel_run *run);

#endif
