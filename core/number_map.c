/* Numbers by 64-bit keys: open addressing with linear probing. */
#include "core/number_map.h"

#include <stdlib.h>

#include "core/mix64.h"

static struct number_cell *cell_of_number(const struct number_map *map, uint64_t key)
{
    size_t mask = map->cell_count - 1, at = (size_t)mix64(key) & mask;
    while (map->cells[at].number && map->cells[at].key != key)
        at = (at + 1) & mask;
    return &map->cells[at];
}

bool number_map_reserve(struct number_map *map, size_t count)
{
    size_t wanted = map->cell_count ? map->cell_count : 16;
    if (count > SIZE_MAX / 8 - map->count)
        return false;
    while ((map->count + count) * 3 > wanted * 2)
        wanted *= 2;
    if (wanted == map->cell_count)
        return true;
    struct number_map grown = {.cell_count = wanted, .count = map->count};
    grown.cells = calloc(wanted, sizeof *grown.cells);
    if (!grown.cells)
        return false;
    for (size_t i = 0; i < map->cell_count; i++)
        if (map->cells[i].number)
            *cell_of_number(&grown, map->cells[i].key) = map->cells[i];
    free(map->cells);
    *map = grown;
    return true;
}

uint64_t number_map_find(const struct number_map *map, uint64_t key)
{
    return map->count ? cell_of_number(map, key)->number : 0;
}

uint64_t *number_map_place(struct number_map *map, uint64_t key)
{
    struct number_cell *cell = cell_of_number(map, key);
    if (!cell->number) {
        cell->key = key;
        map->count++;
    }
    return &cell->number;
}

bool number_map_put(struct number_map *map, uint64_t key, uint64_t number)
{
    if (!number_map_reserve(map, 1))
        return false;
    *number_map_place(map, key) = number;
    return true;
}

void number_map_free(struct number_map *map)
{
    free(map->cells);
    *map = (struct number_map){0};
}
