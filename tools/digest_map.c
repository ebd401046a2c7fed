/* From a digest to a number. */
#include "tools/digest_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "tools/memory.h"

struct digest_entry {
    struct doppel_digest digest;
    uint32_t number;
    bool used;
};

/* A digest is its own hash: its bits are as good as random. */
static struct digest_entry *slot_of(struct digest_entry *entries, size_t capacity,
                                    const struct doppel_digest *digest)
{
    size_t at = get_u64(digest->bytes) & (capacity - 1);
    while (entries[at].used && memcmp(&entries[at].digest, digest, sizeof *digest) != 0)
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static void grow(struct digest_map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : 64;
    struct digest_entry *entries = must_allocate(capacity * sizeof *entries);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].used)
            *slot_of(entries, capacity, &map->entries[i].digest) = map->entries[i];
    free(map->entries);
    map->entries = entries;
    map->capacity = capacity;
}

uint32_t digest_map_put(struct digest_map *map, const struct doppel_digest *digest, uint32_t number)
{
    if (map->count * 2 >= map->capacity)
        grow(map);
    struct digest_entry *entry = slot_of(map->entries, map->capacity, digest);
    if (entry->used)
        return entry->number;
    *entry = (struct digest_entry){*digest, number, true};
    map->count++;
    return number;
}

void digest_map_free(struct digest_map *map)
{
    free(map->entries);
    *map = (struct digest_map){0};
}
