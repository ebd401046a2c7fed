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

/* After a failure: what was not kept is taken back. */
void batch_give_up(struct job_batch *batch);

#endif
