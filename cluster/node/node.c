/* Families and their members. */
#include "cluster/node/node_internal.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

static enum doppel_status no_node_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the index of this node");
}

/* ---- the node ---- */

/* Redis' thread is not to lose its processor to a thread that it has woken: measured, that is what
 * its longest commands waited for, beside locks. Those that search do not wait so: clients do. */
void node_yield_to_askers(void)
{
    const struct sched_param none = {0};
    (void)sched_setscheduler(0, SCHED_BATCH, &none);
}

void node_wait_for(sem_t *counted)
{
    while (sem_wait(counted)) {
    }
}

static bool start_thread(pthread_t *thread, void *(*run)(void *), struct node *node)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for who started the node */
    const bool started = pthread_create(thread, NULL, run, node) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static enum doppel_status start_node_threads(struct node *node, uint32_t threads,
                                             struct doppel_error *error)
{
    node->searchers = calloc(threads, sizeof *node->searchers);
    if (!node->searchers)
        return no_node_memory(error);
    node->has_writer = start_thread(&node->writer, node_write, node);
    node->has_merger = start_thread(&node->merger, node_merge, node);
    bool started = node->has_writer && node->has_merger;
    while (started && node->searchers_count < threads) {
        started = start_thread(&node->searchers[node->searchers_count], node_search_all, node);
        node->searchers_count += started;
    }
    return started ? DOPPEL_OK
                   : doppel_fail(error, DOPPEL_E_LIMIT, "no more threads can be started");
}

enum doppel_status node_new(uint32_t threads, struct node **out, struct doppel_error *error)
{
    struct node *node = calloc(1, sizeof *node);
    if (!node)
        return no_node_memory(error);
    pthread_mutex_init(&node->queue_lock, NULL);
    pthread_mutex_init(&node->lock, NULL);
    pthread_cond_init(&node->has_applied, NULL);
    pthread_cond_init(&node->has_merges, NULL);
    sem_init(&node->changes, 0, 0);
    sem_init(&node->searches, 0, 0);
    node->last = &node->first;
    node->last_search = &node->first_search;
    const enum doppel_status status = start_node_threads(node, threads ? threads : 1, error);
    if (status)
        node_free(node);
    else
        *out = node;
    return status;
}

void node_free(struct node *node)
{
    if (!node)
        return;
    pthread_mutex_lock(&node->lock);
    node->ends = true;
    pthread_mutex_unlock(&node->lock);
    pthread_cond_broadcast(&node->has_merges);
    sem_post(&node->changes);
    for (uint32_t i = 0; i < node->searchers_count; i++)
        sem_post(&node->searches);
    if (node->has_writer)
        pthread_join(node->writer, NULL);
    if (node->has_merger)
        pthread_join(node->merger, NULL);
    for (uint32_t i = 0; i < node->searchers_count; i++)
        pthread_join(node->searchers[i], NULL);
    free(node->searchers);
    pthread_cond_destroy(&node->has_applied);
    pthread_cond_destroy(&node->has_merges);
    sem_destroy(&node->changes);
    sem_destroy(&node->searches);
    pthread_mutex_destroy(&node->lock);
    pthread_mutex_destroy(&node->queue_lock);
    free(node);
}

/* ---- families ---- */

static bool are_same_tables(const struct node_family_options *left,
                            const struct node_family_options *right)
{
    const struct doppel_index_options *a = &left->index, *b = &right->index;
    if (a->table != b->table || left->low != right->low)
        return false;
    if (a->table == DOPPEL_INDEX_POSTINGS)
        return a->key_bits == b->key_bits;
    return a->table == DOPPEL_INDEX_HAMMING
               ? a->bits == b->bits && a->design_radius == b->design_radius
               : a->lanes == b->lanes && a->bands == b->bands && a->rows == b->rows;
}

size_t node_code_words(const struct node_family_options *options)
{
    const struct doppel_index_options *index = &options->index;
    return index->table == DOPPEL_INDEX_POSTINGS  ? 1
           : index->table == DOPPEL_INDEX_HAMMING ? (index->bits + 63) / 64
                                                  : index->lanes / 4;
}

