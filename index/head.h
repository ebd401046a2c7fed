/*
 * The head: what was inserted and removed since the last flush. Codes are only ever appended, and
 * marked with the moment of their death when they are removed, so that a search sees the head as it
 * was at one moment by looking at the codes below a count, and at deaths up to a clock.
 *
 * Threads: one changes it, with the index' lock held for writing; readers hold it for reading.
 */
#ifndef DOPPEL_INDEX_HEAD_H
#define DOPPEL_INDEX_HEAD_H

#include <stdatomic.h>

#include "index/hits.h"
#include "core/number_map.h"
#include "index/postings/postings.h"
#include "index/slots.h"
#include "index/stream.h"

struct head {
    _Atomic uint64_t references;
    struct doppel_index_options options;
    size_t words;             /* a code */
    uint32_t count, capacity; /* codes */
    uint32_t alive;
    uint64_t *codes; /* Hamming: in groups (scan.h); bands: one after the other */
    uint64_t *payloads;
    uint32_t *deaths;          /* clock at the removal; 0: alive */
    uint32_t clock;            /* calls of head_remove */
    struct number_map removed; /* from segments too: clock of the first time */
    struct number_map newest;  /* of each payload the newest code + 1 … */
    uint32_t *older;           /* … and from each code on the next older of its payload, + 1 */
    uint32_t mapped;           /* codes that are in these two: all below it */
    struct slots slots;        /* Hamming: the codes once more, when they are many */
    struct head_bands *bands;  /* bands: which signatures share them; NULL: none yet */
    struct head_items *items;  /* postings: what belongs to the codes, which have no words */
    bool unsearched;           /* neither slots nor bands are made */
};

/* Items of postings, one a code. */
struct head_item {
    uint32_t start, length; /* on the head's axis */
    uint32_t first, count;  /* of its postings */
};

struct head_items {
    struct head_item *list;
    uint32_t axis; /* its length */
    uint32_t postings_count, postings_capacity, alive;
    struct doppel_index_posting *postings; /* item after item; positions within the item */
    struct number_map newest;              /* of each key the newest posting + 1 … */
    uint32_t *older; /* … and from each posting on the next older of its key, + 1 */
};

/** @return NULL without memory; one reference */
struct head *head_new(const struct doppel_index_options *options);
struct head *head_retain(struct head *head);
void head_release(struct head *head);

/** Append codes: all of them, or none without memory. */
bool head_insert(struct head *head, const uint64_t *codes, const uint64_t *payloads, size_t count);

/** Append an item. DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_LIMIT */
enum doppel_status head_insert_item(struct head *head, const struct doppel_index_item *item);

/** Codes or postings that live, and those that were ever appended. */
uint64_t head_alive(const struct head *head);
uint64_t head_size(const struct head *head);

/** The code at a place, as it was inserted. */
void head_read_code(const struct head *head, uint32_t at, uint64_t *out);

/** Mark the codes of these payloads as dead; with `remember`, also those of all segments. All of
 * them, or none without memory. */
bool head_remove(struct head *head, const uint64_t *payloads, size_t count, bool remember);

/* A moment. */
struct head_view {
    const struct head *head;
    uint32_t count, clock;
};

static inline struct head_view head_now(const struct head *head)
{
    return (struct head_view){head, head->count, head->clock};
}

/** Whether codes of this payload in segments are removed. */
static inline bool head_has_removed(const struct head_view *view, uint64_t payload)
{
    uint64_t clock = number_map_find(&view->head->removed, payload);
    return clock && clock <= view->clock;
}

/** As table_search. */
enum doppel_status head_search(const struct head_view *view, struct query *queries, size_t count,
                               size_t k, struct doppel_index_counts *counts,
                               struct doppel_error *error);

/** The living codes or items, for a builder. */
struct head_stream {
    struct code_stream codes;
    struct posting_stream items;
    const struct head *head;
    uint32_t at;
};
void head_stream_init(struct head_stream *stream, const struct head *head);

typedef ARRAY(uint32_t) position_array;

/** Append the positions of a key on the head's axis, unsorted; false without memory. */
bool head_positions(const struct head_view *view, uint32_t key, position_array *out);

/** How many these are. */
uint64_t head_length(const struct head_view *view, uint32_t key);

/** The number of the item that a position lies in. */
uint32_t head_item_at(const struct head_view *view, uint32_t position);

/** The payloads removed from segments, ascending; given (free). NULL without memory. */
uint64_t *head_removed(const struct head *head, size_t *out_count);

/** Bytes of memory. */
uint64_t head_bytes(const struct head *head);

#endif
