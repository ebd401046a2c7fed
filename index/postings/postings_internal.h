/*
 * How a postings table lies in its segment, and what its files share.
 *
 * Keys are divided into groups by their high bits. A group is a run of slots, sorted; a slot has a
 * fixed number of bits: the key's remaining bits, and below them a position. How many bits say the
 * group and how many stand in the slot follows from the number of slots, so that few keys do not
 * pay for many groups.
 *
 * Keys with many postings have one slot only, whose position lies beyond the axis and numbers a
 * unit of 16 bytes, where their list starts: its length, its first position, a byte for each block
 * of 128, the width of its deltas; then the blocks. Row r of a block is four deltas, one in each
 * column; a column is a string of bits in every fourth 32-bit word.
 */
#ifndef DOPPEL_INDEX_POSTINGS_POSTINGS_INTERNAL_H
#define DOPPEL_INDEX_POSTINGS_POSTINGS_INTERNAL_H

#include <string.h>

#include "index/postings/postings.h"

enum {
    POSTINGS_VERSION = 2,
    POSTINGS_GROUP_SLOTS = 16,   /* at most, on average */
    POSTINGS_REMAINDER_MAX = 24, /* a slot must be read in 8 bytes from any bit of the first */
    POSTINGS_LONG = 64,          /* a list of so many is a long one */
    POSTINGS_COLUMNS = 4,
    POSTINGS_BLOCK = 128,
    POSTINGS_UNIT = 16 /* bytes */
};

enum postings_part {
    POSTINGS_PAYLOADS, /* u64 each item */
    POSTINGS_STARTS,   /* u32 each item: where it starts on the axis; and the end */
    POSTINGS_GROUPS,   /* the slots of each group (postings_groups.h) */
    POSTINGS_SLOTS,
    POSTINGS_LISTS /* units */
};

enum postings_parameter {
    POSTINGS_PARAMETER_VERSION,
    POSTINGS_PARAMETER_KEY_BITS,
    POSTINGS_PARAMETER_ITEMS,
    POSTINGS_PARAMETER_POSTINGS,
    POSTINGS_PARAMETER_AXIS,
    POSTINGS_PARAMETER_SLOTS,
    POSTINGS_PARAMETER_UNITS,
    POSTINGS_PARAMETER_GROUP_BITS
};

struct postings_shape {
    uint32_t key_bits, group_bits;
    uint64_t items, postings, axis, slots, units;
};

/** Bits of a position, or unit, in a slot. */
static inline uint32_t postings_position_bits(const struct postings_shape *shape)
{
    uint64_t most = shape->axis + shape->units;
    return most > 1 ? 64 - (uint32_t)__builtin_clzll(most - 1) : 1;
}

/** The bits of keys that choose the group, for so many slots. */
uint32_t postings_group_bits(uint32_t key_bits, uint64_t slots);

/** What the segment of such a table holds. */
struct segment_plan postings_plan(const struct postings_shape *shape);

/* The head of a long list, in its first units; the bytes of the widths go on after it. */
struct long_list {
    uint32_t count, first;
    uint8_t widths[8];
};

