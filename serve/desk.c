/* A queue, and threads that empty it. */
#include "serve/desk.h"

#include <pthread.h>
#include <stdlib.h>

#include "serve/http.h"
#include "serve/routes.h"

enum { MOST_WAITING = 4096 };

struct desk {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct exchange *first, **end;
    size_t waiting;
    bool closing;
    pthread_t *threads;
    uint32_t count; /* of threads that run */
};

static struct exchange *take_exchange(struct desk *desk)
{
    struct exchange *exchange;
    pthread_mutex_lock(&desk->lock);
    while (!desk->first && !desk->closing)
        pthread_cond_wait(&desk->work, &desk->lock);
    exchange = desk->first;
    if (exchange) {
        desk->first = exchange->next;
        desk->waiting--;
        if (!desk->first)
            desk->end = &desk->first;
    }
    pthread_mutex_unlock(&desk->lock);
    return exchange;
}

static void *work_at_desk(void *context)
{
    struct exchange *exchange;
    while ((exchange = take_exchange(context))) {
        exchange->at_desk = true;
        if (route_handler_of(exchange->service, exchange->route)(exchange) == ANSWERED)
            http_resume(exchange);
    }
    return NULL;
}

enum doppel_status desk_open(uint32_t threads, struct desk **out, struct doppel_error *error)
{
    struct desk *desk = calloc(1, sizeof *desk);
    if (desk)
        desk->threads = calloc(threads, sizeof *desk->threads);
    if (!desk || !desk->threads) {
        free(desk);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for threads");
    }
    desk->end = &desk->first;
    pthread_mutex_init(&desk->lock, NULL);
    pthread_cond_init(&desk->work, NULL);
    while (desk->count < threads &&
           !pthread_create(&desk->threads[desk->count], NULL, work_at_desk, desk))
        desk->count++;
    if (!desk->count) {
        desk_free(desk);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no thread can be started");
    }
    *out = desk;
    return DOPPEL_OK;
}

bool desk_give(struct desk *desk, struct exchange *exchange)
{
    pthread_mutex_lock(&desk->lock);
    bool taken = !desk->closing && desk->waiting < MOST_WAITING;
    if (taken) {
        exchange->next = NULL;
        *desk->end = exchange;
        desk->end = &exchange->next;
        desk->waiting++;
        pthread_cond_signal(&desk->work);
    }
    pthread_mutex_unlock(&desk->lock);
    return taken;
}

void desk_end(struct desk *desk)
{
    if (!desk)
        return;
    pthread_mutex_lock(&desk->lock);
    desk->closing = true;
    pthread_cond_broadcast(&desk->work);
    pthread_mutex_unlock(&desk->lock);
    for (uint32_t i = 0; i < desk->count; i++)
        pthread_join(desk->threads[i], NULL);
    desk->count = 0;
}

void desk_free(struct desk *desk)
{
    if (!desk)
        return;
    desk_end(desk);
    pthread_cond_destroy(&desk->work);
    pthread_mutex_destroy(&desk->lock);
    free(desk->threads);
    free(desk);
}
