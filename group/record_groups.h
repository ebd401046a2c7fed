/* The groups of records of corpora, as their library links them: nothing is found again. */
#ifndef DOPPEL_GROUP_RECORD_GROUPS_H
#define DOPPEL_GROUP_RECORD_GROUPS_H

#include "group/grouping.h"
#include <doppel/library.h>

/* All are borrowed. */
struct record_groups {
    struct doppel_run *run;
    struct doppel_library *library;
    const struct doppel_item_set *wanted;
    const struct manual_labels *labels; /* may be none */
    const struct doppel_compare_options *compare;
};

/* Visit them, one after the other, as groups of texts: linked_groups' `visit`. What is damaged is
 * reported. @param context struct record_groups. DOPPEL_E_CANCELLED when the run is to end */
enum doppel_status record_groups_visit(void *context, uint64_t *number,
                                       const struct group_receiver *receiver,
                                       struct doppel_error *error);

#endif
