/* Jobs: inputs that a service accepts at once and ingests afterwards. They are rows of the
 * library's catalogue (doppel/library_jobs.h), so that what is accepted is done, whatever happens
 * to the process; and what is decided of an input is kept in the same transaction as the item. */
#ifndef DOPPEL_SERVE_JOBS_JOBS_H
#define DOPPEL_SERVE_JOBS_JOBS_H

#include <doppel/library.h>

#include "serve/inputs.h"

struct jobs;

/* The library is there. Those that have not ended go on. @param out given (jobs_close) */
enum doppel_status jobs_open(struct service *service, struct jobs **out,
                             struct doppel_error *error);

/* Nobody works on them any more; they may still be accepted. */
void jobs_stop(struct jobs *jobs);
void jobs_close(struct jobs *jobs);

/* Where files that come in for a job are to lie. */
const char *jobs_folder(const struct jobs *jobs);

/* A job that is asked for. Borrowed. */
struct job_request {
    const struct inputs *inputs; /* none with an error */
    const char *client;          /* NULL: it has no name */
    const char *webhook;         /* to be called when the job has ended; NULL: none */
};

/* Accept a job, which is kept then. DOPPEL_E_NO_SPACE: what waits is too much; DOPPEL_E_ARGUMENT;
 * as doppel_webhook_check and doppel_library_add_job. Thread-safe. */
enum doppel_status jobs_accept(struct jobs *jobs, const struct job_request *request,
                               uint64_t *out_id, struct doppel_error *error);

/* One that has ended stays as it is. DOPPEL_E_NOT_FOUND. Thread-safe. */
enum doppel_status jobs_cancel(struct jobs *jobs, uint64_t id, struct doppel_error *error);

/* A job as an object, begun and ended by the caller. */
void put_job(struct doppel_json *json, const struct doppel_job *job);

#endif
