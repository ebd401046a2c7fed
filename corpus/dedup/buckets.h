/* Keys of bands, and records that have the same one. */
#ifndef DOPPEL_CORPUS_DEDUP_BUCKETS_H
#define DOPPEL_CORPUS_DEDUP_BUCKETS_H

#include "corpus/dedup/dedup_internal.h"

/* A key that no band has. */
#define NO_KEY UINT64_MAX

struct keyed {
    uint64_t key;
    uint32_t number;
};

/** Injective for up to 4 lanes; more collide with a chance of 2^-64. All bits are mixed. */
uint64_t band_key(const uint16_t *lanes, uint32_t count);

/** Sort by key, then by number; fast for few. */
void keyed_sort(struct keyed *keys, size_t count);

/** Whether a record is compared with others at all; after dedup_find_same. */
bool dedup_takes_part(const struct dedup *dedup, uint32_t number);
/** Make the cells, all of them empty. */
enum doppel_status dedup_empty_cells(struct dedup *dedup, struct doppel_error *error);

#endif
