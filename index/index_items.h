/**
 * doppel/index_items.h: all items of an index of postings, to be kept or put into another one.
 */
#ifndef DOPPEL_INDEX_ITEMS_H
#define DOPPEL_INDEX_ITEMS_H

#include <doppel/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Items of postings, in two pieces of memory. */
struct doppel_index_items {
    struct doppel_index_item *items;
    size_t count;
    struct doppel_index_posting *postings; /**< item by item */
    size_t posting_count;
};

/**
 * All items that were inserted and not removed, with their postings by key. What the head holds
 * becomes a segment; an index that is open for reading gives what its files have.
 * @param out given (doppel_index_items_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT (another table); _CORRUPT; _MEMORY; as doppel_index_flush
 */
DOPPEL_API enum doppel_status doppel_index_items_read(struct doppel_index *index,
                                                      struct doppel_index_items *out,
                                                      struct doppel_error *error);
DOPPEL_API void doppel_index_items_free(struct doppel_index_items *items);

#ifdef __cplusplus
}
#endif
#endif
