/*
 * Looking keys up in a postings table. Keys pass through stages, one some keys behind the other, so
 * that memory is asked for long before it is read: the group's limits, its slots, the head of a
 * long list.
 */
#include "index/postings_room.h"

enum { TO_SLOTS = 12, TO_LIST = 24, TO_END = 32, RING = 64, LINE_BYTES = 64, LINES = 4 };

/* Groups of more slots are searched by halving. */
enum { FEW_SLOTS = 48 };

/* Where a key's slots are: at first those of its group. */
struct found {
    uint32_t first, end;
    uint64_t unit; /* of a long list, which has one slot */
    bool is_long;
};

struct lookup {
    const struct postings *table;
    const uint32_t *keys;
    size_t count;
    struct found found[RING];
};

static bool has_list(const struct postings *table, uint32_t key)
{
    return (uint64_t)key >> table->shape.key_bits == 0;
}

static void ask_for_group(const struct lookup *lookup, size_t i)
{
    const struct postings *table = lookup->table;
    if (has_list(table, lookup->keys[i]))
        __builtin_prefetch(table->groups + (lookup->keys[i] >> table->remainder_bits));
}

/* False when the table is damaged. */
static bool ask_for_slots(struct lookup *lookup, size_t i)
{
    const struct postings *table = lookup->table;
    struct found *found = &lookup->found[i % RING];
    *found = (struct found){0};
    if (!has_list(table, lookup->keys[i]))
        return true;
    const uint32_t *group = table->groups + (lookup->keys[i] >> table->remainder_bits);
    segment_touch(table->segment, group, 2 * sizeof *group);
    found->first = group[0];
    found->end = group[1];
    if (found->first > found->end || found->end > table->shape.slots)
        return false;
    const uint8_t *at = table->slots + (uint64_t)found->first * table->slot_bits / 8;
    const uint8_t *end = table->slots + (uint64_t)found->end * table->slot_bits / 8;
    for (int line = 0; line < LINES && at <= end; line++, at += LINE_BYTES)
        __builtin_prefetch(at);
    return true;
}

/* The first of these slots that is not below `slot`. */
static uint32_t halve(const struct postings *table, uint32_t first, uint32_t end, uint64_t slot)
{
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (slot_read(table->slots, middle, table->slot_bits) < slot)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Keep of the group's slots those from `from` up to `to`. */
static void narrow(const struct postings *table, struct found *found, uint64_t from, uint64_t to)
{
    if (found->end - found->first > FEW_SLOTS) {
        found->first = halve(table, found->first, found->end, from);
        found->end = halve(table, found->first, found->end, to);
        return;
    }
    uint32_t below = 0, within = 0;
    for (uint32_t i = found->first; i < found->end; i++) {
        uint64_t slot = slot_read(table->slots, i, table->slot_bits);
        below += slot < from;
        within += slot < to;
    }
    found->end = found->first + within;
    found->first += below;
}

static void find_list(struct lookup *lookup, size_t i)
{
    const struct postings *table = lookup->table;
    struct found *found = &lookup->found[i % RING];
    if (found->first == found->end)
        return;
    uint64_t first = (uint64_t)found->first * table->slot_bits / 8;
    uint64_t end = ((uint64_t)found->end * table->slot_bits + 7) / 8;
    segment_touch(table->segment, table->slots + first, end - first);
    uint64_t remainder = lookup->keys[i] & ((1ull << table->remainder_bits) - 1);
    narrow(table, found, remainder << table->position_bits,
           (remainder + 1) << table->position_bits);
    if (found->end != found->first + 1)
        return;
    uint64_t position = slot_read(table->slots, found->first, table->slot_bits) &
                        ((1ull << table->position_bits) - 1);
    found->is_long = position >= table->shape.axis;
    if (!found->is_long)
        return;
    found->unit = position - table->shape.axis;
    const uint8_t *list = table->lists + found->unit * POSTINGS_UNIT;
    for (int line = 0; line < LINES; line++)
        __builtin_prefetch(list + line * LINE_BYTES);
}

/* Move all keys on by a stage; *out is the one that has arrived. 1: one has; 0: none; -1: damage */
static int advance(struct lookup *lookup, size_t step, size_t *out)
{
    if (step < lookup->count)
        ask_for_group(lookup, step);
    if (step >= TO_SLOTS && step - TO_SLOTS < lookup->count &&
        !ask_for_slots(lookup, step - TO_SLOTS))
        return -1;
    if (step >= TO_LIST && step - TO_LIST < lookup->count)
        find_list(lookup, step - TO_LIST);
    *out = step - TO_END;
    return step >= TO_END;
}

static enum doppel_status visit_short(const struct postings *table, const struct found *found,
                                      uint32_t number, posting_run_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    uint32_t positions[POSTINGS_BLOCK];
    uint64_t mask = (1ull << table->position_bits) - 1;
    for (uint32_t at = found->first; at < found->end;) {
        uint32_t count = 0;
        for (; at < found->end && count < POSTINGS_BLOCK; at++) {
            uint64_t position = slot_read(table->slots, at, table->slot_bits) & mask;
            if (position >= table->shape.axis)
                return postings_damaged(error);
            positions[count++] = (uint32_t)position;
        }
        if (!visitor(context, number, positions, count))
            return DOPPEL_E_CANCELLED;
    }
    return DOPPEL_OK;
}

enum doppel_status postings_lookup(const struct postings *table, const uint32_t *keys, size_t count,
                                   posting_run_visitor *visitor, void *context,
                                   struct doppel_error *error)
{
    struct lookup lookup = {.table = table, .keys = keys, .count = count};
    enum doppel_status status = DOPPEL_OK;
    for (size_t step = 0; step < count + TO_END && !status; step++) {
        size_t i;
        int arrived = advance(&lookup, step, &i);
        if (arrived < 0)
            return postings_damaged(error);
        const struct found *found = &lookup.found[i % RING];
        if (!arrived || found->first == found->end)
            continue;
        if (found->is_long)
            status = postings_read_long(table, found->unit, (uint32_t)i, visitor, context, error);
        else
            status = visit_short(table, found, (uint32_t)i, visitor, context, error);
    }
    return status ? status : segment_damage(table->segment, error);
}

enum doppel_status postings_counts(const struct postings *table, const uint32_t *keys, size_t count,
                                   uint64_t *counts, struct doppel_error *error)
{
    struct lookup lookup = {.table = table, .keys = keys, .count = count};
    for (size_t step = 0; step < count + TO_END; step++) {
        struct long_list list = {0};
        uint64_t blocks;
        size_t i;
        int arrived = advance(&lookup, step, &i);
        const struct found *found = &lookup.found[i % RING];
        if (arrived < 0 ||
            (arrived && found->is_long && !postings_long_list(table, found->unit, &list, &blocks)))
            return postings_damaged(error);
        if (arrived)
            counts[i] += found->is_long ? list.count : found->end - found->first;
    }
    return segment_damage(table->segment, error);
}
