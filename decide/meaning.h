/* Texts that are new by their words, compared by their meaning. */
#ifndef DOPPEL_DECIDE_MEANING_H
#define DOPPEL_DECIDE_MEANING_H

#include <doppel/decide.h>

struct meaning_stage;

/* @param options borrowed. NULL without memory */
struct meaning_stage *meaning_stage_new(struct doppel_run *run,
                                        const struct doppel_decide_options *options);
void meaning_stage_free(struct meaning_stage *stage);

/* As doppel_decider_search_meaning. */
enum doppel_status meaning_stage_search(struct meaning_stage *stage,
                                        const struct doppel_decide_meaning *meaning,
                                        struct doppel_decided *decided, struct doppel_error *error);

/* Do it by `semantic` of the options, if there is one: set what a decision is linked to, and keep
 * the vectors of what was added, or was there without. A text that cannot be embedded is a notice
 * of the run, once, and others are decided without.
 * @param stage NULL: there is none. @return DOPPEL_OK; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY */
enum doppel_status meaning_stage_run(struct meaning_stage *stage, struct doppel_decided *decided,
                                     struct doppel_error *error);

/* Notify of how many texts that were there got their vectors since the last time, if any. */
void meaning_stage_end(struct meaning_stage *stage);

#endif
