/* Threads that share out work, and the first thing that went wrong in any of them. */
#include <stdlib.h>

#include "corpus/dedup/dedup_internal.h"

struct hand {
    pthread_t thread;
    void (*work)(void *context, uint32_t thread);
    void *context;
    uint32_t number;
};

void crew_init(struct crew *crew, uint32_t threads)
{
    *crew = (struct crew){.threads = threads ? threads : 1};
    pthread_mutex_init(&crew->lock, NULL);
}

void crew_end(struct crew *crew)
{
    pthread_mutex_destroy(&crew->lock);
}

static void *hand_loop(void *argument)
{
    struct hand *hand = argument;
    hand->work(hand->context, hand->number);
    return NULL;
}

enum doppel_status crew_run(struct crew *crew, void (*work)(void *context, uint32_t thread),
                            void *context, struct doppel_error *error)
{
    struct hand *hands = calloc(crew->threads, sizeof *hands);
    uint32_t started = 1;
    for (; hands && started < crew->threads; started++) {
        hands[started] = (struct hand){.work = work, .context = context, .number = started};
        if (pthread_create(&hands[started].thread, NULL, hand_loop, &hands[started]))
            break;
    }
    work(context, 0);
    for (uint32_t i = 1; hands && i < started; i++)
        pthread_join(hands[i].thread, NULL);
    free(hands);
    if (crew->error.status && error)
        *error = crew->error;
    return crew->error.status;
}

void crew_fail(struct crew *crew, const struct doppel_error *error)
{
    pthread_mutex_lock(&crew->lock);
    if (!crew->error.status)
        crew->error = *error;
    pthread_mutex_unlock(&crew->lock);
}

bool crew_failed(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    bool failed = crew->error.status != DOPPEL_OK;
    pthread_mutex_unlock(&crew->lock);
    return failed;
}
