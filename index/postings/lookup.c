/*
 * Looking keys up in a postings table. Keys pass through stages block by block, one stage a block
 * behind the other, so that memory is asked for long before it is read: the groups' limits, their
 * slots, the heads of long lists.
 */
#include "index/postings/groups.h"

enum { BLOCK_KEYS = 32, LINE_BYTES = 64, LIST_LINES = 4 };

/* What is known of a key: at first the slots of its group, at last its own, or its positions. */
struct found_key {
    uint32_t first, end;
    uint32_t count; /* of its positions; 0: they are still in the slots */
    uint64_t unit;  /* of a long list, which has one slot; NO_UNIT: a short one */
};

#define NO_UNIT UINT64_MAX

/* Some keys on their way. */
struct postings_block {
    struct found_key found[BLOCK_KEYS];
    uint32_t listed[BLOCK_KEYS], listed_count; /* the keys that have a list */
    uint32_t positions[BLOCK_KEYS][SCAN_SLOTS + 8];
};

static bool has_list(const struct postings *table, uint32_t key)
{
    return (uint64_t)key >> table->shape.key_bits == 0;
}

/* Where the slots of a key's group are given; of any group for keys that have none. To be
 * prefetched by the caller: a function that did nothing else would be taken for one that does
 * nothing. */
static const uint8_t *group_of(const struct postings *table, uint32_t key)
{
    return group_at(table, has_list(table, key) ? key >> table->remainder_bits : 0);
}

/* False when the table is damaged. */
static bool prefetch_slots(const struct postings *table, uint32_t key, struct found_key *found)
{
    *found = (struct found_key){.unit = NO_UNIT};
    if (!has_list(table, key))
        return true;
    if (!group_slots(table, key >> table->remainder_bits, &found->first, &found->end))
        return false;
    const uint8_t *at = table->slots + (uint64_t)found->first * table->slot_bits / 8;
    uint64_t bytes = (uint64_t)(found->end - found->first) * table->slot_bits / 8;
    uint64_t least = table->slot_bits > 32 ? table->slot_bits : 32; /* eight slots are read */
    bytes = bytes > least ? bytes : least;
    __builtin_prefetch(at);
    __builtin_prefetch(at + (bytes < LINE_BYTES ? bytes : LINE_BYTES));
    __builtin_prefetch(at + bytes);
    return true;
}

/* The first slot of these that is not below `slot`. */
static uint32_t halve_postings(const struct postings *table, uint32_t first, uint32_t end,
                               uint64_t slot)
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

/* A list of a single slot may be a long one. */
static void follow_postings(const struct postings *table, struct found_key *found, uint32_t unit)
{
    found->unit = unit;
    const uint8_t *list = table->lists + found->unit * POSTINGS_UNIT;
    for (int line = 0; line < LIST_LINES; line++)
        __builtin_prefetch(list + line * LINE_BYTES);
}

/* In a group of many slots. @return slots of the key */
static uint32_t find_by_halves(const struct postings *table, uint64_t remainder,
                               struct found_key *found)
{
    uint64_t mask = (1ull << table->position_bits) - 1;
    uint32_t end = found->end;
    found->first = halve_postings(table, found->first, end, remainder << table->position_bits);
    found->end = halve_postings(table, found->first, end, (remainder + 1) << table->position_bits);
    if (found->end - found->first != 1)
        return found->end - found->first;
    uint64_t position = slot_read(table->slots, found->first, table->slot_bits) & mask;
    if (position >= table->shape.axis)
        follow_postings(table, found, (uint32_t)(position - table->shape.axis));
    return 1;
}

/* @return whether the key has a list; -1: the table is damaged */
static int find_list(const struct postings *table, uint32_t key, struct found_key *found,
                     uint32_t *positions)
{
    uint32_t slots = found->end - found->first;
    uint64_t remainder = key & ((1ull << table->remainder_bits) - 1);
    bool beyond;
    if (!slots)
        return 0;
    uint64_t first = (uint64_t)found->first * table->slot_bits / 8;
    segment_touch(table->segment, table->slots + first, (uint64_t)slots * table->slot_bits / 8 + 1);
    if (slots > SCAN_SLOTS || table->slot_bits > SCAN_SLOT_BITS)
        return find_by_halves(table, remainder, found) > 0;
    struct slot_scan scan = {.slots = table->slots,
                             .first = found->first,
                             .remainder = remainder,
                             .axis = table->shape.axis,
                             .count = slots,
                             .slot_bits = table->slot_bits,
                             .position_bits = table->position_bits};
    found->count = table->scan(&scan, positions, &beyond);
    if (beyond && found->count > 1)
        return -1;
    if (beyond)
        follow_postings(table, found, positions[0] - (uint32_t)table->shape.axis);
    return found->count > 0;
}

