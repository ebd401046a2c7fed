/*
 * The postings table: an immutable segment from 32-bit keys to compressed lists of positions on one
 * axis that runs through all items of the segment; the item is found by bisection.
 */
#ifndef DOPPEL_INDEX_POSTINGS_POSTINGS_H
#define DOPPEL_INDEX_POSTINGS_POSTINGS_H

#include "index/hits.h"
#include "index/segment/segment.h"

struct postings; /* a segment with its parameters checked and its parts found */

/* An item's postings as a builder reads them, items one after the other, each once a pass. */
struct posting_stream {
    void *context;
    uint64_t items, postings;
    /** The next item: its payload, its length on the axis, and its postings, positions below the
     * length; borrowed until the next call. @return false at the end */
    bool (*read)(void *context, uint64_t *payload, uint32_t *length,
                 const struct doppel_index_posting **postings, size_t *count);
    void (*rewind)(void *context);
};

struct postings_options {
    uint32_t key_bits;     /* keys are below 2^key_bits; 1 to 32 */
    uint64_t memory_bytes; /* for sorting; less means more passes over the stream; 0: half of what
                              the table is expected to take */
};

/** DOPPEL_OK, or DOPPEL_E_ARGUMENT with what is wrong. */
enum doppel_status postings_options_check(const struct postings_options *options,
                                          struct doppel_error *error);

/**
 * Build a segment from a stream of items, which is read 1 + 2 × (8 × postings / memory) times, or
 * twice when its postings fit the memory.
 * @param out given (segment_release)
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT (a key or position out of range, a stream that changed);
 * _LIMIT (an axis of 2^32 and more: split it); _MEMORY; _IO
 */
enum doppel_status postings_build(const struct postings_options *options,
                                  struct posting_stream *stream,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error);

/* Tables to become one, in this order; all of the same key bits. */
struct postings_merge {
    const struct postings *const *tables;
    size_t count;
    /** Whether an item of tables[table] is kept; NULL: all are */
    bool (*keep)(void *context, size_t table, uint64_t payload);
    void *context;
};

/** @param out given. As postings_build; also DOPPEL_E_CORRUPT */
enum doppel_status postings_merge(const struct postings_merge *merge,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error);

/** Take a segment apart. @param segment taken, also on failure */
enum doppel_status postings_open(struct segment *segment, struct postings **out,
                                 struct doppel_error *error);
void postings_free(struct postings *table);
struct segment *postings_segment(const struct postings *table);

struct postings_info {
    uint64_t items, postings, axis; /* the axis' length */
    uint32_t key_bits;
};
struct postings_info postings_info(const struct postings *table);

/** Lengths of the lists of `count` keys, added to `counts`. */
enum doppel_status postings_counts(const struct postings *table, const uint32_t *keys, size_t count,
                                   uint64_t *counts, struct doppel_error *error);

/* The positions of one key, ascending, on the table's axis. Return false to end the lookup. */
typedef bool posting_run_visitor(void *context, uint32_t key_number, const uint32_t *positions,
                                 size_t count);

/** Visit the list of each of `count` keys (a long list in several runs, an empty one not at all),
 * in order of key number. Keys are prefetched ahead; those beyond the key bits have no list.
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED when the visitor returned false; DOPPEL_E_CORRUPT */
enum doppel_status postings_lookup(const struct postings *table, const uint32_t *keys, size_t count,
                                   posting_run_visitor *visitor, void *context,
                                   struct doppel_error *error);

struct posting_item {
    uint64_t payload;
    uint32_t start, length; /* on the axis */
};

/** The item that a position of the axis lies in, by bisection. @param position below the axis'
 * length
 */
struct posting_item postings_item(const struct postings *table, uint32_t position);

/** Item number `number`, in the order of the stream. */
struct posting_item postings_item_at(const struct postings *table, uint64_t number);

#endif
