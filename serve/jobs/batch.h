/* Inputs of jobs that are decided about together. What is decided of one is written to its job in
 * the transaction that keeps its item. */
#ifndef DOPPEL_SERVE_JOBS_BATCH_H
#define DOPPEL_SERVE_JOBS_BATCH_H

#include "serve/jobs/claims.h"

struct job_batch {
    const struct service *service;
    struct doppel_library *library;
    struct doppel_decider *decider; /* NULL: none yet, or the last one could not go on */
    struct claimed_input *claims[MOST_CLAIMS];
    size_t count, kept; /* how many are written */
};

/* Decide about all. On failure some may be kept: the rows of their jobs say which. */
enum doppel_status batch_decide(struct job_batch *batch, struct doppel_error *error);

/* What an upstream has answered since about a job's inputs that are decided: the last process may
 * have ended before. In two steps: the first may wait for the upstream, the second writes.
 * @param decided how many, the first of the job */
enum doppel_status batch_settle(struct job_batch *batch, struct doppel_error *error);
enum doppel_status batch_bring_up(struct job_batch *batch, uint64_t job, uint64_t decided,
                                  struct doppel_error *error);

/* After a failure: what was not kept is taken back. */
void batch_give_up(struct job_batch *batch);

#endif
