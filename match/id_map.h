/* From an id to the slot that holds it: 5 to 10 bytes an id; the ids lie in the slots. */
#ifndef DOPPEL_MATCH_ID_MAP_H
#define DOPPEL_MATCH_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ID_MAP_NONE = UINT32_MAX };

struct id_map {
    uint32_t *cells; /* slot, or ID_MAP_NONE; a power of two of them */
    size_t cell_count, count;
    const uint64_t *ids; /* by slot; borrowed, kept current by the owner */
};

/** The slot of an id, or ID_MAP_NONE. */
uint32_t id_map_find(const struct id_map *map, uint64_t id);

/** Make room for one more; false when there is no memory. */
bool id_map_reserve(struct id_map *map);

/** Note that ids[slot] is set; it was not there before, and there is room. */
void id_map_put(struct id_map *map, uint32_t slot);

/** Forget the id of a slot, while ids[slot] still has it. */
void id_map_remove(struct id_map *map, uint32_t slot);

void id_map_free(struct id_map *map);

#endif
