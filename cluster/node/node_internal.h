/* What the files of a node share. */
#ifndef DOPPEL_CLUSTER_NODE_INTERNAL_H
#define DOPPEL_CLUSTER_NODE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "cluster/node/node.h"
#include "core/array.h"

struct node_family {
    struct node *node;
    struct node_family_options options;
    size_t words;
    struct doppel_index *index;
    uint64_t users;                      /* members, what waits of them, searches */
    ARRAY(struct node_member *) members; /* by number; NULL: the number is free */
    uint32_t leaving;                    /* members whose codes are being dropped */
    size_t unflushed;                    /* codes and payloads; the writer's */
    bool is_to_merge;
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

struct node {
    pthread_mutex_t lock; /* of all that follows, and of families but for what is the writer's */
    struct node_family *families;
    struct node_change *first, **last;
    uint64_t asked, applied; /* changes */
    uint64_t joins;          /* members that have ever joined */
    uint64_t waiting;        /* codes and payloads of changes that are not applied */
    struct node_search *first_search, **last_search;
    bool ends;
    pthread_cond_t has_changes, has_applied, has_merges, has_searches;
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

/* Search for questions: hits have for payload the id, and below it the member. */
enum doppel_status node_look(const struct node_family *family, struct node_search *search,
                             const struct search_filter *filter);

void *node_write(void *node);
void *node_merge(void *node);
void *node_search_all(void *node);

#endif
