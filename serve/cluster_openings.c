/* Openings of a library in a cluster wait here while they are idle, connected as they are. */
#include "serve/cluster_openings.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/try.h"
#include "serve/service.h"

struct cluster_openings {
    pthread_mutex_t lock;
    struct doppel_run *run;
    struct doppel_shards_options options;
    ARRAY(struct doppel_shards *) idle;
};

enum doppel_status cluster_openings_open(const struct service *service,
                                         struct cluster_openings **out, struct doppel_error *error)
{
    struct cluster_openings *openings = calloc(1, sizeof *openings);
    struct doppel_shards *first;
    enum doppel_status status;
    if (!openings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a library");
    pthread_mutex_init(&openings->lock, NULL);
    openings->run = service->run;
    openings->options = service->options->cluster;
    openings->options.address = service->options->library;
    openings->options.durable = service->options->durable;
    TRY(cluster_take(openings, &first, error));
    cluster_give(openings, first);
    *out = openings;
    return DOPPEL_OK;
done:
    cluster_openings_close(openings);
    return status;
}

void cluster_openings_close(struct cluster_openings *openings)
{
    if (!openings)
        return;
    for (size_t i = 0; i < openings->idle.count; i++)
        doppel_shards_close(openings->idle.items[i]);
    array_free(&openings->idle);
    pthread_mutex_destroy(&openings->lock);
    free(openings);
}

enum doppel_status cluster_take(struct cluster_openings *openings, struct doppel_shards **out,
                                struct doppel_error *error)
{
    struct doppel_shards *shards = NULL;
    pthread_mutex_lock(&openings->lock);
    if (openings->idle.count)
        shards = openings->idle.items[--openings->idle.count];
    pthread_mutex_unlock(&openings->lock);
    if (!shards)
        return doppel_shards_open(openings->run, &openings->options, out, error);
    *out = shards;
    return DOPPEL_OK;
}

void cluster_give(struct cluster_openings *openings, struct doppel_shards *shards)
{
    pthread_mutex_lock(&openings->lock);
    const bool kept = array_push(&openings->idle, shards);
    pthread_mutex_unlock(&openings->lock);
    if (!kept)
        doppel_shards_close(shards);
}
