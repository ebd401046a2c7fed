/* Changes of a shard that are done whole or not at all: scripts of Redis. */
#ifndef DOPPEL_SHARDS_SCRIPTS_H
#define DOPPEL_SHARDS_SCRIPTS_H

#include "shards/shards_internal.h"
#include "shards/tables.h"

/* An item as its shard has it: JSON, and before it, while it is pending, "?" and since when, in ms
 * of the node's clock, and a space. */
enum { PENDING_MARK = '?' };

/* A change of one item. Borrowed. */
struct shards_change {
    uint64_t id;
    const char *name; /* under which it is found again: its external id, or digest */
    const char *json; /* as it will be; NULL: it goes */
    bool pending;
    const char *was; /* as it must be now, whole; "": it must not be there; NULL: whatever it is */
    const struct table_codes *before, *after; /* NULL: none */
};

/* Ask for it. The answer: [1, id, item] it is done; [0, id, item] another has the name, which is
 * this one where an answer was lost; [2] the item is not as it was; [3] the id is another one's. */
enum doppel_status script_change(const struct doppel_shards *shards,
                                 struct shards_commands *commands,
                                 const struct shards_change *change, struct doppel_error *error);

/* Make a pending item one that is there: [1]; [2] it is already; [0] it is gone, or not as it was
 * written (`was`, whole); [3, "ids"] these older ones, pending too, are to be decided first. */
enum doppel_status script_confirm(const struct doppel_shards *shards,
                                  struct shards_commands *commands, uint64_t id, const char *was,
                                  struct doppel_error *error);

/* Tell a pending item that an older one is decided first, or no longer: 1; 2: it is there already;
 * 0: it is gone. */
enum doppel_status script_challenge(const struct doppel_shards *shards,
                                    struct shards_commands *commands, uint64_t id, uint64_t older,
                                    bool ends, struct doppel_error *error);

#endif
