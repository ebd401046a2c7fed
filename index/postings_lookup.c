/*
 * Looking keys up in a postings table. Keys pass through stages block by block, one stage a block
 * behind the other, so that memory is asked for long before it is read: the groups' limits, their
 * slots, the heads of long lists.
 */
#include "index/postings_room.h"

enum { BLOCK_KEYS = 32, LINE_BYTES = 64, LIST_LINES = 4 };

/* Half of what most groups have at most. */
enum { FEW_SLOTS = 16 };

/* Where a key's slots are: at first those of its group. */
struct found {
    uint32_t first, end;
    uint64_t unit; /* of a long list, which has one slot; NO_UNIT: a short one */
};

#define NO_UNIT UINT64_MAX

/* Some keys on their way. */
struct block {
    const uint32_t *keys;
    size_t count;
    struct found found[BLOCK_KEYS];
    uint32_t listed[BLOCK_KEYS], listed_count; /* the keys that have a list */
};

static bool has_list(const struct postings *table, uint32_t key)
{
    return (uint64_t)key >> table->shape.key_bits == 0;
}

static void ask_for_groups(const struct postings *table, const struct block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (has_list(table, block->keys[i]))
            __builtin_prefetch(table->groups + (block->keys[i] >> table->remainder_bits));
}

/* False when the table is damaged. */
static bool ask_for_slots(const struct postings *table, struct block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        struct found *found = &block->found[i];
        *found = (struct found){.unit = NO_UNIT};
        if (!has_list(table, block->keys[i]))
            continue;
        const uint32_t *group = table->groups + (block->keys[i] >> table->remainder_bits);
        segment_touch(table->segment, group, 2 * sizeof *group);
        found->first = group[0];
        found->end = group[1];
        if (found->first > found->end || found->end > table->shape.slots)
            return false;
        const uint8_t *at = table->slots + (uint64_t)found->first * table->slot_bits / 8;
        const uint8_t *end = table->slots + (uint64_t)found->end * table->slot_bits / 8;
        __builtin_prefetch(at);
        __builtin_prefetch(at + (end - at) / 2);
        __builtin_prefetch(end);
    }
    return true;
}

/* `step` if the slots before number `to` are there and below `slot`, else 0. By arithmetic: what is
 * found is random, and a jump that depends on it would be guessed wrong every other time. */
static uint32_t step_over(const struct postings *table, uint32_t to, uint32_t end, uint64_t slot)
{
    uint32_t step = to <= end;
    uint64_t before = slot_read(table->slots, (step ? to : end) - 1, table->slot_bits);
    return step & (uint32_t)((before - slot) >> 63); /* slots are below 2^63 */
}

/* Keep of the group's slots those from `from` up to `to`. */
static void narrow(const struct postings *table, struct found *found, uint64_t from, uint64_t to)
{
    uint32_t first = found->first, last = found->first, end = found->end;
    uint32_t step = FEW_SLOTS;
    while (end - found->first >= 2 * step)
        step *= 2;
    for (; step; step /= 2) {
        first += step * step_over(table, first + step, end, from);
        last += step * step_over(table, last + step, end, to);
    }
    found->first = first;
    found->end = last;
}

static void find_list(const struct postings *table, uint32_t key, struct found *found)
{
    if (found->first == found->end)
        return;
    uint64_t first = (uint64_t)found->first * table->slot_bits / 8;
    uint64_t end = ((uint64_t)found->end * table->slot_bits + 7) / 8;
    segment_touch(table->segment, table->slots + first, end - first);
    uint64_t remainder = key & ((1ull << table->remainder_bits) - 1);
    narrow(table, found, remainder << table->position_bits,
           (remainder + 1) << table->position_bits);
    uint64_t position = slot_read(table->slots, found->first, table->slot_bits) &
                        ((1ull << table->position_bits) - 1);
    if ((found->end != found->first + 1) | (position < table->shape.axis))
        return;
    found->unit = position - table->shape.axis;
    const uint8_t *list = table->lists + found->unit * POSTINGS_UNIT;
    for (int line = 0; line < LIST_LINES; line++)
        __builtin_prefetch(list + line * LINE_BYTES);
}

/* The keys of a lookup, as far as they have come: two blocks are on their way to the third. */
struct lookup {
    const struct postings *table;
    const uint32_t *keys;
    size_t count;
    struct block blocks[3];
};

static struct block *block_at(struct lookup *lookup, size_t number)
{
    struct block *block = &lookup->blocks[number % 3];
    size_t first = number * BLOCK_KEYS;
    size_t left = first < lookup->count ? lookup->count - first : 0;
    block->keys = lookup->keys + (left ? first : 0);
    block->count = left < BLOCK_KEYS ? left : BLOCK_KEYS;
    return block;
}

