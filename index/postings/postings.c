/* The postings table: its options and parameters checked, its parts found, items by position. */
#include <stdlib.h>

#include "index/postings/groups.h"

enum doppel_status postings_options_check(const struct postings_options *options,
                                          struct doppel_error *error)
{
    if (!options->key_bits || options->key_bits > 32)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%u bits: keys of postings have 1 to 32",
                           options->key_bits);
    return DOPPEL_OK;
}

enum doppel_status postings_damaged(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the postings table is damaged: numbers beyond it");
}

static uint32_t least_group_bits(uint32_t key_bits)
{
    return key_bits > POSTINGS_REMAINDER_MAX ? key_bits - POSTINGS_REMAINDER_MAX : 0;
}

/* Rows take more bytes than they spare slots, at first; but the groups of keys that are asked are
 * those of many slots, which are the sooner looked through. */
enum { EARLY_ROWS = 2 /* bits of a group before it has a row */ };

uint32_t postings_group_bits(uint32_t key_bits, uint64_t slots)
{
    uint32_t bits = least_group_bits(key_bits);
    while (bits < key_bits && slots >> bits > POSTINGS_GROUP_SLOTS)
        bits++;
    bool nearly_in_rows = bits < key_bits && bits + EARLY_ROWS + ROW_KEY_BITS >= key_bits;
    return nearly_in_rows && bits + ROW_KEY_BITS < key_bits ? key_bits - ROW_KEY_BITS : bits;
}

struct segment_plan postings_plan(const struct postings_shape *shape)
{
    uint32_t slot_bits = shape->key_bits - shape->group_bits + postings_position_bits(shape);
    struct segment_plan plan = {.table = SEGMENT_POSTINGS};
    plan.parameters[POSTINGS_PARAMETER_VERSION] = POSTINGS_VERSION;
    plan.parameters[POSTINGS_PARAMETER_KEY_BITS] = shape->key_bits;
    plan.parameters[POSTINGS_PARAMETER_ITEMS] = shape->items;
    plan.parameters[POSTINGS_PARAMETER_POSTINGS] = shape->postings;
    plan.parameters[POSTINGS_PARAMETER_AXIS] = shape->axis;
    plan.parameters[POSTINGS_PARAMETER_SLOTS] = shape->slots;
    plan.parameters[POSTINGS_PARAMETER_UNITS] = shape->units;
    plan.parameters[POSTINGS_PARAMETER_GROUP_BITS] = shape->group_bits;
    plan.part_bytes[POSTINGS_PAYLOADS] = shape->items * sizeof(uint64_t);
    plan.part_bytes[POSTINGS_STARTS] = (shape->items + 1) * sizeof(uint32_t);
    plan.part_bytes[POSTINGS_GROUPS] = groups_bytes(shape);
    plan.part_bytes[POSTINGS_SLOTS] = (shape->slots * slot_bits + 7) / 8;
    plan.part_bytes[POSTINGS_LISTS] = shape->units * POSTINGS_UNIT;
    return plan;
}

/* The shape that the parameters tell; false when they cannot be a postings table's. */
static bool read_postings_shape(const struct segment_plan *plan, struct postings_shape *out)
{
    const uint64_t *parameters = plan->parameters;
    uint64_t key_bits = parameters[POSTINGS_PARAMETER_KEY_BITS];
    uint64_t group_bits = parameters[POSTINGS_PARAMETER_GROUP_BITS];
    if (!key_bits || key_bits > 32 || group_bits > key_bits ||
        group_bits < least_group_bits((uint32_t)key_bits) ||
        parameters[POSTINGS_PARAMETER_ITEMS] > UINT64_MAX >> 8 ||
        parameters[POSTINGS_PARAMETER_AXIS] > UINT32_MAX ||
        parameters[POSTINGS_PARAMETER_SLOTS] > UINT32_MAX ||
        parameters[POSTINGS_PARAMETER_UNITS] > UINT32_MAX)
        return false;
    *out = (struct postings_shape){
        .key_bits = (uint32_t)key_bits,
        .group_bits = (uint32_t)group_bits,
        .items = parameters[POSTINGS_PARAMETER_ITEMS],
        .postings = parameters[POSTINGS_PARAMETER_POSTINGS],
        .axis = parameters[POSTINGS_PARAMETER_AXIS],
        .slots = parameters[POSTINGS_PARAMETER_SLOTS],
        .units = parameters[POSTINGS_PARAMETER_UNITS],
    };
    struct segment_plan wanted = postings_plan(out);
    return !memcmp(wanted.part_bytes, plan->part_bytes, sizeof wanted.part_bytes);
}

