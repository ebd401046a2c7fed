/* What the files of a node share. */
#ifndef DOPPEL_CLUSTER_NODE_INTERNAL_H
#define DOPPEL_CLUSTER_NODE_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "cluster/node/node.h"
#include "core/array.h"

struct node_family {
    struct node *node;
    struct node_family_options options;
    size_t words;
    struct doppel_index *index;
    _Atomic uint64_t users;              /* members, what waits of them, searches */
    ARRAY(struct node_member *) members; /* by number; NULL: the number is free */
    uint32_t leaving;                    /* members whose codes are being dropped */
    size_t unflushed;                    /* codes and payloads; the writer's */
    size_t unmerged;                     /* since all was merged; the writer's */
    bool is_to_merge, is_idle;
    struct doppel_error failure; /* of the writer, since when the index lacks something */
    struct node_family *next;
};

struct node_member {
    struct node_family *family;
    uint32_t number, shard;
    uint64_t joined; /* how many had joined the node, with it */
    bool has_left;
};

enum node_change_kind { NODE_ADD, NODE_REMOVE, NODE_DROP };

/* What waits for the writer; the payloads, and then the codes lie behind it. */
struct node_change {
    enum node_change_kind kind;
    struct node_member *member;
    size_t count;
    struct node_change *next;
    uint64_t words[];
};

/* Who asks the node, Redis' thread, is not to wait. So what it asks for goes through a queue, whose
 * lock is held for a few instructions, and nobody is woken meanwhile: a thread that is woken may
 * take the processor from the one that holds the lock. Where both locks are taken, the queue's is
 * second.
 */
struct node {
    pthread_mutex_t queue_lock;
    struct node_change *first, **last;
    struct node_search *first_search, **last_search;
    uint64_t asked;          /* changes */
    uint64_t joins;          /* members that have ever joined */
    uint64_t waiting;        /* codes and payloads of changes that are not applied */
    sem_t changes, searches; /* and one for each thread that is to end */

    pthread_mutex_t lock; /* of what follows, and of families but for what is the writer's */
    struct node_family *families;
    uint64_t applied; /* changes */
    pthread_cond_t has_applied, has_merges;

    bool ends; /* under the lock */
    pthread_t writer, merger, *searchers;
    uint32_t searchers_count;
    bool has_writer, has_merger;
};

/* Under the lock. The last user's frees it, after unlocking: what is returned, if anything. */
struct node_family *node_family_release(struct node_family *family);
void node_family_free(struct node_family *family);

/* Under the lock: one whose codes are dropped is no more. */
void node_member_end(struct node_member *member);

/* Of which members hits are wanted. */
struct search_filter {
    bool all;
    uint32_t low;
    uint32_t member;  /* or this one */
    uint8_t *members; /* a bit each: it is there; NULL: of all, none has left */
};
bool is_member_searched(const struct search_filter *filter, uint32_t member);

/* Insert a change of postings: an item for each payload. */
enum doppel_status node_insert_items(struct node_family *family, const struct node_change *change,
                                     struct doppel_error *error);

/* Search for keys. */
enum doppel_status node_look_up(const struct node_family *family, struct node_search *search,
                                const struct search_filter *filter);

/* Search for questions: hits have for payload the id, and below it the member. */
enum doppel_status node_look(const struct node_family *family, struct node_search *search,
                             const struct search_filter *filter);

/* What a thread does first that nobody waits for. */
void node_yield_to_askers(void);

/* Wait until something was counted, and count it down. */
void node_wait_for(sem_t *counted);

void *node_write(void *node);
void *node_merge(void *node);
void *node_search_all(void *node);

#endif
