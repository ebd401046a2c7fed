/* Items written to their shards, and taken from them. */
#ifndef DOPPEL_SHARDS_ADD_H
#define DOPPEL_SHARDS_ADD_H

#include "shards/items.h"
#include "shards/scripts.h"
#include "shards/slots.h"

/* What came of writing an item. */
struct shards_written {
    enum {
        WRITTEN_AGAIN, /* nothing: it is to be written again */
        WRITTEN_HERE,  /* it is there, under its id */
        WRITTEN_OTHER  /* `other` has its name */
    } state;
    uint64_t id;
    char *name;
    struct doppel_json json;
    struct stored_item other; /* what is there now, also where it is the item itself */
};
/* Free what it holds; and an array of them, too. */
void shards_written_clear(struct shards_written *written);
void shards_written_free(struct shards_written *written, size_t count);

/* Write items whose names are free, with new ids, in their order. @param written count of them,
 * zero before the first time */
enum doppel_status shards_write(struct doppel_shards *shards,
                                const struct doppel_shards_item *const *items, bool pending,
                                struct shards_written *written, size_t count,
                                struct doppel_error *error);

/* Take the answer to such a write (script_change). @param out of what was written; its state, and
 * what is there. DOPPEL_E_CORRUPT: that is damaged */
enum doppel_status shards_take_written(const redisReply *reply, struct shards_written *out,
                                       struct doppel_error *error);

/* Put an item that was not written in the place of what has its name, unless that is the same. */
enum doppel_status shards_end_adding(struct doppel_shards *shards,
                                     const struct doppel_shards_item *item,
                                     struct shards_written *written,
                                     struct doppel_shards_added *out, struct doppel_error *error);

/* Take items away that are still as they were read. */
enum doppel_status shards_take_away(struct doppel_shards *shards,
                                    const struct stored_item *const *items, size_t count,
                                    struct doppel_error *error);

/* The same bytes, or where there are none the same code. */
bool shards_same_content(const struct doppel_record *a, const struct doppel_record *b);

#endif
