/* Long lists of a postings table: their heads checked, their blocks unpacked. */
#include "index/postings/postings_internal.h"

/* Sums of a block's deltas of so few bits do not wrap. */
enum { SAFE_WIDTH = 25 };

static bool has_units(const struct postings *table, uint64_t unit, uint64_t count)
{
    return count <= table->shape.units && unit <= table->shape.units - count;
}

bool postings_long_list(const struct postings *table, uint64_t unit, struct long_list *out,
                        uint64_t *out_blocks)
{
    const uint8_t *at = table->lists + unit * POSTINGS_UNIT;
    if (!has_units(table, unit, 1))
        return false;
    segment_touch(table->segment, at, POSTINGS_UNIT);
    memcpy(out, at, sizeof *out);
    uint64_t units = long_head_units(out->count);
    if (!out->count || out->first >= table->shape.axis || !has_units(table, unit, units))
        return false;
    segment_touch(table->segment, at, units * POSTINGS_UNIT);
    *out_blocks = unit + units;
    return true;
}

/* Whether the positions ascend from `before` and stay on the axis. */
static bool is_valid_long_list(const uint32_t *positions, uint32_t count, uint32_t width,
                               uint32_t before, uint64_t axis)
{
    if (width <= SAFE_WIDTH)
        return positions[count - 1] >= before && positions[count - 1] < axis;
    for (uint32_t i = 0; i < count; before = positions[i++])
        if (positions[i] < before)
            return false;
    return before < axis;
}

enum doppel_status postings_read_long(const struct postings *table, uint64_t unit, uint32_t number,
                                      posting_run_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    struct long_list list;
    uint32_t positions[POSTINGS_BLOCK];
    if (!postings_long_list(table, unit, &list, &unit))
        return postings_damaged(error);
    const uint8_t *widths = table->lists + unit * POSTINGS_UNIT;
    widths -= long_head_units(list.count) * POSTINGS_UNIT - 8;
    uint32_t before = list.first;
    for (uint32_t left = list.count; left; widths++) {
        uint32_t count = left < POSTINGS_BLOCK ? left : POSTINGS_BLOCK;
        uint32_t rows = block_rows(count), width = *widths, units;
        if (width > 32 || !has_units(table, unit, units = block_units(rows, width)))
            return postings_damaged(error);
        const uint8_t *packed = table->lists + unit * POSTINGS_UNIT;
        segment_touch(table->segment, packed, units * POSTINGS_UNIT);
        table->unpack((const void *)packed, width, rows, before, positions);
        if (!is_valid_long_list(positions, count, width, before, table->shape.axis))
            return postings_damaged(error);
        if (!visitor(context, number, positions, count))
            return DOPPEL_E_CANCELLED;
        before = positions[count - 1];
        unit += units;
        left -= count;
    }
    return DOPPEL_OK;
}
