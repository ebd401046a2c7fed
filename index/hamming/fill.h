/* Filling the slots, the spill and the tails of a segment from codes that are gathered. */
#ifndef DOPPEL_INDEX_HAMMING_FILL_H
#define DOPPEL_INDEX_HAMMING_FILL_H

#include "index/hamming/gather.h"

/** How many codes each bucket of each table has. @return groups that the spill needs */
uint64_t count_buckets(const struct gathered *from, uint32_t *counts);

/** Fill all tables. The codes are side by side, what lies behind them is room.
 * @param counts as count_buckets left them; changed */
void fill_chunks(const struct gathered *from, struct segment *segment, uint32_t *counts);

#endif
