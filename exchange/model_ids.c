/* From the ids of one library to those of another. */
#include "exchange/model_ids.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

/* The free or equal cell. Fibonacci hashing: ids count up. */
static struct id_pair *id_cell(const struct exchange_ids *map, uint64_t from)
{
    size_t at = (size_t)(from * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (map->capacity - 1);
    while (map->cells[at].from && map->cells[at].from != from)
        at = (at + 1) & (map->capacity - 1);
    return &map->cells[at];
}

static bool grow_map(struct exchange_ids *map)
{
    struct exchange_ids grown = {.count = map->count,
                                 .capacity = map->capacity ? 2 * map->capacity : FIRST_CAPACITY};
    grown.cells = calloc(grown.capacity, sizeof *grown.cells);
    if (!grown.cells)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->cells[i].from)
            *id_cell(&grown, map->cells[i].from) = map->cells[i];
    free(map->cells);
    *map = grown;
    return true;
}

bool exchange_ids_put(struct exchange_ids *map, uint64_t from, uint64_t to)
{
    if (4 * (map->count + 1) > 3 * map->capacity && !grow_map(map))
        return false;
    struct id_pair *cell = id_cell(map, from);
    map->count += !cell->from;
    *cell = (struct id_pair){from, to};
    return true;
}

uint64_t exchange_ids_get(const struct exchange_ids *map, uint64_t from)
{
    return map->count ? id_cell(map, from)->to : 0;
}

void exchange_ids_free(struct exchange_ids *map)
{
    free(map->cells);
    *map = (struct exchange_ids){0};
}
