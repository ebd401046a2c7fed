/* Which items of a set a query may share a part with: keys vote for an item, an angle and a scale.
 */
#ifndef DOPPEL_LOCAL_VOTES_H
#define DOPPEL_LOCAL_VOTES_H

#include "local/verify.h"

enum {
    VOTES_CANDIDATES = 96,
    VOTES_HINTS = 3 /* of an item, whose patterns may vote for a wrong one */
};

struct local_candidate {
    uint64_t item;   /* start on the axis / DOPPEL_LOCAL_ITEM_LENGTH */
    uint32_t weight; /* of the votes for the first hint */
    struct verify_hint hints[VOTES_HINTS];
    uint32_t hint_count;
};

/** The candidates of a query, most weight first. @param out room for VOTES_CANDIDATES of them.
 * DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY */
enum doppel_status local_votes(const struct doppel_index_axis *axis,
                               const struct verify_query *query,
                               struct local_candidate out[VOTES_CANDIDATES], size_t *out_count,
                               struct doppel_error *error);

#endif
