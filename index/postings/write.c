/* Writing a postings table from its lists, which pass twice: to be measured, then to be written. */
#include <stdlib.h>

#include "index/postings/groups.h"

struct writing {
    struct postings_shape shape;
    uint32_t position_bits, slot_bits;
    struct segment *segment;
    /* Where the next goes. */
    uint64_t group, slot, unit;
    uint8_t *groups, *slots, *lists;
};

void list_items_free(struct list_items *items)
{
    free(items->payloads);
    free(items->starts);
    *items = (struct list_items){0};
}

/* ---- long lists ---- */

static uint32_t bits_needed(uint32_t value)
{
    return value ? 32 - (uint32_t)__builtin_clz(value) : 0;
}

/* The deltas of a block, and the width that all fit. The first is to `before`. */
static uint32_t block_deltas(const uint32_t *positions, uint32_t count, uint32_t before,
                             uint32_t *out)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < count; before = positions[i++])
        any |= out[i] = positions[i] - before;
    return bits_needed(any);
}

static uint32_t block_count(size_t left)
{
    return left < POSTINGS_BLOCK ? (uint32_t)left : POSTINGS_BLOCK;
}

/* Units of a long list; written when there is somewhere to write to. */
static uint64_t put_long(const uint32_t *positions, size_t count, uint8_t *out)
{
    uint32_t deltas[POSTINGS_BLOCK], before = positions[0];
    uint64_t units = long_head_units(count);
    if (out)
        memcpy(out, &(struct long_list){.count = (uint32_t)count, .first = before}, 8);
    for (size_t at = 0; at < count; at += POSTINGS_BLOCK) {
        uint32_t here = block_count(count - at);
        uint32_t width = block_deltas(positions + at, here, before, deltas);
        if (out) {
            out[8 + at / POSTINGS_BLOCK] = (uint8_t)width;
            postings_pack(deltas, here, width, (void *)(out + units * POSTINGS_UNIT));
        }
        units += block_units(block_rows(here), width);
        before = positions[at + here - 1];
    }
    return units;
}

/* ---- first: measure ---- */

static enum doppel_status measure_list(void *context, uint32_t key, const uint32_t *positions,
                                       size_t count, struct doppel_error *error)
{
    struct postings_shape *shape = context;
    (void)key;
    shape->postings += count;
    shape->slots += count < POSTINGS_LONG ? count : 1;
    shape->units += count < POSTINGS_LONG ? 0 : put_long(positions, count, NULL);
    if (count > UINT32_MAX || shape->slots > UINT32_MAX || shape->units > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "too many postings for one segment: split its items");
    return DOPPEL_OK;
}

/* ---- then: write ---- */

static void put_slot_writing(struct writing *writing, uint64_t slot)
{
    uint64_t at = writing->slot++ * writing->slot_bits, word;
    memcpy(&word, writing->slots + at / 8, sizeof word);
    word |= slot << at % 8;
    memcpy(writing->slots + at / 8, &word, sizeof word);
}

/* All groups up to this one start at the next slot. */
static void begin_groups(struct writing *writing, uint64_t last)
{
    for (; writing->group <= last; writing->group++)
        group_begin(writing->groups, &writing->shape, writing->group, (uint32_t)writing->slot);
}

static enum doppel_status write_posting_list(void *context, uint32_t key, const uint32_t *positions,
                                             size_t count, struct doppel_error *error)
{
    struct writing *writing = context;
    const struct postings_shape *shape = &writing->shape;
    uint32_t remainder_bits = shape->key_bits - shape->group_bits;
    uint64_t remainder = key & ((1ull << remainder_bits) - 1);
    uint64_t units = count < POSTINGS_LONG ? 0 : put_long(positions, count, NULL);
    if (writing->slot + (units ? 1 : count) > shape->slots || writing->unit + units > shape->units)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a stream of postings changed meanwhile");
    begin_groups(writing, (uint64_t)key >> remainder_bits);
    if (units) {
        put_slot_writing(writing,
                         remainder << writing->position_bits | (shape->axis + writing->unit));
        put_long(positions, count, writing->lists + writing->unit * POSTINGS_UNIT);
        writing->unit += units;
        return DOPPEL_OK;
    }
    for (size_t i = 0; i < count; i++)
        put_slot_writing(writing, remainder << writing->position_bits | positions[i]);
    return DOPPEL_OK;
}

static enum doppel_status write_lists(struct writing *writing, const struct list_items *items,
                                      const struct list_source *source, struct doppel_error *error)
{
    struct segment *segment = writing->segment;
    struct list_taker taker = {writing, write_posting_list};
    if (items->count)
        memcpy(segment_fill(segment, POSTINGS_PAYLOADS), items->payloads,
               items->count * sizeof *items->payloads);
    memcpy(segment_fill(segment, POSTINGS_STARTS), items->starts,
           (items->count + 1) * sizeof *items->starts);
    writing->groups = segment_fill(segment, POSTINGS_GROUPS);
    writing->slots = segment_fill(segment, POSTINGS_SLOTS);
    writing->lists = segment_fill(segment, POSTINGS_LISTS);
    enum doppel_status status = source->run(source->context, &taker, error);
    if (status)
        return status;
    begin_groups(writing, 1ull << writing->shape.group_bits);
    return DOPPEL_OK;
}

enum doppel_status postings_write(uint32_t key_bits, const struct list_items *items,
                                  const struct list_source *source,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error)
{
    struct writing writing = {.shape = {.key_bits = key_bits,
                                        .items = items->count,
                                        .axis = items->starts[items->count]}};
    struct list_taker measure = {&writing.shape, measure_list};
    enum doppel_status status = source->run(source->context, &measure, error);
    if (status)
        return status;
    writing.shape.group_bits = postings_group_bits(key_bits, writing.shape.slots);
    writing.position_bits = postings_position_bits(&writing.shape);
    writing.slot_bits = key_bits - writing.shape.group_bits + writing.position_bits;
    struct segment_plan plan = postings_plan(&writing.shape);
    status = segment_create(&plan, target, &writing.segment, error);
    if (status)
        return status;
    status = write_lists(&writing, items, source, error);
    if (!status)
        status = segment_seal(writing.segment, error);
    if (status)
        segment_release(writing.segment);
    else
        *out = writing.segment;
    return status;
}
