/* Several postings tables as one: their lists key by key, moved along the axis, without the items
 * that are not kept. */
#include <stdlib.h>

#include "core/try.h"
#include "index/postings/groups.h"

/* The place of an item that is not kept. */
#define DROPPED UINT32_MAX

#define NO_KEY UINT64_MAX

/* A table as it is read, slot by slot. */
struct postings_reader {
    const struct postings *table;
    uint64_t slot, group;
    uint64_t key;     /* of the slot; NO_KEY at the end */
    uint32_t *places; /* of each item: where it starts on the new axis */
    bool whole;       /* all are kept */
};

struct merging {
    struct postings_reader *readers, *reading;
    size_t count;
    struct list_items items;
    ARRAY(uint32_t) positions; /* of one key */
    bool no_memory;
};

static enum doppel_status no_memory_to_merge(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to merge postings tables");
}

/* ---- items ---- */

static enum doppel_status place_item(struct list_items *items, const struct posting_item *item,
                                     uint32_t *out_place, struct doppel_error *error)
{
    uint64_t start = items->starts[items->count], end = start + item->length;
    if (end > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "the items of a segment are longer than 2^32: split them");
    *out_place = (uint32_t)start;
    items->payloads[items->count++] = item->payload;
    items->starts[items->count] = (uint32_t)end;
    return DOPPEL_OK;
}

static enum doppel_status place_items(const struct postings_merge *merge, size_t number,
                                      struct postings_reader *reader, struct list_items *items,
                                      struct doppel_error *error)
{
    uint64_t count = reader->table->shape.items, end = 0;
    reader->whole = true;
    for (uint64_t i = 0; i < count; i++) {
        struct posting_item item = postings_item_at(reader->table, i);
        if (item.start != end || (end += item.length) > reader->table->shape.axis)
            return postings_damaged(error);
        bool kept = !merge->keep || merge->keep(merge->context, number, item.payload);
        reader->places[i] = DROPPED;
        reader->whole &= kept;
        enum doppel_status status =
            kept ? place_item(items, &item, &reader->places[i], error) : DOPPEL_OK;
        if (status)
            return status;
    }
    return end == reader->table->shape.axis ? DOPPEL_OK : postings_damaged(error);
}

/* ---- lists ---- */

/* Note the key of the slot that is next. False when the table is damaged. */
static bool settle_reader(struct postings_reader *reader)
{
    const struct postings *table = reader->table;
    const struct postings_shape *shape = &table->shape;
    uint64_t before = reader->key;
    reader->key = NO_KEY;
    if (reader->slot == shape->slots)
        return true;
    for (;; reader->group++) {
        if (reader->group >> shape->group_bits)
            return false;
        uint32_t first, end;
        if (!group_slots(table, reader->group, &first, &end))
            return false;
        if (end > reader->slot)
            break;
    }
    const uint8_t *at = table->slots + reader->slot * table->slot_bits / 8;
    segment_touch(table->segment, at, (table->slot_bits + 14) / 8);
    uint64_t slot = slot_read(table->slots, reader->slot, table->slot_bits);
    reader->key = reader->group << table->remainder_bits | slot >> table->position_bits;
    return reader->key >= before;
}

/* Where a position goes; DROPPED when its item is. */
static uint32_t place_reader(const struct postings_reader *reader, uint32_t position)
{
    if (reader->whole)
        return reader->places[0] + position;
    uint64_t item = postings_item_number(reader->table, position);
    uint32_t start = reader->places[item];
    return start == DROPPED ? DROPPED : start + (position - reader->table->starts[item]);
}

/* A posting_run_visitor. */
static bool add_positions(void *context, uint32_t number, const uint32_t *positions, size_t count)
{
    struct merging *merging = context;
    (void)number;
    for (size_t i = 0; i < count; i++) {
        uint32_t placed = place_reader(merging->reading, positions[i]);
        if (placed != DROPPED && !array_push(&merging->positions, placed)) {
            merging->no_memory = true;
            return false;
        }
    }
    return true;
}

/* Add the positions of the reader's key, and go on to its next. */
static enum doppel_status read_list(struct merging *merging, struct postings_reader *reader,
                                    struct doppel_error *error)
{
    const struct postings *table = reader->table;
    uint64_t key = reader->key, mask = (1ull << table->position_bits) - 1;
    enum doppel_status status = DOPPEL_OK;
    merging->reading = reader;
    while (reader->key == key && !status) {
        uint64_t position = slot_read(table->slots, reader->slot, table->slot_bits) & mask;
        uint32_t one = (uint32_t)position;
        if (position >= table->shape.axis)
            status = postings_read_long(table, position - table->shape.axis, 0, add_positions,
                                        merging, error);
        else if (!add_positions(merging, 0, &one, 1))
            status = DOPPEL_E_CANCELLED;
        reader->slot++;
        if (!status && !settle_reader(reader))
            status = postings_damaged(error);
    }
    return merging->no_memory ? no_memory_to_merge(error) : status;
}

