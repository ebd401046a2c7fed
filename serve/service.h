/* What the parts of a service share. */
#ifndef DOPPEL_SERVE_SERVICE_H
#define DOPPEL_SERVE_SERVICE_H

#include <stdatomic.h>

#include <doppel/worker.h>

#include "serve/serve.h"

struct service {
    const struct serve_options *options;
    struct doppel_run *run;
    struct doppel_run *upstream_run; /* of who asks the upstream; NULL: there is none */
    struct doppel_confinement held;  /* what holds the workers */
    struct client_keys *keys;
    struct metrics *metrics;
    struct readers *readers, *writing_readers;
    struct group_cache *groups;
    struct writer *writer;
    struct cluster_openings *cluster; /* of a library in a cluster, in place of readers, writer and
                                  jobs; else NULL */
    struct jobs *jobs;
    struct job_events *job_events;
    struct request_keys *request_keys;
    struct desk *desk;
    struct http *http;
    struct warm_up *warm_up;
    atomic_bool ending;
};

/* Bytes that are kept on the disk: of what waits for jobs, and of the answers to a request. */
uint64_t service_most_kept(const struct service *service);

/* The folder of temporary files. */
const char *service_temporary(const struct service *service);

#endif
