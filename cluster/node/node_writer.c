/* What changes the indexes of a node: one thread applies what was asked for, in order, and another
 * merges segments. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/node/node_internal.h"

enum {
    HEAD_CODES = 1 << 16, /* at which a head becomes a segment */
    INSERTED_CODES = 1 << 12,
    LOADED_CODES = 1 << 15, /* so many at once are a segment of their own */
    /* When nothing more comes, all is merged, head and segments: one of them is smaller, and faster
     * to search. Not for fewer codes, or a smaller part of all, so that none is written often. */
    IDLE_CODES = 1 << 12,
    IDLE_PART = 16,
    IDLE_MS = 300
};

/* ---- one change ---- */

struct change_reading {
    const struct node_change *change;
    size_t words, at;
};

static size_t read_change(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct change_reading *reading = context;
    const struct node_change *change = reading->change;
    const size_t left = change->count - reading->at, count = left < max ? left : max;
    const uint64_t *from = change->words + change->count + reading->at * reading->words;
    memcpy(payloads, change->words + reading->at, count * sizeof *payloads);
    memcpy(codes, from, count * reading->words * sizeof *codes);
    reading->at += count;
    return count;
}

static void rewind_change(void *context)
{
    ((struct change_reading *)context)->at = 0;
}

/* A few at a time: who looks at the index waits for each call. */
static enum doppel_status insert_codes(struct node_family *family, const struct node_change *change,
                                       struct doppel_error *error)
{
    const uint64_t *codes = change->words + change->count;
    enum doppel_status status = DOPPEL_OK;
    for (size_t at = 0; at < change->count && !status; at += INSERTED_CODES) {
        const size_t left = change->count - at;
        status = doppel_index_insert(family->index, codes + at * family->words, change->words + at,
                                     left < INSERTED_CODES ? left : INSERTED_CODES, error);
    }
    return status;
}

static enum doppel_status apply_codes(struct node_family *family, const struct node_change *change,
                                      struct doppel_error *error)
{
    struct change_reading reading = {change, family->words, 0};
    const struct doppel_index_load load = {
        .count = change->count, .read = read_change, .rewind = rewind_change, .context = &reading};
    if (family->options.index.table == DOPPEL_INDEX_POSTINGS)
        return node_insert_items(family, change, error);
    if (change->count < LOADED_CODES)
        return insert_codes(family, change, error);
    family->unflushed = HEAD_CODES; /* what waits is flushed with it, and there is more to merge */
    return doppel_index_bulk(family->index, &load, error);
}

static enum doppel_status flush_family(struct node_family *family, bool is_idle,
                                       struct doppel_error *error)
{
    family->unflushed = 0;
    const enum doppel_status status = doppel_index_flush(family->index, error);
    pthread_mutex_lock(&family->node->lock);
    family->is_to_merge = true;
    family->is_idle = is_idle;
    pthread_mutex_unlock(&family->node->lock);
    pthread_cond_signal(&family->node->has_merges);
    return status;
}

static enum doppel_status apply_change(struct node_family *family, const struct node_change *change,
                                       struct doppel_error *error)
{
    enum doppel_status status =
        change->kind == NODE_ADD
            ? apply_codes(family, change, error)
            : doppel_index_remove(family->index, change->words, change->count, error);
    family->unflushed += change->count;
    family->unmerged += change->count;
    return status || family->unflushed < HEAD_CODES ? status : flush_family(family, false, error);
}

/* ---- the writer ---- */

/* Under the lock. @return the family, where this was the last that used it */
static struct node_family *end_node_change(struct node *node, struct node_change *change)
{
    struct node_family *family = change->member->family;
    node->applied++;
    if (change->kind != NODE_DROP)
        return NULL;
    node_member_end(change->member);
    return node_family_release(family);
}

static void apply_next(struct node *node, struct node_change *change)
{
    struct node_family *family = change->member->family, *unused;
    struct doppel_error error;
    const enum doppel_status status = apply_change(family, change, &error);
    pthread_mutex_lock(&node->lock);
    if (status && !family->failure.status)
        family->failure = error;
    unused = end_node_change(node, change);
    pthread_mutex_unlock(&node->lock);
    pthread_cond_broadcast(&node->has_applied);
    node_family_free(unused);
}

static bool is_idle_merge_due(const struct node_family *family)
{
    return family->unmerged >= IDLE_CODES &&
           family->unmerged >= doppel_index_count(family->index) / IDLE_PART;
}

/* @return used (node_family_release) */
static struct node_family *idle_family(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    struct node_family *family = node->families;
    while (family && !is_idle_merge_due(family))
        family = family->next;
    if (family)
        atomic_fetch_add(&family->users, 1);
    pthread_mutex_unlock(&node->lock);
    return family;
}

static void merge_idle_families(struct node *node)
{
    struct node_family *family, *unused;
    while ((family = idle_family(node)) != NULL) {
        family->unmerged = 0;
        (void)flush_family(family, true, NULL); /* without memory it stays as it is */
        pthread_mutex_lock(&node->lock);
        unused = node_family_release(family);
        pthread_mutex_unlock(&node->lock);
        node_family_free(unused);
    }
}

static bool comes_soon(sem_t *counted)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += IDLE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return sem_clockwait(counted, CLOCK_MONOTONIC, &until) == 0;
}

static void wait_for_change(struct node *node)
{
    if (sem_trywait(&node->changes) == 0 || comes_soon(&node->changes))
        return;
    merge_idle_families(node);
    node_wait_for(&node->changes);
}

/* @return NULL: there is none any more, and the node ends */
static struct node_change *take_change(struct node *node)
{
    wait_for_change(node);
    pthread_mutex_lock(&node->queue_lock);
    struct node_change *change = node->first;
    if (change)
        node->first = change->next;
    if (!node->first)
        node->last = &node->first;
    pthread_mutex_unlock(&node->queue_lock);
    return change;
}

void *node_write(void *context)
{
    struct node *node = context;
    struct node_change *change;
    node_yield_to_askers();
    while ((change = take_change(node)) != NULL) {
        apply_next(node, change);
        pthread_mutex_lock(&node->queue_lock);
        node->waiting -= change->count;
        pthread_mutex_unlock(&node->queue_lock);
        free(change);
    }
    return NULL;
}

/* ---- the merger ---- */

static struct node_family *family_to_merge(const struct node *node)
{
    struct node_family *family = node->families;
    while (family && !family->is_to_merge)
        family = family->next;
    return family;
}

void *node_merge(void *context)
{
    struct node *node = context;
    node_yield_to_askers();
    pthread_mutex_lock(&node->lock);
    while (!node->ends) {
        struct node_family *family = family_to_merge(node), *unused;
        if (!family) {
            pthread_cond_wait(&node->has_merges, &node->lock);
            continue;
        }
        family->is_to_merge = false;
        const bool all = family->is_idle;
        atomic_fetch_add(&family->users, 1);
        pthread_mutex_unlock(&node->lock);
        (void)doppel_index_compact(family->index, all, NULL); /* without memory it stays as it is */
        pthread_mutex_lock(&node->lock);
        unused = node_family_release(family);
        pthread_mutex_unlock(&node->lock);
        node_family_free(unused);
        pthread_mutex_lock(&node->lock);
    }
    pthread_mutex_unlock(&node->lock);
    return NULL;
}
