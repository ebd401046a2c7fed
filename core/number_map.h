/* A hash table from 64-bit keys to numbers that are not 0. Zeroed it is empty. */
#ifndef DOPPEL_CORE_NUMBER_MAP_H
#define DOPPEL_CORE_NUMBER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_cell {
    uint64_t key, number; /* number 0: an empty cell */
};

struct number_map {
    struct number_cell *cells;
    size_t cell_count, count; /* a power of two; at most 2/3 are taken */
};

/** Room for `count` more; false without memory. */
bool number_map_reserve(struct number_map *map, size_t count);

/** The number of a key; 0 when it is not there. */
uint64_t number_map_find(const struct number_map *map, uint64_t key);

/** Where the number of a key is, or (a 0) is to be written; there is room. */
uint64_t *number_map_place(struct number_map *map, uint64_t key);

/** Put a number in place of one that is there; false without memory. */
bool number_map_put(struct number_map *map, uint64_t key, uint64_t number);

void number_map_free(struct number_map *map);

#endif
