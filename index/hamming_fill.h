/* Filling the slots, the spill and the tails of a segment from codes that are gathered. */
#ifndef DOPPEL_INDEX_HAMMING_FILL_H
#define DOPPEL_INDEX_HAMMING_FILL_H

#include "index/hamming_gather.h"

/** How many groups the spill of all tables needs. @param counts room for a number a bucket */
uint64_t count_spill(const struct gathered *from, uint32_t *counts);

/** Fill all tables. */
void fill_chunks(const struct gathered *from, struct segment *segment, uint32_t *counts);

#endif
