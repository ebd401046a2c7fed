/* One duplicate: what is to be done about it, doing it, and taking it back. */
#ifndef DOPPEL_ACT_STEP_H
#define DOPPEL_ACT_STEP_H

#include <doppel/act.h>

#include "act/held.h"
#include "act/journal.h"

/* A duplicate, and the file that is kept, held open from the check to the deed. */
struct held_pair {
    struct held_file twin, kept;
    struct trash_can trash; /* of DOPPEL_ACTION_TRASH, once the step is made */
};

struct pair_files {
    const char *path, *kept;
    struct doppel_file_stamp stamp, kept_stamp;
    bool will_be_compared; /* byte by byte, before anything is done: that they are copies of what
                              was read, with its size and mtime, is enough */
};

/* Open both and look at what can be known without reading them: that they are as they were, are two
 * files, and that the action can be taken where they are. Both are locked (flock) as long as they
 * are open, the duplicate against all others.
 * @param out given (pair_close)
 * @return DOPPEL_E_EMPTY when they are one file already, DOPPEL_E_NOT_FOUND when the duplicate is
 * gone
 */
enum doppel_status pair_open(const struct doppel_run *run, const struct pair_files *files,
                             enum doppel_action action, struct held_pair *out,
                             struct doppel_error *error);
void pair_close(struct held_pair *pair);

/* What is to be written into the journal.
 * @param out given (step_free), but for run and number; of a dry run without what has to be made */
enum doppel_status step_make(struct held_pair *pair, const struct doppel_act_policy *policy,
                             struct journal_entry *out, struct doppel_error *error);

/* Number the step, and give it a name for what is beside the duplicate for a moment. */
enum doppel_status step_number(struct journal_entry *step, uint64_t run, uint64_t number,
                               struct doppel_error *error);

/* Take it. */
enum doppel_status step_take(const struct held_pair *pair, const struct journal_entry *step,
                             struct doppel_error *error);

/* ---- taking it back: what was moved returns, what became a link becomes a file again ---- */

/* What came of it. */
enum undone {
    UNDO_DONE,
    UNDO_NOTHING, /* it had not happened, or was taken back by now */
    UNDO_REFUSED  /* something else is there; nothing was touched */
};

/* Steps of a run about one file: of its names, where there are several. Borrowed. */
struct steps_of_file {
    const struct journal_entry *const *steps;
    size_t count;
};

/* @param same the steps about its file: what has its bytes again under another name gets this name,
 *             too
 * @param look_only nothing is touched: UNDO_DONE is what would come of it, as far as can be seen
 * @param error why not, unless UNDO_DONE; of UNDO_NOTHING what there was instead */
enum undone step_undo(const struct doppel_run *run, const struct journal_entry *step,
                      const struct steps_of_file *same, bool look_only, struct doppel_error *error);

#endif