static enum doppel_status make_family(struct node *node, const struct node_family_options *options,
                                      struct node_family **out, struct doppel_error *error)
{
    struct doppel_index_options index = options->index;
    struct node_family *family = calloc(1, sizeof *family);
    if (!family)
        return no_node_memory(error);
    index.compact = true;
    index.head_codes = UINT32_MAX; /* the writer flushes it, and the merger merges */
    const enum doppel_status status = doppel_index_new(&index, &family->index, error);
    if (status) {
        free(family);
        return status;
    }
    family->node = node;
    family->options = *options;
    family->words = node_code_words(options);
    family->next = node->families;
    node->families = family;
    *out = family;
    return DOPPEL_OK;
}

static bool has_living_member(const struct node_family *family)
{
    for (size_t i = 0; i < family->members.count; i++)
        if (family->members.items[i] && !family->members.items[i]->has_left)
            return true;
    return false;
}

static enum doppel_status find_family(struct node *node, const struct node_family_options *options,
                                      struct node_family **out, struct doppel_error *error)
{
    struct node_family *family = *options->name ? node->families : NULL;
    if (options->index.table != DOPPEL_INDEX_HAMMING &&
        options->index.table != DOPPEL_INDEX_BANDS && options->index.table != DOPPEL_INDEX_POSTINGS)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a table of a node is one of codes or postings");
    if (options->low > NODE_LOW_MOST)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "up to %d bits stay the lowest",
                           (int)NODE_LOW_MOST);
    while (family && strcmp(family->options.name, options->name) != 0)
        family = family->next;
    if (family && !has_living_member(family)) {
        *family->options.name = 0; /* what is left of it is being dropped */
        family = NULL;
    }
    if (!family)
        return make_family(node, options, out, error);
    if (!are_same_tables(&family->options, options))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the family '%s' has a table of other options here", options->name);
    *out = family;
    return DOPPEL_OK;
}

struct node_family *node_family_release(struct node_family *family)
{
    struct node_family **at = &family->node->families;
    if (atomic_fetch_sub(&family->users, 1) > 1)
        return NULL;
    while (*at != family)
        at = &(*at)->next;
    *at = family->next;
    return family;
}

void node_family_free(struct node_family *family)
{
    if (!family)
        return;
    doppel_index_free(family->index);
    array_free(&family->members);
    free(family);
}

/* ---- members ---- */

static enum doppel_status enlist_member(struct node_family *family, struct node_member *member,
                                        struct doppel_error *error)
{
    size_t number = 0;
    while (number < family->members.count && family->members.items[number])
        number++;
    if (number == NODE_MEMBERS_MOST)
        return doppel_fail(error, DOPPEL_E_LIMIT, "a family has up to %d shards on a node",
                           (int)NODE_MEMBERS_MOST);
    if (number == family->members.count && !array_push(&family->members, NULL))
        return no_node_memory(error);
    family->members.items[number] = member;
    member->family = family;
    member->number = (uint32_t)number;
    pthread_mutex_lock(&family->node->queue_lock);
    member->joined = ++family->node->joins;
    pthread_mutex_unlock(&family->node->queue_lock);
    return DOPPEL_OK;
}

enum doppel_status node_join(struct node *node, const struct node_family_options *options,
                             uint32_t shard, struct node_member **out, struct doppel_error *error)
{
    struct node_family *family = NULL, *unused = NULL;
    struct node_member *member = calloc(1, sizeof *member);
    enum doppel_status status;
    if (!member)
        return no_node_memory(error);
    member->shard = shard;
    pthread_mutex_lock(&node->lock);
    TRY(find_family(node, options, &family, error));
    atomic_fetch_add(&family->users, 1);
    TRY(enlist_member(family, member, error));
    *out = member;
done:
    if (status && family)
        unused = node_family_release(family);
    pthread_mutex_unlock(&node->lock);
    node_family_free(unused);
    if (status)
        free(member);
    return status;
}

