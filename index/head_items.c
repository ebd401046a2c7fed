/* The head of an index of postings: items one after the other, and the postings of each key in a
 * chain from the newest to the oldest. */
#include <stdlib.h>
#include <string.h>

#include "index/head_internal.h"

void head_items_free(struct head_items *items)
{
    if (!items)
        return;
    free(items->list);
    free(items->postings);
    free(items->older);
    number_map_free(&items->newest);
    free(items);
}

uint64_t head_items_bytes(const struct head_items *items)
{
    return items->postings_capacity * (sizeof *items->postings + sizeof *items->older) +
           items->newest.cell_count * sizeof(struct number_cell);
}

/* ---- inserting ---- */

static bool reserve_postings(struct head_items *items, uint32_t count)
{
    if (!number_map_reserve(&items->newest, count))
        return false;
    if (count <= items->postings_capacity - items->postings_count)
        return true;
    if (count > UINT32_MAX / 2 - items->postings_count)
        return false;
    size_t wanted = (size_t)items->postings_count + count;
    wanted += wanted / 2;
    if (!head_grow((void **)&items->postings, wanted, sizeof *items->postings) ||
        !head_grow((void **)&items->older, wanted, sizeof *items->older))
        return false;
    items->postings_capacity = (uint32_t)wanted;
    return true;
}

static void append_postings(struct head_items *items, const struct doppel_index_item *item)
{
    for (uint32_t i = 0; i < item->count; i++) {
        uint32_t at = items->postings_count++;
        uint64_t *newest = number_map_place(&items->newest, item->postings[i].key);
        items->postings[at] = item->postings[i];
        items->older[at] = (uint32_t)*newest;
        *newest = at + 1;
    }
    items->alive += item->count;
}

enum doppel_status head_insert_item(struct head *head, const struct doppel_index_item *item)
{
    struct head_items *items = head->items;
    uint32_t axis;
    if (__builtin_add_overflow(items->axis, item->length, &axis))
        return DOPPEL_E_LIMIT;
    if (!head_reserve(head, 1) || !reserve_postings(items, item->count))
        return DOPPEL_E_MEMORY;
    items->list[head->count] = (struct head_item){.start = items->axis,
                                                  .length = item->length,
                                                  .first = items->postings_count,
                                                  .count = item->count};
    append_postings(items, item);
    items->axis = axis;
    const uint64_t no_words = 0;
    return head_insert(head, &no_words, &item->payload, 1) ? DOPPEL_OK : DOPPEL_E_MEMORY;
}

/* ---- looking up ---- */

/* The item whose range, by `start_of`, holds `at`: the last that begins at or before it. */
static uint32_t item_of_head_items(const struct head_items *items, uint32_t count, uint32_t at,
                                   bool on_axis)
{
    uint32_t low = 0, high = count;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct head_item *item = &items->list[middle];
        if ((on_axis ? item->start : item->first) <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t head_item_at(const struct head_view *view, uint32_t position)
{
    return item_of_head_items(view->head->items, view->count, position, true);
}

/* Postings that the view does not see yet lie at the end. */
static uint32_t seen_postings(const struct head_view *view)
{
    if (!view->count)
        return 0;
    const struct head_item *last = &view->head->items->list[view->count - 1];
    return last->first + last->count;
}

bool head_positions(const struct head_view *view, uint32_t key, position_array *out)
{
    const struct head_items *items = view->head->items;
    uint32_t seen = seen_postings(view);
    for (uint64_t at = number_map_find(&items->newest, key); at; at = items->older[at - 1]) {
        if (at > seen)
            continue;
        const struct head_item *item =
            &items->list[item_of_head_items(items, view->count, (uint32_t)at - 1, false)];
        if (!array_push(out, item->start + items->postings[at - 1].position))
            return false;
    }
    return true;
}

uint64_t head_length(const struct head_view *view, uint32_t key)
{
    const struct head_items *items = view->head->items;
    uint32_t seen = seen_postings(view);
    uint64_t length = 0;
    for (uint64_t at = number_map_find(&items->newest, key); at; at = items->older[at - 1])
        length += at <= seen;
    return length;
}

/* ---- flushing ---- */

bool head_next_item(void *context, uint64_t *payload, uint32_t *length,
                    const struct doppel_index_posting **postings, size_t *count)
{
    struct head_stream *stream = context;
    const struct head *head = stream->head;
    while (stream->at < head->count && head->deaths[stream->at])
        stream->at++;
    if (stream->at >= head->count)
        return false;
    const struct head_item *item = &head->items->list[stream->at];
    *payload = head->payloads[stream->at++];
    *length = item->length;
    *postings = head->items->postings + item->first;
    *count = item->count;
    return true;
}