/* The keys of a lookup, as far as they have come: two blocks are on their way to the third. */
struct lookup {
    const struct postings *table;
    const uint32_t *keys;
    size_t count;
    struct postings_block blocks[2];
};

/* Key number i goes through its next stage, and so do those a block and two blocks ahead: what is
 * asked of memory is spread evenly, for it takes little at once. False: damage */
static bool advance(struct lookup *lookup, size_t i, struct postings_block *block,
                    struct postings_block *next)
{
    const struct postings *table = lookup->table;
    uint32_t at = i % BLOCK_KEYS;
    if (i + 2 * BLOCK_KEYS < lookup->count)
        __builtin_prefetch(group_of(table, lookup->keys[i + 2 * BLOCK_KEYS]));
    if (i + BLOCK_KEYS < lookup->count &&
        !prefetch_slots(table, lookup->keys[i + BLOCK_KEYS], &next->found[at]))
        return false;
    int listed = find_list(table, lookup->keys[i], &block->found[at], block->positions[at]);
    block->listed[block->listed_count] = at;
    block->listed_count += listed > 0;
    return listed >= 0;
}

static bool begin_posting_lookup(struct lookup *lookup)
{
    bool sound = true;
    for (size_t i = 0; i < 2 * BLOCK_KEYS && i < lookup->count; i++)
        __builtin_prefetch(group_of(lookup->table, lookup->keys[i]));
    for (size_t i = 0; i < BLOCK_KEYS && i < lookup->count; i++)
        sound &= prefetch_slots(lookup->table, lookup->keys[i], &lookup->blocks[0].found[i]);
    return sound;
}

/* The lists of a block found, and those of the next two asked for. NULL: damage */
static const struct postings_block *find_block(struct lookup *lookup, size_t first)
{
    struct postings_block *block = &lookup->blocks[first / BLOCK_KEYS % 2];
    struct postings_block *next = &lookup->blocks[(first / BLOCK_KEYS + 1) % 2];
    if (!first && !begin_posting_lookup(lookup))
        return NULL;
    block->listed_count = 0;
    for (size_t i = first; i < first + BLOCK_KEYS && i < lookup->count; i++)
        if (!advance(lookup, i, block, next))
            return NULL;
    return block;
}

/* The positions of a key in a group of many slots. */
static enum doppel_status visit_slots(const struct postings *table, const struct found_key *found,
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
    for (size_t first = 0; first < count && !status; first += BLOCK_KEYS) {
        const struct postings_block *block = find_block(&lookup, first);
        if (!block)
            return postings_damaged(error);
        for (size_t i = 0; i < block->listed_count && !status; i++) {
            const struct found_key *found = &block->found[block->listed[i]];
            uint32_t number = (uint32_t)first + block->listed[i];
            if (found->unit != NO_UNIT)
                status = postings_read_long(table, found->unit, number, visitor, context, error);
            else if (!found->count)
                status = visit_slots(table, found, number, visitor, context, error);
            else if (!visitor(context, number, block->positions[block->listed[i]], found->count))
                status = DOPPEL_E_CANCELLED;
        }
    }
    return status ? status : segment_damage(table->segment, error);
}

enum doppel_status postings_counts(const struct postings *table, const uint32_t *keys, size_t count,
                                   uint64_t *counts, struct doppel_error *error)
{
    struct lookup lookup = {.table = table, .keys = keys, .count = count};
    for (size_t first = 0; first < count; first += BLOCK_KEYS) {
        const struct postings_block *block = find_block(&lookup, first);
        if (!block)
            return postings_damaged(error);
        for (size_t i = 0; i < block->listed_count; i++) {
            const struct found_key *found = &block->found[block->listed[i]];
            uint64_t *length = &counts[first + block->listed[i]], blocks;
            struct long_list list;
            if (found->unit == NO_UNIT)
                *length += found->count ? found->count : found->end - found->first;
            else if (postings_long_list(table, found->unit, &list, &blocks))
                *length += list.count;
            else
                return postings_damaged(error);
        }
    }
    return segment_damage(table->segment, error);
}
