/* A hash map with open addressing whose keys lie elsewhere. */
#include "corpus/dedup/number_map.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

enum { FIRST_CAPACITY = 64 };

/* The slot of a digest, or the free one where it belongs. Digests are as good as random: so are
 * their first bytes. */
static uint32_t *slot_of_digest(const struct number_map *map, const struct doppel_digest *digests,
                                const struct doppel_digest *digest)
{
    size_t at = (size_t)get_u64(digest->bytes) & (map->capacity - 1);
    while (map->slots[at] &&
           memcmp(digests[map->slots[at] - 1].bytes, digest->bytes, sizeof digest->bytes) != 0)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

uint32_t number_map_find(const struct number_map *map, const struct doppel_digest *digests,
                         const struct doppel_digest *digest)
{
    return map->count ? *slot_of_digest(map, digests, digest) - 1 : NO_NUMBER;
}

static bool grow_number_map(struct number_map *map, const struct doppel_digest *digests)
{
    struct number_map grown = {.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY};
    grown.slots = calloc(grown.capacity, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i])
            *slot_of_digest(&grown, digests, &digests[map->slots[i] - 1]) = map->slots[i];
    grown.count = map->count;
    number_map_free(map);
    *map = grown;
    return true;
}

bool number_map_put(struct number_map *map, const struct doppel_digest *digests, uint32_t number)
{
    if (map->count >= map->capacity / 4 * 3 && !grow_number_map(map, digests))
        return false;
    uint32_t *slot = slot_of_digest(map, digests, &digests[number]);
    map->count += *slot == 0;
    *slot = number + 1;
    return true;
}

void number_map_free(struct number_map *map)
{
    free(map->slots);
    *map = (struct number_map){0};
}
