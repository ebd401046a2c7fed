/* Keys at positions of items: put into a node's index, and looked up there. */
#include <stdlib.h>

#include "cluster/node/node_internal.h"

/* ---- inserting ---- */

/* A head has room for 2^32 positions, the next one again. */
static enum doppel_status insert_posted_item(struct doppel_index *index,
                                             const struct doppel_index_item *item,
                                             struct doppel_error *error)
{
    enum doppel_status status = doppel_index_insert_item(index, item, error);
    if (status != DOPPEL_E_LIMIT)
        return status;
    status = doppel_index_flush(index, error);
    return status ? status : doppel_index_insert_item(index, item, error);
}

/* Codes that follow each other and are of the item of the first. */
static struct doppel_index_item item_of_change(const struct node_change *change, size_t first,
                                               struct doppel_index_posting *postings)
{
    const uint64_t *payloads = change->words, *codes = payloads + change->count;
    struct doppel_index_item item = {.payload = payloads[first], .postings = postings};
    for (size_t i = first; i < change->count && payloads[i] == item.payload; i++) {
        const struct doppel_index_posting posting = {(uint32_t)codes[i],
                                                     (uint32_t)(codes[i] >> 32)};
        postings[item.count++] = posting;
        if (posting.position >= item.length)
            item.length = posting.position + 1;
    }
    return item;
}

enum doppel_status node_insert_items(struct node_family *family, const struct node_change *change,
                                     struct doppel_error *error)
{
    struct doppel_index_posting *postings = malloc(change->count * sizeof *postings);
    enum doppel_status status = DOPPEL_OK;
    if (!postings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the postings of an item");
    for (size_t at = 0; at < change->count && !status;) {
        const struct doppel_index_item item = item_of_change(change, at, postings);
        status = insert_posted_item(family->index, &item, error);
        at += item.count;
    }
    free(postings);
    return status;
}

/* ---- looking up ---- */

struct key_looking {
    const struct search_filter *filter;
    const struct doppel_index_axis *axis;
    struct doppel_index_place place; /* the last one */
    ARRAY(struct doppel_index_hit) hits;
    bool no_memory;
};

static bool is_place_searched(const struct key_looking *looking)
{
    const uint64_t above = looking->place.payload >> looking->filter->low;
    return !looking->place.removed &&
           is_member_searched(looking->filter, (uint32_t)(above & (NODE_MEMBERS_MOST - 1)));
}

static bool note_positions(void *context, uint32_t key, uint64_t base, const uint32_t *positions,
                           size_t count)
{
    struct key_looking *looking = context;
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = base + positions[i];
        if (at - looking->place.start >= looking->place.length)
            looking->place = doppel_index_item_at(looking->axis, at);
        if (!is_place_searched(looking))
            continue;
        const struct doppel_index_hit hit = {.payload = looking->place.payload,
                                             .distance = (uint32_t)(at - looking->place.start),
                                             .query = key};
        looking->no_memory = !array_push(&looking->hits, hit);
        if (looking->no_memory)
            return false;
    }
    return true;
}

static int compare_positions(const void *left, const void *right)
{
    const struct doppel_index_hit *a = left, *b = right;
    if (a->query != b->query)
        return a->query < b->query ? -1 : 1;
    if (a->payload != b->payload)
        return a->payload < b->payload ? -1 : 1;
    return a->distance < b->distance ? -1 : a->distance > b->distance;
}

static enum doppel_status look_up_keys(const struct node_search *search, const uint32_t *keys,
                                       struct key_looking *looking, struct doppel_error *error)
{
    const enum doppel_status status =
        doppel_index_lookup(looking->axis, keys, search->count, note_positions, looking, error);
    if (looking->no_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the positions of keys");
    if (looking->hits.count > 1)
        qsort(looking->hits.items, looking->hits.count, sizeof *looking->hits.items,
              compare_positions);
    return status;
}

enum doppel_status node_look_up(const struct node_family *family, struct node_search *search,
                                const struct search_filter *filter)
{
    struct key_looking looking = {.filter = filter};
    struct doppel_index_axis *axis = NULL;
    uint32_t *keys = malloc(search->count * sizeof *keys);
    if (!keys)
        return doppel_fail(&search->error, DOPPEL_E_MEMORY, "no memory for so many keys");
    for (size_t i = 0; i < search->count; i++)
        keys[i] = (uint32_t)search->codes[i];
    enum doppel_status status = doppel_index_axis_take(family->index, &axis, &search->error);
    if (!status) {
        looking.axis = axis;
        status = look_up_keys(search, keys, &looking, &search->error);
        doppel_index_axis_free(axis);
    }
    free(keys);
    if (status)
        array_free(&looking.hits);
    search->hits = looking.hits.items;
    search->hit_count = looking.hits.count;
    return status;
}