/* The lists of block `number` found, and those of the next two asked for. NULL: damage. */
static const struct block *find_block(struct lookup *lookup, size_t number)
{
    const struct postings *table = lookup->table;
    if (!number) {
        ask_for_groups(table, block_at(lookup, 0));
        ask_for_groups(table, block_at(lookup, 1));
        if (!ask_for_slots(table, block_at(lookup, 0)))
            return NULL;
    }
    ask_for_groups(table, block_at(lookup, number + 2));
    if (!ask_for_slots(table, block_at(lookup, number + 1)))
        return NULL;
    struct block *block = block_at(lookup, number);
    block->listed_count = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        find_list(table, block->keys[i], &block->found[i]);
        block->listed[block->listed_count] = i;
        block->listed_count += block->found[i].first < block->found[i].end;
    }
    return block;
}

/* Most lists are so short. */
enum { FEW_POSITIONS = 4 };

/* As many positions as there are up to `end`, at most POSTINGS_BLOCK. The first few are read
 * whether they are there or not (behind the last slot there is room): a loop that ends a little
 * earlier or later each time is guessed wrong. */
static uint32_t read_positions(const struct postings *table, uint32_t at, uint32_t end,
                               uint32_t *out, bool *out_sound)
{
    uint64_t mask = (1ull << table->position_bits) - 1;
    uint32_t count = end - at < POSTINGS_BLOCK ? end - at : POSTINGS_BLOCK;
    bool beyond = false;
    for (uint32_t i = 0; i < FEW_POSITIONS; i++) {
        uint64_t position = slot_read(table->slots, at + i, table->slot_bits) & mask;
        beyond |= (i < count) & (position >= table->shape.axis);
        out[i] = (uint32_t)position;
    }
    for (uint32_t i = FEW_POSITIONS; i < count; i++) {
        uint64_t position = slot_read(table->slots, at + i, table->slot_bits) & mask;
        beyond |= position >= table->shape.axis;
        out[i] = (uint32_t)position;
    }
    *out_sound = !beyond;
    return count;
}

static enum doppel_status visit_short(const struct postings *table, const struct found *found,
                                      uint32_t number, posting_run_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    uint32_t positions[POSTINGS_BLOCK], at = found->first;
    do {
        bool sound;
        uint32_t count = read_positions(table, at, found->end, positions, &sound);
        if (!sound)
            return postings_damaged(error);
        if (!visitor(context, number, positions, count))
            return DOPPEL_E_CANCELLED;
        at += count;
    } while (at < found->end);
    return DOPPEL_OK;
}

enum doppel_status postings_lookup(const struct postings *table, const uint32_t *keys, size_t count,
                                   posting_run_visitor *visitor, void *context,
                                   struct doppel_error *error)
{
    struct lookup lookup = {.table = table, .keys = keys, .count = count};
    enum doppel_status status = DOPPEL_OK;
    for (size_t first = 0; first < count && !status; first += BLOCK_KEYS) {
        const struct block *block = find_block(&lookup, first / BLOCK_KEYS);
        if (!block)
            return postings_damaged(error);
        for (size_t i = 0; i < block->listed_count && !status; i++) {
            const struct found *found = &block->found[block->listed[i]];
            uint32_t number = (uint32_t)first + block->listed[i];
            if (found->unit != NO_UNIT)
                status = postings_read_long(table, found->unit, number, visitor, context, error);
            else
                status = visit_short(table, found, number, visitor, context, error);
        }
    }
    return status ? status : segment_damage(table->segment, error);
}

enum doppel_status postings_counts(const struct postings *table, const uint32_t *keys, size_t count,
                                   uint64_t *counts, struct doppel_error *error)
{
    struct lookup lookup = {.table = table, .keys = keys, .count = count};
    for (size_t first = 0; first < count; first += BLOCK_KEYS) {
        const struct block *block = find_block(&lookup, first / BLOCK_KEYS);
        if (!block)
            return postings_damaged(error);
        for (size_t i = 0; i < block->count; i++) {
            const struct found *found = &block->found[i];
            struct long_list list;
            uint64_t blocks;
            if (found->unit == NO_UNIT)
                counts[first + i] += found->end - found->first;
            else if (postings_long_list(table, found->unit, &list, &blocks))
                counts[first + i] += list.count;
            else
                return postings_damaged(error);
        }
    }
    return segment_damage(table->segment, error);
}
