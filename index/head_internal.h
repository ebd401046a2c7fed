/* What the files of the head share. */
#ifndef DOPPEL_INDEX_HEAD_INTERNAL_H
#define DOPPEL_INDEX_HEAD_INTERNAL_H

#include "index/head.h"

bool head_grow(void **items, size_t count, size_t item_bytes);

/** Room for `count` more codes. */
bool head_reserve(struct head *head, size_t count);

void head_items_free(struct head_items *items);
uint64_t head_items_bytes(const struct head_items *items);

/** posting_stream's read, of a head_stream: the next living item. */
bool head_next_item(void *context, uint64_t *payload, uint32_t *length,
                    const struct doppel_index_posting **postings, size_t *count);

/** Note the bands of the signatures that are new. False without memory: some are to be compared one
 * by one. */
bool head_bands_add(struct head *head);

/** Append to the query's hits the signatures that share a band and are within its radius; false
 * without memory. @param visited added to */
bool head_bands_search(const struct head_view *view, const struct query *query, uint64_t *visited);
/** The same for those that share one of the query's bands. */
bool head_bands_scan(const struct head_view *view, const struct query *query, uint64_t *visited);

void head_bands_free(struct head_bands *chains);
uint64_t head_bands_bytes(const struct head *head);

#endif
