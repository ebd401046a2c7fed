/* Threads that share out work, and the first thing that went wrong in any of them. */
#include <stdlib.h>

#include "corpus/dedup/dedup_internal.h"

struct hand {
    pthread_t thread;
    void (*work)(void *context, uint32_t thread);
    void *context;
    uint32_t number;
};

void thread_team_init(struct thread_team *thread_team, uint32_t threads)
{
    *thread_team = (struct thread_team){.threads = threads ? threads : 1};
    pthread_mutex_init(&thread_team->lock, NULL);
}

void thread_team_end(struct thread_team *thread_team)
{
    pthread_mutex_destroy(&thread_team->lock);
}

static void *hand_loop(void *argument)
{
    struct hand *hand = argument;
    hand->work(hand->context, hand->number);
    return NULL;
}

enum doppel_status thread_team_run(struct thread_team *thread_team,
                                   void (*work)(void *context, uint32_t thread), void *context,
                                   struct doppel_error *error)
{
    struct hand *hands = calloc(thread_team->threads, sizeof *hands);
    uint32_t started = 1;
    for (; hands && started < thread_team->threads; started++) {
        hands[started] = (struct hand){.work = work, .context = context, .number = started};
        if (pthread_create(&hands[started].thread, NULL, hand_loop, &hands[started]))
            break;
    }
    work(context, 0);
    for (uint32_t i = 1; hands && i < started; i++)
        pthread_join(hands[i].thread, NULL);
    free(hands);
    if (thread_team->error.status && error)
        *error = thread_team->error;
    return thread_team->error.status;
}

void thread_team_fail(struct thread_team *thread_team, const struct doppel_error *error)
{
    pthread_mutex_lock(&thread_team->lock);
    if (!thread_team->error.status)
        thread_team->error = *error;
    pthread_mutex_unlock(&thread_team->lock);
}

bool thread_team_failed(struct thread_team *thread_team)
{
    pthread_mutex_lock(&thread_team->lock);
    bool failed = thread_team->error.status != DOPPEL_OK;
    pthread_mutex_unlock(&thread_team->lock);
    return failed;
}
