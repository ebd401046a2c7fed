/* Progress of jobs as it happens: server-sent events, a stream for each who looks. A stream has no
 * thread: one looks at the jobs of all, and wakes a connection when there is something to say. */
#ifndef DOPPEL_SERVE_JOBS_EVENTS_H
#define DOPPEL_SERVE_JOBS_EVENTS_H

#include "serve/exchange.h"

struct job_events;

/* @param out given (job_events_close) */
enum doppel_status job_events_open(const struct service *service, struct job_events **out,
                                   struct doppel_error *error);

/* All streams end soon, and new ones at once. */
void job_events_stop(struct job_events *events);
void job_events_close(struct job_events *events);

/* Let a reply be the events of a job. @return false: no memory */
bool job_events_stream(struct job_events *events, struct exchange *exchange, uint64_t job);

#endif
