/* A thread that makes and merges segments, through a connection of its own, while the caller goes
 * on. */
#include "store/index_internal.h"

static void *run_merger(void *context)
{
    struct doppel_store_index *self = context;
    struct merger *merger = &self->merger;
    pthread_mutex_lock(&merger->lock);
    for (;;) {
        while (!merger->wanted && !merger->closing)
            pthread_cond_wait(&merger->changed, &merger->lock);
        if (merger->closing)
            break;
        struct doppel_error error = {0};
        merger->wanted = false;
        merger->busy = true;
        pthread_mutex_unlock(&merger->lock);
        if (self->shared)
            index_keep(self, self->merger.store, false, &error);
        else
            doppel_index_compact(self->index, false, &error);
        pthread_mutex_lock(&merger->lock);
        merger->error = error; /* tried again after the next flush */
        merger->busy = false;
        pthread_cond_broadcast(&merger->changed);
    }
    pthread_mutex_unlock(&merger->lock);
    return NULL;
}

enum doppel_status merger_start(struct doppel_store_index *self, struct doppel_error *error)
{
    struct merger *merger = &self->merger;
    struct doppel_store_options options = self->store->options;
    options.create = false;
    enum doppel_status status =
        doppel_store_open(self->store->path, &options, &merger->store, error);
    if (status)
        return status;
    pthread_mutex_init(&merger->lock, NULL);
    pthread_cond_init(&merger->changed, NULL);
    merger->wanted = !self->shared;
    /* Set before the thread runs, which compares itself with merger->thread only in a merge; the
     * lock keeps it from one until the id is stored. */
    pthread_mutex_lock(&merger->lock);
    merger->started = pthread_create(&merger->thread, NULL, run_merger, self) == 0;
    pthread_mutex_unlock(&merger->lock);
    if (merger->started)
        return DOPPEL_OK;
    pthread_cond_destroy(&merger->changed);
    pthread_mutex_destroy(&merger->lock);
    doppel_store_close(merger->store);
    merger->store = NULL;
    return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no thread to merge with", self->folder);
}

void merger_stop(struct doppel_store_index *self)
{
    struct merger *merger = &self->merger;
    if (!merger->started)
        return;
    pthread_mutex_lock(&merger->lock);
    merger->closing = true;
    pthread_cond_broadcast(&merger->changed);
    pthread_mutex_unlock(&merger->lock);
    pthread_join(merger->thread, NULL);
    merger->started = false;
    pthread_cond_destroy(&merger->changed);
    pthread_mutex_destroy(&merger->lock);
    doppel_store_close(merger->store);
}

/* Of a shared index it is started when there is work for the first time. */
void merger_wake(struct doppel_store_index *self)
{
    struct merger *merger = &self->merger;
    if (!merger->started && (!self->shared || merger_start(self, NULL)))
        return;
    pthread_mutex_lock(&merger->lock);
    merger->wanted = true;
    pthread_cond_broadcast(&merger->changed);
    pthread_mutex_unlock(&merger->lock);
}

void merger_error(struct doppel_store_index *self, struct doppel_error *out)
{
    struct merger *merger = &self->merger;
    if (!merger->started)
        return;
    pthread_mutex_lock(&merger->lock);
    *out = merger->error;
    pthread_mutex_unlock(&merger->lock);
}

void merger_pause(struct doppel_store_index *self)
{
    struct merger *merger = &self->merger;
    if (!merger->started)
        return;
    pthread_mutex_lock(&merger->lock);
    merger->wanted = false;
    while (merger->busy)
        pthread_cond_wait(&merger->changed, &merger->lock);
    pthread_mutex_unlock(&merger->lock);
}