static const void *part_postings(const struct segment *segment, enum postings_part number)
{
    return segment->parts[number];
}

static uint32_t axis_end(const struct segment *segment, uint64_t items)
{
    const uint32_t *end = (const uint32_t *)part_postings(segment, POSTINGS_STARTS) + items;
    segment_touch(segment, end, sizeof *end);
    return *end;
}

static enum doppel_status check_postings(const struct segment *segment, struct postings_shape *out,
                                         struct doppel_error *error)
{
    if (segment->plan.table != SEGMENT_POSTINGS)
        return doppel_fail(error, DOPPEL_E_FORMAT, "the segment is not a postings table");
    uint64_t version = segment->plan.parameters[POSTINGS_PARAMETER_VERSION];
    if (version != POSTINGS_VERSION)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the postings table has version %llu, this program reads %d",
                           (unsigned long long)version, POSTINGS_VERSION);
    if (!read_postings_shape(&segment->plan, out) || axis_end(segment, out->items) != out->axis)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the postings table's parameters are damaged");
    return DOPPEL_OK;
}

enum doppel_status postings_open(struct segment *segment, struct postings **out,
                                 struct doppel_error *error)
{
    struct postings_shape shape;
    enum doppel_status status = check_postings(segment, &shape, error);
    struct postings *table = status ? NULL : calloc(1, sizeof *table);
    if (!status && !table)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to open a postings table");
    if (status) {
        segment_release(segment);
        return status;
    }
    table->segment = segment;
    table->shape = shape;
    table->position_bits = postings_position_bits(&shape);
    table->remainder_bits = shape.key_bits - shape.group_bits;
    table->slot_bits = table->remainder_bits + table->position_bits;
    table->unpack = postings_unpack_choose();
    table->scan = postings_scan_choose();
    table->payloads = part_postings(segment, POSTINGS_PAYLOADS);
    table->starts = part_postings(segment, POSTINGS_STARTS);
    table->in_rows = groups_in_rows(&shape);
    table->groups = part_postings(segment, POSTINGS_GROUPS);
    table->slots = part_postings(segment, POSTINGS_SLOTS);
    table->lists = part_postings(segment, POSTINGS_LISTS);
    *out = table;
    return DOPPEL_OK;
}

void postings_free(struct postings *table)
{
    if (!table)
        return;
    segment_release(table->segment);
    free(table);
}

struct segment *postings_segment(const struct postings *table)
{
    return table->segment;
}

struct postings_info postings_info(const struct postings *table)
{
    const struct postings_shape *shape = &table->shape;
    return (struct postings_info){shape->items, shape->postings, shape->axis, shape->key_bits};
}

struct posting_item postings_item_at(const struct postings *table, uint64_t number)
{
    const uint32_t *start = table->starts + number;
    segment_touch(table->segment, start, 2 * sizeof *start);
    segment_touch(table->segment, table->payloads + number, sizeof *table->payloads);
    return (struct posting_item){table->payloads[number], start[0], start[1] - start[0]};
}

uint64_t postings_item_number(const struct postings *table, uint32_t position)
{
    uint64_t low = 0, high = table->shape.items;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        segment_touch(table->segment, table->starts + middle, sizeof *table->starts);
        if (table->starts[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct posting_item postings_item(const struct postings *table, uint32_t position)
{
    if (!table->shape.items)
        return (struct posting_item){0};
    return postings_item_at(table, postings_item_number(table, position));
}
