/* Searches of a node, by threads of their own. */
#include <stdlib.h>
#include <string.h>

#include "cluster/node/node_internal.h"

enum { NO_SHARD = UINT16_MAX };

static enum doppel_status no_memory_to_search(struct node_search *search)
{
    return doppel_fail(&search->error, DOPPEL_E_MEMORY, "no memory to search");
}

/* ---- which codes ---- */

bool is_member_searched(const struct search_filter *filter, uint32_t member)
{
    if (!filter->all)
        return member == filter->member;
    return !filter->members || filter->members[member / 8] >> member % 8 & 1;
}

static bool is_searched(void *context, uint64_t payload)
{
    const struct search_filter *filter = context;
    return is_member_searched(filter, (uint32_t)(payload >> filter->low & (NODE_MEMBERS_MOST - 1)));
}

/* Under the lock. Codes of members that have left may be there yet. */
static bool make_filter(const struct node_family *family, const struct node_search *search,
                        struct search_filter *filter)
{
    *filter = (struct search_filter){
        .all = search->all, .low = family->options.low, .member = search->member};
    if (!search->all || !family->leaving)
        return true;
    filter->members = calloc(NODE_MEMBERS_MOST / 8, 1);
    for (size_t i = 0; filter->members && i < family->members.count; i++) {
        const struct node_member *member = family->members.items[i];
        if (member && !member->has_left)
            filter->members[i / 8] |= (uint8_t)(1U << i % 8);
    }
    return filter->members != NULL;
}

/* ---- one search ---- */

static enum doppel_status run_search(const struct node_family *family, struct node_search *search,
                                     struct search_filter *filter)
{
    if (search->questions)
        return node_look(family, search, filter);
    if (family->options.index.table == DOPPEL_INDEX_POSTINGS)
        return node_look_up(family, search, filter);
    struct doppel_index_request request = {.queries = search->codes,
                                           .count = search->count,
                                           .radius = search->radius,
                                           .nearest = search->nearest};
    if (filter->members || !filter->all) {
        request.filter = is_searched;
        request.filter_context = filter;
    }
    return doppel_index_search_array(family->index, &request, &search->hits, &search->hit_count,
                                     &search->error);
}

/* Under the lock, when it is done: a member that is there yet, and was when the search was asked
 * for, was there all the time. One that joined later was not, even if nothing else came between:
 * its codes follow it. */
static bool was_searched(const struct node_member *member, const struct node_search *search)
{
    return member && !member->has_left && member->joined <= search->joins;
}

/* Under the lock. @param shards of each member, or NO_SHARD. */
static void note_shards(const struct node_family *family, struct node_search *search,
                        uint16_t *shards)
{
    for (size_t i = 0; i < family->members.count; i++) {
        const struct node_member *member = family->members.items[i];
        shards[i] = NO_SHARD;
        if (!was_searched(member, search))
            continue;
        const size_t at = member->shard / 8;
        shards[i] = (uint16_t)member->shard;
        search->shards[at] |= (uint8_t)(1U << member->shard % 8);
        search->shards_bytes = at >= search->shards_bytes ? at + 1 : search->shards_bytes;
    }
}

/* Under the lock. @param out_shards given (free) */
static enum doppel_status list_searched(const struct node_family *family,
                                        struct node_search *search, uint16_t **out_shards)
{
    const struct node_member *own = family->members.items[search->member];
    if (!search->all && (!was_searched(own, search) || own->joined != search->joined))
        return doppel_fail(&search->error, DOPPEL_E_NOT_FOUND,
                           "what was searched is not here any more: ask again");
    *out_shards = malloc(family->members.count * sizeof **out_shards);
    if (!*out_shards)
        return no_memory_to_search(search);
    note_shards(family, search, *out_shards);
    return DOPPEL_OK;
}

/* Members become shards; a member that was not there all the time may be another one now. */
static void place_hits(struct node_search *search, uint32_t low, const uint16_t *shards)
{
    size_t placed = 0;
    for (size_t i = 0; i < search->hit_count; i++) {
        const uint64_t payload = search->hits[i].payload, above = payload >> low;
        const uint16_t shard = shards[above & (NODE_MEMBERS_MOST - 1)];
        if (shard == NO_SHARD)
            continue;
        search->hits[placed] = search->hits[i];
        search->hits[placed++].payload =
            ((above >> NODE_MEMBER_BITS) << low | (payload & ((UINT64_C(1) << low) - 1)))
                << NODE_MEMBER_BITS |
            shard;
    }
    search->hit_count = placed;
}

/* Under the lock, which it lets go meanwhile. */
static enum doppel_status search_when_applied(struct node *node, struct node_search *search,
                                              uint16_t **out_shards)
{
    struct node_family *family = search->family;
    struct search_filter filter;
    while (node->applied < search->asked)
        pthread_cond_wait(&node->has_applied, &node->lock);
    if (family->failure.status) {
        search->error = family->failure;
        return family->failure.status;
    }
    if (!make_filter(family, search, &filter))
        return no_memory_to_search(search);
    pthread_mutex_unlock(&node->lock);
    enum doppel_status status = run_search(family, search, &filter);
    free(filter.members);
    pthread_mutex_lock(&node->lock);
    return status ? status : list_searched(family, search, out_shards);
}

static void finish_search(struct node *node, struct node_search *search)
{
    const uint32_t low = search->questions ? 0 : search->family->options.low;
    struct node_family *unused;
    uint16_t *shards = NULL;
    pthread_mutex_lock(&node->lock);
    search->status = search_when_applied(node, search, &shards);
    unused = node_family_release(search->family);
    pthread_mutex_unlock(&node->lock);
    node_family_free(unused);
    if (!search->status)
        place_hits(search, low, shards);
    free(shards);
    free(search->codes);
    node_questions_free(search->questions, search->count);
    search->codes = NULL;
    search->questions = NULL;
    search->done(search);
}

/* @return NULL: there is none any more, and the node ends */
static struct node_search *take_search(struct node *node)
{
    node_wait_for(&node->searches);
    pthread_mutex_lock(&node->queue_lock);
    struct node_search *search = node->first_search;
    if (search)
        node->first_search = search->next;
    if (!node->first_search)
        node->last_search = &node->first_search;
    pthread_mutex_unlock(&node->queue_lock);
    return search;
}

void *node_search_all(void *context)
{
    struct node *node = context;
    struct node_search *search;
    while ((search = take_search(node)) != NULL)
        finish_search(node, search);
    return NULL;
}

/* ---- asking ---- */

void node_search(struct node_member *member, struct node_search *search)
{
    struct node_family *family = member->family;
    struct node *node = family->node;
    search->family = family;
    search->member = member->number;
    search->joined = member->joined;
    search->hits = NULL;
    search->hit_count = search->shards_bytes = 0;
    memset(search->shards, 0, sizeof search->shards);
    search->next = NULL;
    atomic_fetch_add(&family->users, 1); /* the member is one, so it is not the first */
    pthread_mutex_lock(&node->queue_lock);
    search->asked = node->asked;
    search->joins = node->joins;
    *node->last_search = search;
    node->last_search = &search->next;
    pthread_mutex_unlock(&node->queue_lock);
    sem_post(&node->searches);
}
