/* What was asked, how often, and how long it took, as Prometheus reads it. */
#ifndef DOPPEL_SERVE_METRICS_H
#define DOPPEL_SERVE_METRICS_H

#include "serve/exchange.h"

struct metrics;

/* @return given (metrics_free); NULL: no memory */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* Seconds since it began. */
double metrics_uptime(const struct metrics *metrics);

/* A request is over. Thread-safe. */
void metrics_count(struct metrics *metrics, const struct exchange *exchange);

#endif
