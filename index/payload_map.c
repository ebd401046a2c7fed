/* Payloads in a hash table with open addressing. */
#include "index/payload_map.h"

#include <stdlib.h>

/* Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
static uint64_t stir(uint64_t payload)
{
    payload = (payload ^ payload >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    payload = (payload ^ payload >> 27) * UINT64_C(0x94d049bb133111eb);
    return payload ^ payload >> 31;
}

static struct payload_cell *cell_of_payload(const struct payload_map *map, uint64_t payload)
{
    size_t mask = map->cell_count - 1, at = (size_t)stir(payload) & mask;
    while (map->cells[at].number && map->cells[at].payload != payload)
        at = (at + 1) & mask;
    return &map->cells[at];
}

bool payload_map_reserve(struct payload_map *map, size_t count)
{
    size_t wanted = map->cell_count ? map->cell_count : 16;
    if (count > SIZE_MAX / 8 - map->count)
        return false;
    while ((map->count + count) * 3 > wanted * 2)
        wanted *= 2;
    if (wanted == map->cell_count)
        return true;
    struct payload_map grown = {.cell_count = wanted, .count = map->count};
    grown.cells = calloc(wanted, sizeof *grown.cells);
    if (!grown.cells)
        return false;
    for (size_t i = 0; i < map->cell_count; i++)
        if (map->cells[i].number)
            *cell_of_payload(&grown, map->cells[i].payload) = map->cells[i];
    free(map->cells);
    *map = grown;
    return true;
}

uint32_t payload_map_find(const struct payload_map *map, uint64_t payload)
{
    return map->count ? cell_of_payload(map, payload)->number : 0;
}

uint32_t *payload_map_place(struct payload_map *map, uint64_t payload)
{
    struct payload_cell *cell = cell_of_payload(map, payload);
    if (!cell->number) {
        cell->payload = payload;
        map->count++;
    }
    return &cell->number;
}

void payload_map_free(struct payload_map *map)
{
    free(map->cells);
    *map = (struct payload_map){0};
}