static bool ascends(const uint32_t *positions, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (positions[i] < positions[i - 1])
            return false;
    return true;
}

/* The list of the least key of all tables. */
static enum doppel_status give_list(struct merging *merging, uint64_t key,
                                    const struct list_taker *taker, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    merging->positions.count = 0;
    for (size_t i = 0; i < merging->count && !status; i++)
        if (merging->readers[i].key == key)
            status = read_list(merging, &merging->readers[i], error);
    if (status || !merging->positions.count)
        return status;
    if (!ascends(merging->positions.items, merging->positions.count))
        return postings_damaged(error);
    return taker->take(taker->context, (uint32_t)key, merging->positions.items,
                       merging->positions.count, error);
}

/* A list_source. */
static enum doppel_status merge_postings_runs(void *context, const struct list_taker *taker,
                                              struct doppel_error *error)
{
    struct merging *merging = context;
    for (size_t i = 0; i < merging->count; i++) {
        struct postings_reader *reader = &merging->readers[i];
        reader->slot = reader->group = reader->key = 0;
        if (!settle_reader(reader))
            return postings_damaged(error);
    }
    for (;;) {
        uint64_t least = NO_KEY;
        for (size_t i = 0; i < merging->count; i++)
            if (merging->readers[i].key < least)
                least = merging->readers[i].key;
        if (least == NO_KEY)
            break;
        enum doppel_status status = give_list(merging, least, taker, error);
        if (status)
            return status;
    }
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < merging->count && !status; i++)
        status = segment_damage(merging->readers[i].table->segment, error);
    return status;
}

/* ---- all together ---- */

static enum doppel_status make_room_to_merge(const struct postings_merge *merge,
                                             struct merging *merging, struct doppel_error *error)
{
    uint64_t items = 0;
    merging->readers = calloc(merge->count, sizeof *merging->readers);
    bool enough = merging->readers;
    for (size_t i = 0; i < merge->count && enough; i++) {
        struct postings_reader *reader = &merging->readers[merging->count++];
        uint64_t count = merge->tables[i]->shape.items;
        reader->table = merge->tables[i];
        reader->places = calloc(count + 1, sizeof *reader->places);
        enough = reader->places;
        items += count;
    }
    merging->items.payloads = calloc(items + 1, sizeof *merging->items.payloads);
    merging->items.starts = calloc(items + 1, sizeof *merging->items.starts);
    enough = enough && merging->items.payloads && merging->items.starts;
    return enough ? DOPPEL_OK : no_memory_to_merge(error);
}

static enum doppel_status check_tables(const struct postings_merge *merge,
                                       struct doppel_error *error)
{
    if (!merge->count)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no postings tables to merge");
    for (size_t i = 1; i < merge->count; i++)
        if (merge->tables[i]->shape.key_bits != merge->tables[0]->shape.key_bits)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "postings of keys of different bits are not merged");
    return DOPPEL_OK;
}

enum doppel_status postings_lists(const struct postings *table, const struct postings_merge *kept,
                                  struct list_items *out_items, const struct list_taker *taker,
                                  struct doppel_error *error)
{
    struct merging merging = {0};
    const struct postings_merge one = {&table, 1, kept->keep, kept->context};
    enum doppel_status status;
    TRY(make_room_to_merge(&one, &merging, error));
    TRY(place_items(&one, 0, &merging.readers[0], &merging.items, error));
    TRY(merge_postings_runs(&merging, taker, error));
    *out_items = merging.items;
    merging.items = (struct list_items){0};
done:
    for (size_t i = 0; i < merging.count; i++)
        free(merging.readers[i].places);
    free(merging.readers);
    list_items_free(&merging.items);
    array_free(&merging.positions);
    return status;
}

enum doppel_status postings_merge(const struct postings_merge *merge,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error)
{
    struct merging merging = {0};
    struct list_source source = {&merging, merge_postings_runs};
    enum doppel_status status;
    TRY(check_tables(merge, error));
    TRY(make_room_to_merge(merge, &merging, error));
    for (size_t i = 0; i < merge->count; i++)
        TRY(place_items(merge, i, &merging.readers[i], &merging.items, error));
    TRY(postings_write(merge->tables[0]->shape.key_bits, &merging.items, &source, target, out,
                       error));
done:
    for (size_t i = 0; i < merging.count; i++)
        free(merging.readers[i].places);
    free(merging.readers);
    list_items_free(&merging.items);
    array_free(&merging.positions);
    return status;
}
