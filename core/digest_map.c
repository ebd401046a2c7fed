/* From a digest to the first of the items that have it. */
#include "core/digest_map.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

/* The cell of an equal item, or a free one. A digest is its own hash: its bits are as good as
 * random. */
static uint32_t *cell_of(const struct digest_map *map, const struct doppel_digest *wanted,
                         digest_of *digest, const void *context)
{
    size_t at = get_u64(wanted->bytes) & (map->capacity - 1);
    while (map->cells[at] &&
           memcmp(digest(context, map->cells[at] - 1), wanted, sizeof *wanted) != 0)
        at = (at + 1) & (map->capacity - 1);
    return &map->cells[at];
}

bool digest_map_reserve(struct digest_map *map, digest_of *digest, const void *context)
{
    if (map->count * 2 < map->capacity)
        return true;
    struct digest_map grown = {.count = map->count,
                               .capacity = map->capacity ? map->capacity * 2 : 64};
    grown.cells = calloc(grown.capacity, sizeof *grown.cells);
    if (!grown.cells)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->cells[i])
            *cell_of(&grown, digest(context, map->cells[i] - 1), digest, context) = map->cells[i];
    free(map->cells);
    *map = grown;
    return true;
}

uint32_t digest_map_put(struct digest_map *map, uint32_t number, digest_of *digest,
                        const void *context)
{
    if (!digest_map_reserve(map, digest, context))
        return UINT32_MAX;
    uint32_t *cell = cell_of(map, digest(context, number), digest, context);
    if (*cell == 0) {
        *cell = number + 1;
        map->count++;
    }
    return *cell - 1;
}

uint32_t digest_map_find(const struct digest_map *map, const struct doppel_digest *wanted,
                         digest_of *digest, const void *context)
{
    uint32_t cell = map->count ? *cell_of(map, wanted, digest, context) : 0;
    return cell ? cell - 1 : UINT32_MAX;
}

void digest_map_free(struct digest_map *map)
{
    free(map->cells);
    *map = (struct digest_map){0};
}