void node_member_end(struct node_member *member)
{
    struct node_family *family = member->family;
    family->members.items[member->number] = NULL;
    family->leaving--;
    free(member);
}

/* ---- changes ---- */

static uint64_t payload_of_member(const struct node_member *member, uint64_t payload)
{
    const uint32_t low = member->family->options.low;
    return (payload >> low << NODE_MEMBER_BITS | member->number) << low |
           (payload & ((UINT64_C(1) << low) - 1));
}

/* Under the lock. */
static void hide_member(struct node_member *member)
{
    member->family->leaving += !member->has_left;
    member->has_left = true;
}

static void queue_change(struct node *node, struct node_change *change)
{
    pthread_mutex_lock(&node->queue_lock);
    *node->last = change;
    node->last = &change->next;
    node->asked++;
    node->waiting += change->count;
    pthread_mutex_unlock(&node->queue_lock);
    sem_post(&node->changes);
}

static struct node_change *make_change_of(struct node_member *member, enum node_change_kind kind,
                                          size_t count)
{
    const size_t words = (kind == NODE_ADD ? member->family->words : 0) + 1;
    struct node_change *change;
    if (count > SIZE_MAX / 16 / words)
        return NULL;
    change = malloc(sizeof *change + count * words * sizeof *change->words);
    if (change)
        *change = (struct node_change){.kind = kind, .member = member, .count = count};
    return change;
}

enum doppel_status node_add(struct node_member *member, const uint64_t *codes,
                            const uint64_t *payloads, size_t count, struct doppel_error *error)
{
    struct node_change *change = count ? make_change_of(member, NODE_ADD, count) : NULL;
    if (!change)
        return count ? no_node_memory(error) : DOPPEL_OK;
    for (size_t i = 0; i < count; i++)
        change->words[i] = payload_of_member(member, payloads[i]);
    memcpy(change->words + count, codes, count * member->family->words * sizeof *codes);
    queue_change(member->family->node, change);
    return DOPPEL_OK;
}

enum doppel_status node_remove(struct node_member *member, const uint64_t *payloads, size_t count,
                               struct doppel_error *error)
{
    struct node_change *change = count ? make_change_of(member, NODE_REMOVE, count) : NULL;
    if (!change)
        return count ? no_node_memory(error) : DOPPEL_OK;
    for (size_t i = 0; i < count; i++)
        change->words[i] = payload_of_member(member, payloads[i]);
    queue_change(member->family->node, change);
    return DOPPEL_OK;
}

void node_leave(struct node_member *member, const uint64_t *payloads, size_t count)
{
    struct node *node = member->family->node;
    struct node_change *change = make_change_of(member, NODE_DROP, count);
    for (size_t i = 0; change && i < count; i++)
        change->words[i] = payload_of_member(member, payloads[i]);
    pthread_mutex_lock(&node->lock);
    hide_member(member);
    pthread_mutex_unlock(&node->lock);
    if (change)
        queue_change(node, change);
}

void node_hide_all(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    for (struct node_family *family = node->families; family; family = family->next)
        for (size_t i = 0; i < family->members.count; i++)
            if (family->members.items[i])
                hide_member(family->members.items[i]);
    pthread_mutex_unlock(&node->lock);
}

/* ---- what it tells ---- */

struct node_info node_info(const struct node_member *member)
{
    const struct node_family *family = member->family;
    struct node_info info = {.index = doppel_index_info(family->index)};
    pthread_mutex_lock(&family->node->lock);
    for (size_t i = 0; i < family->members.count; i++)
        info.members += family->members.items[i] && !family->members.items[i]->has_left;
    pthread_mutex_unlock(&family->node->lock);
    pthread_mutex_lock(&family->node->queue_lock);
    info.waiting = family->node->waiting;
    pthread_mutex_unlock(&family->node->queue_lock);
    return info;
}
