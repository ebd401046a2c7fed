/* Pairs of a scan that nearly match, as rows below the groups. */
#ifndef DOPPEL_TOOLS_OUTPUT_ROWS_NEAR_PAIR_ROWS_H
#define DOPPEL_TOOLS_OUTPUT_ROWS_NEAR_PAIR_ROWS_H

#include <doppel/group.h>

#include "core/array.h"
#include "tools/args/options.h"

struct report;

/* Zeroed. */
struct near_pair_rows {
    ARRAY(struct doppel_json) rows; /* held back */
};

/* @return false without memory */
bool near_pair_rows_add(struct near_pair_rows *rows, const struct doppel_group_near *near);

/* Print what is held back, and free it. @return false when stdout could not be written */
bool near_pair_rows_finish(struct near_pair_rows *rows, const struct settings *settings,
                           struct report *report);

/* Free what is held back: nothing, when they were finished. */
void near_pair_rows_free(struct near_pair_rows *rows);

#endif
