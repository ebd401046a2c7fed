/* Taking back a step: what was moved comes back, what became a link becomes a file of its own. */
#ifndef DOPPEL_ACT_UNDO_H
#define DOPPEL_ACT_UNDO_H

#include <doppel/run.h>

#include "act/journal.h"

/* What came of it. */
enum undone {
    UNDO_DONE,
    UNDO_NOTHING, /* it had not happened, or was taken back by now */
    UNDO_REFUSED  /* something else is there; nothing was touched */
};

/* @param look_only nothing is touched: UNDO_DONE is what would come of it, as far as can be seen
 * @param error why not, unless UNDO_DONE; of UNDO_NOTHING what there was instead */
enum undone step_undo(const struct doppel_run *run, const struct step *step, bool look_only,
                      struct doppel_error *error);

#endif
