/* Whether what has other bytes than the file that it goes for is its duplicate all the same, when
 * both are read again. */
#ifndef DOPPEL_ACT_CONFIRM_H
#define DOPPEL_ACT_CONFIRM_H

#include "act/plan_internal.h"

/* The file to keep in hand: of a group it is read once. Zero at first. */
struct confirmation {
    const struct doppel_plan_file *kept; /* NULL: none */
    struct doppel_record record;         /* of it */
    struct doppel_error failure;         /* why there is none */
};

/* Whether a file goes by what was computed of it alone. */
bool wants_confirmation(const struct doppel_plan_file *file);

/* @return DOPPEL_OK; DOPPEL_E_CHANGED: it is no duplicate, or one of them cannot be read any more;
 * DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY; DOPPEL_E_ARGUMENT: of kinds that are not compared */
enum doppel_status confirm_duplicate(struct doppel_run *run, const struct doppel_plan *plan,
                                     const struct doppel_plan_file *file,
                                     struct confirmation *confirmation,
                                     struct doppel_error *reason);
void confirmation_free(struct confirmation *confirmation);

#endif
