/* From a digest to a number: an open-addressing table, 24 bytes an entry at most half full.
 * Zero-initialised it is empty. */
#ifndef DOPPEL_TOOLS_DIGEST_MAP_H
#define DOPPEL_TOOLS_DIGEST_MAP_H

#include <doppel/core.h>

struct digest_map {
    struct digest_entry *entries;
    size_t count, capacity; /* capacity: 0 or a power of two */
};

/* The number under `digest`; where there is none, `number` is put there and returned. */
uint32_t digest_map_put(struct digest_map *map, const struct doppel_digest *digest,
                        uint32_t number);

void digest_map_free(struct digest_map *map);

#endif
