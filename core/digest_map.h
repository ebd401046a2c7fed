/* From a digest to the first of the items that have it: an open-addressing table of item numbers,
 * 8 to 16 bytes an item. Zero-initialised it is empty. */
#ifndef DOPPEL_CORE_DIGEST_MAP_H
#define DOPPEL_CORE_DIGEST_MAP_H

#include <stdbool.h>

#include <doppel/core.h>

struct digest_map {
    uint32_t *cells;        /* item number + 1; 0 = free */
    size_t count, capacity; /* capacity: 0 or a power of two */
};

/* The digest of an item. */
typedef const struct doppel_digest *digest_of(const void *context, uint32_t number);

/* Make room for one more: then digest_map_put does not fail. @return false without memory */
bool digest_map_reserve(struct digest_map *map, digest_of *digest, const void *context);

/* The first item with the digest of item `number`, which is put there when it is the first itself.
 * `digest` and `context` give the digests of `number` and of all that were put.
 * @return UINT32_MAX without memory */
uint32_t digest_map_put(struct digest_map *map, uint32_t number, digest_of *digest,
                        const void *context);

/* The item that was put with a digest; UINT32_MAX: none. */
uint32_t digest_map_find(const struct digest_map *map, const struct doppel_digest *wanted,
                         digest_of *digest, const void *context);

void digest_map_free(struct digest_map *map);

#endif
