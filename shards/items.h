/* Items as their shards have them. */
#ifndef DOPPEL_SHARDS_ITEMS_H
#define DOPPEL_SHARDS_ITEMS_H

#include "shards/shards_internal.h"

/* The name under which an item is found again: "i" and its external id, or "d" and its digest, or
 * "c", scheme and code. @param out given (free). DOPPEL_E_ARGUMENT: it has none of these */
enum doppel_status item_shard_name(const struct doppel_shards_item *item, char **out,
                                   struct doppel_error *error);

/* @param out appended: one object, on one line */
enum doppel_status item_write(const struct doppel_shards_item *item, struct doppel_json *out,
                              struct doppel_error *error);

/* An item of a shard. */
struct stored_item {
    struct doppel_shards_item item;
    char *text; /* as the shard has it; given (stored_item_free) */
    bool pending;
};
void stored_item_free(struct stored_item *item);

/* @param out given. DOPPEL_E_CORRUPT, with a sentence */
enum doppel_status item_read(uint64_t id, const char *text, size_t size, struct stored_item *out,
                             struct doppel_error *error);

/* Items that were fetched, by id. Zero-initialised it is empty. */
struct stored_items {
    ARRAY(struct stored_item) list;
};
void stored_items_free(struct stored_items *items);

/* Fetch items; those that are not there, or damaged (the run is told), are left out.
 * @param ids in ascending order, each once
 * @param always of the masters. Shards that do not answer are added to `missing` (a bit each). As
 * commands_run */
enum doppel_status items_fetch(struct doppel_shards *shards, const uint64_t *ids, size_t count,
                               bool of_masters, struct stored_items *out,
                               uint8_t missing[static SHARD_BYTES], struct doppel_error *error);

/* An item that is asked for. */
struct item_by_shard {
    uint32_t shard;
    uint64_t id;
};

/* Take the answers to items that were asked for, a command each shard.
 * @param sorted by shard, in the order in which they were asked for; behind them DOPPEL_SHARDS */
enum doppel_status items_take(struct doppel_shards *shards, const struct item_by_shard *sorted,
                              const struct shards_commands *commands, struct stored_items *out,
                              uint8_t missing[static SHARD_BYTES], struct doppel_error *error);

/* NULL: it is not among them. */
struct stored_item *stored_items_find(const struct stored_items *items, uint64_t id);

#endif
