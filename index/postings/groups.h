/*
 * The directory of a postings table: the slots that each group has.
 *
 * When a group has few keys, and so few slots, rows of 16 bytes say it for eight groups each: the
 * first slot of all (4 bytes), and how many slots after it each of them ends (12 bits each).
 * Otherwise a group has 4 bytes, its first slot, and the end follows the last one.
 */
#ifndef DOPPEL_INDEX_POSTINGS_GROUPS_H
#define DOPPEL_INDEX_POSTINGS_GROUPS_H

#include "index/postings/postings_internal.h"

enum { ROW_GROUPS = 8, ROW_BYTES = 16, ROW_KEY_BITS = 3, ROW_END_BITS = 12 };

_Static_assert((POSTINGS_LONG - 1) * ROW_GROUPS << ROW_KEY_BITS < 1 << ROW_END_BITS,
               "the slots of a row's keys are counted in so many bits");

static inline bool groups_in_rows(const struct postings_shape *shape)
{
    return shape->key_bits - shape->group_bits <= ROW_KEY_BITS;
}

static inline uint64_t groups_bytes(const struct postings_shape *shape)
{
    uint64_t groups = 1ull << shape->group_bits;
    return groups_in_rows(shape) ? (groups + ROW_GROUPS - 1) / ROW_GROUPS * ROW_BYTES
                                 : (groups + 1) * sizeof(uint32_t);
}

/** Where the slots of a group are given. */
static inline const uint8_t *group_at(const struct postings *table, uint64_t group)
{
    return table->groups +
           (table->in_rows ? group / ROW_GROUPS * ROW_BYTES : group * sizeof(uint32_t));
}

/* Where in a row the end of a group is given: in two bytes, from this bit on. */
static inline uint32_t row_end_bit(uint64_t group)
{
    return 32 + (uint32_t)(group % ROW_GROUPS) * ROW_END_BITS;
}

static inline uint32_t row_end(const uint8_t *row, uint64_t group)
{
    uint32_t bit = row_end_bit(group);
    uint16_t word;
    memcpy(&word, row + bit / 8, sizeof word);
    return word >> bit % 8 & ((1u << ROW_END_BITS) - 1);
}

/** The slots of a group. False when the table is damaged: they are none of its slots. */
static inline bool group_slots(const struct postings *table, uint64_t group, uint32_t *out_first,
                               uint32_t *out_end)
{
    const uint8_t *at = group_at(table, group);
    uint32_t limits[2];
    segment_touch(table->segment, at, table->in_rows ? ROW_BYTES : sizeof limits);
    memcpy(limits, at, sizeof limits);
    if (table->in_rows) {
        limits[1] = limits[0] + row_end(at, group);
        limits[0] += group % ROW_GROUPS ? row_end(at, group - 1) : 0;
    }
    *out_first = limits[0];
    *out_end = limits[1];
    return limits[0] <= limits[1] && limits[1] <= table->shape.slots;
}

/** Note that a group starts at this slot, and that the one before it ends there; 2^group_bits: no
 * more than that. @param groups zeroed; called for one group after the other */
static inline void group_begin(uint8_t *groups, const struct postings_shape *shape, uint64_t group,
                               uint32_t slot)
{
    if (!groups_in_rows(shape)) {
        memcpy(groups + group * sizeof slot, &slot, sizeof slot);
        return;
    }
    if (group) {
        uint8_t *row = groups + (group - 1) / ROW_GROUPS * ROW_BYTES;
        uint32_t bit = row_end_bit(group - 1), first;
        uint16_t word;
        memcpy(&first, row, sizeof first);
        memcpy(&word, row + bit / 8, sizeof word);
        word |= (uint16_t)((slot - first) << bit % 8);
        memcpy(row + bit / 8, &word, sizeof word);
    }
    if (group % ROW_GROUPS == 0 && !(group >> shape->group_bits))
        memcpy(groups + group / ROW_GROUPS * ROW_BYTES, &slot, sizeof slot);
}

#endif
