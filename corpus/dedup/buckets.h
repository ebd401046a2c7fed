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

/** One to one for up to 4 lanes; of more, different ones meet at 2^-64. All bits are mixed. */
uint64_t band_key(const uint16_t *lanes, uint32_t count);

/** By key, then by number; best for few. */
void keyed_sort(struct keyed *keys, size_t count);

/** Whether a record looks for others, or others for it; once same contents and ids are known. */
bool dedup_takes_part(const struct dedup *dedup, uint32_t number);
/** Cells of which none is set. */
enum doppel_status dedup_empty_cells(struct dedup *dedup, struct doppel_error *error);

#endif
