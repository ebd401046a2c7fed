/* Numbered pieces of work on several threads: a ring of slots between workers and the caller. */
#include "core/ordered.h"

#include <pthread.h>

enum { MAX_THREADS = 64, MAX_SLOTS = 2 * MAX_THREADS };

struct order_ring {
    const struct ordered *run;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t slots;
    size_t next;      /* piece that nobody has begun */
    size_t delivered; /* pieces handed over: their slots are free */
    bool done[MAX_SLOTS];
    bool ended;
};

static uint32_t ordered_thread_count(const struct ordered *run)
{
    uint32_t threads = run->threads < MAX_THREADS ? run->threads : MAX_THREADS;
    if (threads > run->pieces)
        threads = (uint32_t)run->pieces;
    return threads ? threads : 1;
}

size_t ordered_slots(const struct ordered *run)
{
    uint32_t threads = ordered_thread_count(run);
    return threads == 1 ? 1 : 2 * (size_t)threads;
}

static bool run_here(const struct ordered *run)
{
    for (size_t piece = 0; piece < run->pieces; piece++) {
        run->work(run->context, piece, 0);
        if (!run->deliver(run->context, piece, 0))
            return false;
    }
    return true;
}

/* The next piece once its slot is free; false when there is none. With the lock held. */
static bool take_ring(struct order_ring *ring, size_t *out_piece)
{
    while (!ring->ended && ring->next < ring->run->pieces &&
           ring->next >= ring->delivered + ring->slots)
        pthread_cond_wait(&ring->changed, &ring->lock);
    if (ring->ended || ring->next >= ring->run->pieces)
        return false;
    *out_piece = ring->next++;
    return true;
}

static void *work_loop(void *argument)
{
    struct order_ring *ring = argument;
    size_t piece;
    pthread_mutex_lock(&ring->lock);
    while (take_ring(ring, &piece)) {
        pthread_mutex_unlock(&ring->lock);
        ring->run->work(ring->run->context, piece, piece % ring->slots);
        pthread_mutex_lock(&ring->lock);
        ring->done[piece % ring->slots] = true;
        pthread_cond_broadcast(&ring->changed);
    }
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

static bool deliver_loop(struct order_ring *ring)
{
    const struct ordered *run = ring->run;
    bool go_on = true;
    pthread_mutex_lock(&ring->lock);
    while (go_on && ring->delivered < run->pieces) {
        size_t piece = ring->delivered, slot = piece % ring->slots;
        while (!ring->done[slot])
            pthread_cond_wait(&ring->changed, &ring->lock);
        pthread_mutex_unlock(&ring->lock);
        go_on = run->deliver(run->context, piece, slot);
        pthread_mutex_lock(&ring->lock);
        ring->done[slot] = false;
        ring->delivered++;
        pthread_cond_broadcast(&ring->changed);
    }
    ring->ended = true;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
    return go_on;
}

bool ordered_run(const struct ordered *run)
{
    uint32_t wanted = ordered_thread_count(run), started = 0;
    if (wanted == 1)
        return run_here(run);
    struct order_ring ring = {.run = run, .slots = ordered_slots(run)};
    pthread_t threads[MAX_THREADS];
    pthread_mutex_init(&ring.lock, NULL);
    pthread_cond_init(&ring.changed, NULL);
    while (started < wanted && pthread_create(&threads[started], NULL, work_loop, &ring) == 0)
        started++;
    bool complete = started ? deliver_loop(&ring) : run_here(run);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&ring.changed);
    pthread_mutex_destroy(&ring.lock);
    return complete;
}
