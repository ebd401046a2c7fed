/* From the ids of one library to those of another: open addressing, 16 to 32 bytes an id.
 * Zero-initialised it is empty. */
#ifndef DOPPEL_EXCHANGE_MODEL_IDS_H
#define DOPPEL_EXCHANGE_MODEL_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange_ids {
    struct id_pair {
        uint64_t from, to; /* from 0: free */
    } * cells;
    size_t count, capacity; /* capacity: 0 or a power of two */
};

/* @param from not 0; put again, it leads to the last `to`. @return false without memory */
bool exchange_ids_put(struct exchange_ids *map, uint64_t from, uint64_t to);

/* 0: it is not known. */
uint64_t exchange_ids_get(const struct exchange_ids *map, uint64_t from);

void exchange_ids_free(struct exchange_ids *map);

#endif
