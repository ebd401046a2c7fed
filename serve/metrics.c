/* Counters of requests. */
#include "serve/metrics.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "serve/answers/answers.h"
#include "serve/http.h"
#include "serve/routes.h"
#include "serve/service.h"

enum { CLASSES = 6, BUCKETS = 9 }; /* of status: 2 is 200 to 299 */

/* Upper bounds in seconds; above the last there is no bound. */
static const double bounds[BUCKETS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 10};

struct route_metrics {
    atomic_uint_fast64_t by_class[CLASSES];
    atomic_uint_fast64_t by_time[BUCKETS + 1];
    atomic_uint_fast64_t nanoseconds;
};

struct metrics {
    int64_t begun_ns;
    struct route_metrics unknown; /* no such route */
    struct route_metrics routes[];
};

struct metrics *metrics_new(void)
{
    struct metrics *metrics = calloc(1, sizeof *metrics + route_count * sizeof metrics->routes[0]);
    if (metrics)
        metrics->begun_ns = monotonic_ns();
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    free(metrics);
}

double metrics_uptime(const struct metrics *metrics)
{
    return (double)(monotonic_ns() - metrics->begun_ns) * 1e-9;
}

void metrics_count(struct metrics *metrics, const struct exchange *exchange)
{
    struct route_metrics *route =
        exchange->route ? &metrics->routes[exchange->route - routes] : &metrics->unknown;
    int64_t took = monotonic_ns() - exchange->begun_ns;
    size_t bucket = 0;
    while (bucket < BUCKETS && (double)took * 1e-9 > bounds[bucket])
        bucket++;
    unsigned status_class = exchange->status / 100;
    atomic_fetch_add_explicit(&route->by_class[status_class < CLASSES ? status_class : 0], 1,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&route->by_time[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&route->nanoseconds, (uint64_t)took, memory_order_relaxed);
}

/* ---- as text ---- */

static void print_requests(FILE *out, const char *labels, struct route_metrics *route)
{
    for (unsigned hundreds = 0; hundreds < CLASSES; hundreds++) {
        uint64_t count = atomic_load(&route->by_class[hundreds]);
        if (count)
            fprintf(out, "doppel_requests_total{%s,status=\"%uxx\"} %" PRIu64 "\n", labels,
                    hundreds, count);
    }
}

static void print_times(FILE *out, const char *labels, struct route_metrics *route)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= BUCKETS; i++) {
        sum += atomic_load(&route->by_time[i]);
        if (i < BUCKETS)
            fprintf(out, "doppel_request_seconds_bucket{%s,le=\"%g\"} %" PRIu64 "\n", labels,
                    bounds[i], sum);
        else
            fprintf(out, "doppel_request_seconds_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", labels,
                    sum);
    }
    fprintf(out, "doppel_request_seconds_count{%s} %" PRIu64 "\n", labels, sum);
    fprintf(out, "doppel_request_seconds_sum{%s} %.6f\n", labels,
            (double)atomic_load(&route->nanoseconds) * 1e-9);
}

static void print_each(FILE *out, const struct service *service,
                       void print(FILE *, const char *, struct route_metrics *))
{
    struct metrics *metrics = service->metrics;
    char labels[160];
    for (size_t i = 0; i < route_count; i++) {
        if (!route_is_there(service, &routes[i]))
            continue;
        snprintf(labels, sizeof labels, "method=\"%s\",route=\"%s\"", routes[i].method,
                 routes[i].pattern);
        print(out, labels, &metrics->routes[i]);
    }
    print(out, "method=\"\",route=\"\"", &metrics->unknown);
}

static void print_jobs(FILE *out, const struct doppel_job_counts *jobs)
{
    const struct {
        const char *state;
        uint64_t count;
    } states[] = {{"waiting", jobs->waiting}, {"running", jobs->running}, {"failed", jobs->failed}};
    fputs("# HELP doppel_jobs Jobs that wait, run, or have failed and are not forgotten.\n"
          "# TYPE doppel_jobs gauge\n",
          out);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        fprintf(out, "doppel_jobs{state=\"%s\"} %" PRIu64 "\n", states[i].state, states[i].count);
}

/* @param jobs NULL: there are none */
static enum doppel_status put_all_metrics(struct exchange *exchange,
                                          const struct doppel_job_counts *jobs,
                                          struct doppel_error *error)
{
    struct metrics *metrics = exchange->service->metrics;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the answer");
    fputs("# HELP doppel_requests_total Requests that were answered.\n"
          "# TYPE doppel_requests_total counter\n",
          out);
    print_each(out, exchange->service, print_requests);
    fputs("# HELP doppel_request_seconds How long they took.\n"
          "# TYPE doppel_request_seconds histogram\n",
          out);
    print_each(out, exchange->service, print_times);
    fprintf(out,
            "# HELP doppel_uptime_seconds Since the service began.\n"
            "# TYPE doppel_uptime_seconds gauge\n"
            "doppel_uptime_seconds %.3f\n"
            "# HELP doppel_requests_in_flight That are not answered yet, this one among them.\n"
            "# TYPE doppel_requests_in_flight gauge\n"
            "doppel_requests_in_flight %zu\n",
            metrics_uptime(metrics), http_in_flight(exchange->service->http));
    if (jobs)
        print_jobs(out, jobs);
    bool whole = fclose(out) == 0;
    if (whole)
        doppel_json_append(&exchange->json, text, size);
    else
        exchange->json.failed = true;
    free(text);
    exchange->status = HTTP_OK;
    exchange->type = "text/plain; version=0.0.4; charset=utf-8";
    return DOPPEL_OK;
}

static enum doppel_status put_metrics(struct exchange *exchange, struct library_reader *reader,
                                      struct doppel_error *error)
{
    struct doppel_job_counts jobs;
    const enum doppel_status status = doppel_library_count_jobs(reader->library, &jobs, error);
    return status ? status : put_all_metrics(exchange, &jobs, error);
}

enum handled answer_metrics(struct exchange *exchange)
{
    struct doppel_error error;
    if (!exchange->service->cluster)
        return answer_by_reader_at_once(exchange, put_metrics);
    if (put_all_metrics(exchange, NULL, &error))
        exchange_fail(exchange, &error);
    return ANSWERED;
}
