/* Calls about jobs that have ended: one thread makes them, one after the other, and again after a
 * while that grows, until somebody answers 2xx. When the next one is due is a row's: so they
 * outlive the process. */
#ifndef DOPPEL_SERVE_JOBS_WEBHOOKS_H
#define DOPPEL_SERVE_JOBS_WEBHOOKS_H

#include <doppel/client_webhook.h>

struct service;
struct uploads;
struct webhooks;

/* @param out given (webhooks_close); NULL where no host is allowed. DOPPEL_E_ARGUMENT: an option is
 * wrong */
enum doppel_status webhooks_open(const struct service *service, const struct uploads *uploads,
                                 struct webhooks **out, struct doppel_error *error);
void webhooks_stop(struct webhooks *webhooks);
void webhooks_close(struct webhooks *webhooks);

/* Whether a job may name it. @param webhooks NULL: nobody may be called. As doppel_webhook_check */
enum doppel_status webhooks_check(const struct webhooks *webhooks, const char *url,
                                  struct doppel_error *error);

#endif
