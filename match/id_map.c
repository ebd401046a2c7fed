/* From an id to its slot: open addressing with linear probing, at most 3/4 full. */
#include "match/id_map.h"

#include <stdlib.h>
#include <string.h>

#include "core/mix64.h"

static size_t home(const struct id_map *map, uint64_t id)
{
    return (size_t)mix64(id) & (map->cell_count - 1);
}

/* The cell of an id, or the empty one where it would be. */
static size_t cell_of_id(const struct id_map *map, uint64_t id)
{
    size_t cell = home(map, id);
    while (map->cells[cell] != ID_MAP_NONE && map->ids[map->cells[cell]] != id)
        cell = (cell + 1) & (map->cell_count - 1);
    return cell;
}

uint32_t id_map_find(const struct id_map *map, uint64_t id)
{
    return map->count ? map->cells[cell_of_id(map, id)] : ID_MAP_NONE;
}

bool id_map_reserve(struct id_map *map)
{
    if (map->count < map->cell_count / 4 * 3)
        return true;
    struct id_map grown = {.ids = map->ids,
                           .cell_count = map->cell_count ? map->cell_count * 2 : 16};
    grown.cells = malloc(grown.cell_count * sizeof *grown.cells);
    if (!grown.cells)
        return false;
    memset(grown.cells, 0xff, grown.cell_count * sizeof *grown.cells);
    for (size_t cell = 0; cell < map->cell_count; cell++)
        if (map->cells[cell] != ID_MAP_NONE)
            id_map_put(&grown, map->cells[cell]);
    free(map->cells);
    *map = grown;
    return true;
}

void id_map_put(struct id_map *map, uint32_t slot)
{
    map->cells[cell_of_id(map, map->ids[slot])] = slot;
    map->count++;
}

/* What follows moves up into the gap, so that no probe ends too early. */
void id_map_remove(struct id_map *map, uint32_t slot)
{
    size_t mask = map->cell_count - 1, gap = cell_of_id(map, map->ids[slot]);
    for (size_t cell = (gap + 1) & mask; map->cells[cell] != ID_MAP_NONE;
         cell = (cell + 1) & mask) {
        size_t from_home = (cell - home(map, map->ids[map->cells[cell]])) & mask;
        if (from_home < ((cell - gap) & mask))
            continue;
        map->cells[gap] = map->cells[cell];
        gap = cell;
    }
    map->cells[gap] = ID_MAP_NONE;
    map->count--;
}

void id_map_free(struct id_map *map)
{
    free(map->cells);
    *map = (struct id_map){0};
}
