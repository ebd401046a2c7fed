/* The items of a grouping, packed: about 50 bytes each and their names, without an allocation an
 * item. Zero-initialised it is empty. */
#ifndef DOPPEL_GROUP_ITEM_STORE_H
#define DOPPEL_GROUP_ITEM_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>

#include "core/array.h"

/* An item as it goes in, and comes out. */
struct grouping_item {
    const char *path; /* going in: borrowed; coming out: NULL, see item_store_path */
    struct doppel_digest digest;
    struct doppel_digest pixels; /* of a lossless image; zero: not known; going in only */
    int64_t size, mtime_ns;
    uint64_t device, inode; /* 0: not wanted; all items of a store have them, or none has */
    uint64_t id; /* in the library; 0 = none: all items of a store have one, or none has */
    uint32_t width, height; /* 0: not known */
    uint32_t source;
    uint64_t source_id; /* of a library, the item whose fingerprint it has; going in only */
    uint8_t quality;    /* going in only */
    uint8_t reading;    /* of a text, below 8; as in struct doppel_record */
    bool reference;     /* only compared against; always kept */
    bool has_authority; /* all items of a store have one, or none has */
    int64_t authority;  /* of its source */
    bool chosen;        /* the canonical one of the library, whatever the policy */
    bool benign;        /* what is near it is no duplicate by that */
    bool no_file;       /* the path is a name: nothing is on the disk */
    bool cut;           /* an image that is cut short */
};

struct packed_item;

/* Where a file lies, for those that do something about it. */
struct item_place {
    uint64_t device, inode;
};

struct item_store {
    ARRAY(struct packed_item) items;
    ARRAY(struct doppel_digest) digests;
    ARRAY(uint64_t) ids;
    ARRAY(struct item_place) places;
    ARRAY(int64_t) authorities;
    ARRAY(char) names;    /* folders, and of each item: where its folder is, u32, and its name */
    uint32_t last_folder; /* in names */
};

/* @return DOPPEL_OK, DOPPEL_E_MEMORY */
enum doppel_status item_store_add(struct item_store *store, const struct grouping_item *item,
                                  struct doppel_error *error);
void item_store_free(struct item_store *store);

uint32_t item_store_count(const struct item_store *store);

/* All but path and quality; the digest is zero once they are forgotten. */
struct grouping_item item_store_get(const struct item_store *store, uint32_t number);

/* Given (free); NULL without memory. */
char *item_store_path(const struct item_store *store, uint32_t number);

/* Borrowed until the next call that changes the store. */
const struct doppel_digest *item_store_digest(const struct item_store *store, uint32_t number);

/* No digest is needed any more: 16 bytes an item. */
void item_store_forget_digests(struct item_store *store);

#endif
