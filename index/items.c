/* The items of an index of postings, each with its postings, as they were inserted. */
#include <stdlib.h>

#include <doppel/index_items.h>

#include "core/try.h"
#include "index/index_internal.h"
#include "index/postings/postings_internal.h"

struct item_reading {
    const struct doppel_index *index;
    struct snapshot snapshot;
    size_t part;
    ARRAY(struct doppel_index_posting) found; /* of the part: positions are places on its axis */
    struct list_items items;                  /* of the part */
};

static bool is_living_item(void *context, size_t table, uint64_t payload)
{
    const struct item_reading *reading = context;
    (void)table;
    return !snapshot_removes(reading->index, &reading->snapshot, reading->part, payload);
}

static enum doppel_status take_item_list(void *context, uint32_t key, const uint32_t *positions,
                                         size_t count, struct doppel_error *error)
{
    struct item_reading *reading = context;
    for (size_t i = 0; i < count; i++) {
        const struct doppel_index_posting posting = {key, positions[i]};
        if (!array_push(&reading->found, posting))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the postings of an index");
    }
    return DOPPEL_OK;
}

/* The last item that starts at a place or before it, and has a length. */
static uint64_t item_of_place(const struct list_items *items, uint32_t place)
{
    uint64_t low = 0, high = items->count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (items->starts[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Lists come key by key; put together are what lies in an item. `at` has room for a number each. */
static void sort_by_item(const struct item_reading *reading, uint64_t *at,
                         struct doppel_index_items *out)
{
    const struct list_items *items = &reading->items;
    struct doppel_index_posting *to = out->postings + out->posting_count;
    for (uint64_t i = 0; i < items->count; i++)
        at[i] = 0;
    for (size_t i = 0; i < reading->found.count; i++)
        at[item_of_place(items, reading->found.items[i].position)]++;
    for (uint64_t i = 0, next = 0; i < items->count; i++) {
        const uint64_t count = at[i];
        out->items[out->count++] = (struct doppel_index_item){
            items->payloads[i], items->starts[i + 1] - items->starts[i], (uint32_t)count, NULL};
        at[i] = next;
        next += count;
    }
    for (size_t i = 0; i < reading->found.count; i++) {
        const struct doppel_index_posting *from = &reading->found.items[i];
        const uint64_t item = item_of_place(items, from->position);
        to[at[item]++] =
            (struct doppel_index_posting){from->key, from->position - items->starts[item]};
    }
    out->posting_count += reading->found.count;
}

static bool make_room_for_items(const struct item_reading *reading, struct doppel_index_items *out)
{
    struct doppel_index_item *items =
        realloc(out->items, (out->count + reading->items.count + 1) * sizeof *items);
    out->items = items ? items : out->items;
    struct doppel_index_posting *postings =
        realloc(out->postings, (out->posting_count + reading->found.count + 1) * sizeof *postings);
    out->postings = postings ? postings : out->postings;
    return items && postings;
}

static enum doppel_status read_items_of_part(struct item_reading *reading,
                                             struct doppel_index_items *out,
                                             struct doppel_error *error)
{
    const struct table *table = reading->snapshot.state->parts[reading->part]->table;
    const struct postings_merge kept = {.keep = is_living_item, .context = reading};
    const struct list_taker taker = {reading, take_item_list};
    uint64_t *at = NULL;
    enum doppel_status status;
    reading->found.count = 0;
    TRY(postings_lists(table_postings(table), &kept, &reading->items, &taker, error));
    at = calloc(reading->items.count + 1, sizeof *at);
    if (!at || !make_room_for_items(reading, out))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the items of an index"));
    sort_by_item(reading, at, out);
done:
    free(at);
    list_items_free(&reading->items);
    reading->items = (struct list_items){0};
    return status;
}

enum doppel_status doppel_index_items_read(struct doppel_index *index,
                                           struct doppel_index_items *out,
                                           struct doppel_error *error)
{
    if (index->words)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an index of codes has no items");
    struct doppel_index_items items = {0};
    struct item_reading reading = {.index = index};
    enum doppel_status status = index->read_only ? DOPPEL_OK : doppel_index_flush(index, error);
    if (status)
        return status;
    reading.snapshot = snapshot_take(index);
    for (; reading.part < reading.snapshot.state->count && !status; reading.part++)
        status = read_items_of_part(&reading, &items, error);
    snapshot_release(&reading.snapshot);
    array_free(&reading.found);
    const struct doppel_index_posting *next = items.postings;
    for (size_t i = 0; i < items.count; next += items.items[i++].count)
        items.items[i].postings = next;
    if (status)
        doppel_index_items_free(&items);
    else
        *out = items;
    return status;
}

void doppel_index_items_free(struct doppel_index_items *items)
{
    free(items->items);
    free(items->postings);
    *items = (struct doppel_index_items){0};
}
