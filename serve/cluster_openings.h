/* Openings of a library in a cluster: each is of one thread at a time. */
#ifndef DOPPEL_SERVE_CLUSTER_OPENINGS_H
#define DOPPEL_SERVE_CLUSTER_OPENINGS_H

#include <doppel/shards.h>

struct service;
struct cluster_openings;

/* @param out given (cluster_openings_close). As doppel_shards_open */
enum doppel_status cluster_openings_open(const struct service *service,
                                         struct cluster_openings **out, struct doppel_error *error);
void cluster_openings_close(struct cluster_openings *openings);

/* An idle one, or another one. @param out to be given back (cluster_give). Thread-safe. */
enum doppel_status cluster_take(struct cluster_openings *openings, struct doppel_shards **out,
                                struct doppel_error *error);
void cluster_give(struct cluster_openings *openings, struct doppel_shards *shards);

#endif
