/* From digests to the numbers of the records that have them. The digests lie in an array of the
 * caller's, by number: the map itself takes 5 to 11 bytes a record. */
#ifndef DOPPEL_CORPUS_DEDUP_NUMBER_MAP_H
#define DOPPEL_CORPUS_DEDUP_NUMBER_MAP_H

#include <stdbool.h>

#include <doppel/core.h>

/* Zero-initialised it is empty. */
struct number_map {
    uint32_t *slots; /* number + 1; 0 = free */
    size_t capacity; /* a power of two */
    size_t count;
};

enum { NO_NUMBER = UINT32_MAX };

/** The number that has the digest of `number`, or is put for it; UINT32_MAX: none. */
uint32_t number_map_find(const struct number_map *map, const struct doppel_digest *digests,
                         const struct doppel_digest *digest);

/** Put `number`, in place of one with the same digest. False without memory. */
bool number_map_put(struct number_map *map, const struct doppel_digest *digests, uint32_t number);

void number_map_free(struct number_map *map);

#endif
