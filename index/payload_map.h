/* A small hash table from payloads to numbers that are not 0. Zeroed it is empty. */
#ifndef DOPPEL_INDEX_PAYLOAD_MAP_H
#define DOPPEL_INDEX_PAYLOAD_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct payload_cell {
    uint64_t payload;
    uint32_t number; /* 0: an empty cell */
};

struct payload_map {
    struct payload_cell *cells;
    size_t cell_count, count; /* a power of two; at most 2/3 are taken */
};

/** Room for `count` more; false without memory. */
bool payload_map_reserve(struct payload_map *map, size_t count);

/** The number of a payload; 0 when it is not there. */
uint32_t payload_map_find(const struct payload_map *map, uint64_t payload);

/** Where the number of a payload is, or (a 0) is to be written; there is room. */
uint32_t *payload_map_place(struct payload_map *map, uint64_t payload);

void payload_map_free(struct payload_map *map);

#endif
