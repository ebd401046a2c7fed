/* What a library has, by number: the bytes and the kind of each item. */
#ifndef DOPPEL_SEARCH_KNOWN_ITEMS_H
#define DOPPEL_SEARCH_KNOWN_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/library.h>

#include "core/array.h"
#include "core/digest_map.h"

struct known_item {
    struct doppel_digest digest;
    uint64_t id   : 60; /* above the one before */
    uint64_t kind : 4;
    uint32_t next; /* number + 1 of another one with these bytes; 0: none */
};

/* Zero-initialised it is empty. */
struct known_items {
    ARRAY(struct known_item) items;
    struct digest_map by_digest; /* to the first item of each */
    bool has_video;
};

void known_items_free(struct known_items *known);

/* Items come by id. DOPPEL_E_MEMORY. */
enum doppel_status known_items_add(struct known_items *known, const struct doppel_item *item,
                                   struct doppel_error *error);

/* The kind of an item; UNKNOWN of one that is not there. */
enum doppel_kind known_items_kind(const struct known_items *known, uint64_t id);

/* The next item that has these bytes, in any order; `*at` is 0 before the first. @return its id; 0:
 * none */
uint64_t known_items_next(const struct known_items *known, const struct doppel_digest *digest,
                          size_t *at);

#endif
