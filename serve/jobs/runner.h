/* Those who work on jobs: threads that read inputs, and one that decides about what was read. */
#ifndef DOPPEL_SERVE_JOBS_RUNNER_H
#define DOPPEL_SERVE_JOBS_RUNNER_H

#include "serve/jobs/uploads.h"

struct runner;

/* @param uploads borrowed. @param out given (runner_free) */
enum doppel_status runner_start(const struct service *service, struct uploads *uploads,
                                struct runner **out, struct doppel_error *error);

/* What is being read is given up: it is read again at the next start. */
void runner_stop(struct runner *runner);
void runner_free(struct runner *runner);

/* There is a new job. Thread-safe. */
void runner_stir(struct runner *runner);

/* Whoever works on a job lets it be: it has ended. Thread-safe. */
void runner_drop_job(struct runner *runner, uint64_t id);

#endif
