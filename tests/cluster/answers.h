/* Searches of a node that a test waits for. */
#ifndef TESTS_CLUSTER_ANSWERS_H
#define TESTS_CLUSTER_ANSWERS_H

#include <pthread.h>

#include "cluster/node/node.h"

struct answer {
    struct node_search search;
    pthread_mutex_t lock;
    pthread_cond_t is_there;
    bool there;
};

static inline void note_answer(struct node_search *search)
{
    struct answer *answer = search->context;
    pthread_mutex_lock(&answer->lock);
    answer->there = true;
    pthread_cond_signal(&answer->is_there);
    pthread_mutex_unlock(&answer->lock);
}

/* @param answer whose search says what is wanted */
static inline void begin_answer(struct answer *answer, struct node_member *member)
{
    answer->there = false;
    answer->search.done = note_answer;
    answer->search.context = answer;
    pthread_mutex_init(&answer->lock, NULL);
    pthread_cond_init(&answer->is_there, NULL);
    node_search(member, &answer->search);
}

static inline void wait_for_answer(struct answer *answer)
{
    pthread_mutex_lock(&answer->lock);
    while (!answer->there)
        pthread_cond_wait(&answer->is_there, &answer->lock);
    pthread_mutex_unlock(&answer->lock);
    pthread_mutex_destroy(&answer->lock);
    pthread_cond_destroy(&answer->is_there);
}

#endif