/** Units of the head: of a list with so many postings. */
static inline uint64_t long_head_units(uint64_t count)
{
    uint64_t blocks = (count + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
    return (8 + blocks + POSTINGS_UNIT - 1) / POSTINGS_UNIT;
}

static inline uint32_t block_rows(uint32_t postings)
{
    return (postings + POSTINGS_COLUMNS - 1) / POSTINGS_COLUMNS;
}

static inline uint32_t block_units(uint32_t rows, uint32_t width)
{
    return (rows * width + 31) / 32;
}

/**
 * Add up the deltas of a block.
 * @param packed  its units, and one more that is readable
 * @param width   bits of a delta, at most 32
 * @param before  the position that the first delta is added to
 * @param out     room for 4 × rows
 */
typedef void postings_unpacker(const uint32_t *packed, uint32_t width, uint32_t rows,
                               uint32_t before, uint32_t *out);

postings_unpacker postings_unpack_portable, postings_unpack_avx2;

/** The fastest of this processor. */
postings_unpacker *postings_unpack_choose(void);

/** The inverse. @param packed zeroed; at most 128 deltas, `count` of them */
void postings_pack(const uint32_t *deltas, uint32_t count, uint32_t width, uint32_t *packed);

/* Slots of a group to be looked through for a key. */
enum { SCAN_SLOTS = 32, SCAN_SLOT_BITS = 48 };
struct slot_scan {
    const uint8_t *slots;
    uint64_t first, remainder, axis;
    uint32_t count;                    /* at most SCAN_SLOTS, at least 1 */
    uint32_t slot_bits, position_bits; /* at most SCAN_SLOT_BITS; at most 33 */
};

/**
 * The low 32 bits of the positions of the slots of this remainder.
 * @param out room for SCAN_SLOTS + 8
 * @param out_beyond whether some of them are not on the axis
 * @return how many
 */
typedef uint32_t postings_scanner(const struct slot_scan *scan, uint32_t *out, bool *out_beyond);

postings_scanner postings_scan_portable, postings_scan_avx512;

/** The fastest of this processor. */
postings_scanner *postings_scan_choose(void);

struct postings {
    struct segment *segment;
    struct postings_shape shape;
    uint32_t position_bits, slot_bits, remainder_bits;
    postings_unpacker *unpack;
    postings_scanner *scan;
    const uint64_t *payloads;
    const uint32_t *starts;
    bool in_rows; /* the directory of groups is */
    const uint8_t *groups, *slots, *lists;
};

/** The slot of `bits` bits, at most 57, with this number. */
static inline uint64_t slot_read(const uint8_t *slots, uint64_t number, uint32_t bits)
{
    uint64_t at = number * bits, word;
    memcpy(&word, slots + at / 8, sizeof word);
    return word >> at % 8 & ((1ull << bits) - 1);
}

/** Which item a position lies in, of at least one. */
uint64_t postings_item_number(const struct postings *table, uint32_t position);

/** The head of a long list and where its blocks start. False when it does not lie in the table. */
bool postings_long_list(const struct postings *table, uint64_t unit, struct long_list *out,
                        uint64_t *out_blocks);

/** Visit a long list in runs. @return DOPPEL_OK, DOPPEL_E_CANCELLED, DOPPEL_E_CORRUPT */
enum doppel_status postings_read_long(const struct postings *table, uint64_t unit, uint32_t number,
                                      posting_run_visitor *visitor, void *context,
                                      struct doppel_error *error);

enum doppel_status postings_damaged(struct doppel_error *error);

/* ---- what builders share ---- */

/* Takes the lists of a table, keys ascending, positions ascending, none empty. */
struct list_taker {
    void *context;
    enum doppel_status (*take)(void *context, uint32_t key, const uint32_t *positions, size_t count,
                               struct doppel_error *error);
};

/* Gives them, as often as it is asked, always the same. */
struct list_source {
    void *context;
    enum doppel_status (*run)(void *context, const struct list_taker *taker,
                              struct doppel_error *error);
};

/* The items of a table in the order of the axis. */
struct list_items {
    uint64_t *payloads;
    uint32_t *starts; /* count + 1 */
    uint64_t count;
};

void list_items_free(struct list_items *items);

/** The lists of a table, without items that are not kept, and where these then lie. @param kept its
 * `keep` and `context` count @param out_items given (list_items_free); untouched on failure */
enum doppel_status postings_lists(const struct postings *table, const struct postings_merge *kept,
                                  struct list_items *out_items, const struct list_taker *taker,
                                  struct doppel_error *error);

/** Write a table from its lists, which are asked for twice. */
enum doppel_status postings_write(uint32_t key_bits, const struct list_items *items,
                                  const struct list_source *source,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error);

#endif
