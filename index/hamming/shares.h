/* How the radius is shared out over the chunks, for each query by what its buckets cost. */
#ifndef DOPPEL_INDEX_HAMMING_SHARES_H
#define DOPPEL_INDEX_HAMMING_SHARES_H

#include "index/hamming/table.h"

struct share_costs; /* what a table's lookups cost, in ns */

struct share_costs *share_costs_new(const struct hamming *table);
void share_costs_free(struct share_costs *costs);

/** Choose how far each chunk is searched; -1: not at all. What all chunks share is the radius less
 * (chunks - 1).
 * @param sizes codes in the query's own bucket of each table
 * @return false when reading all of table 0 costs less */
bool shares_choose(const struct hamming *table, uint32_t radius, const uint32_t *sizes,
                   int8_t *out_shares);

/** What a code may differ by from the query in a chunk and its remainder together, for it to be
 * looked at through this chunk. It must be through one:
 *
 * By what a code within the radius differs in each chunk, less the chunk's share and one, sums to
 * less than 0 around the ring of chunks. So there is a chunk from which on all sums are less than 0
 * (the cycle lemma): that over its window, too, which is the chunk and what follows. Source: Qin
 * and Xiao, "Pigeonring" (2018). */
void shares_windows(const struct hamming_shape *shape, const int8_t *shares, uint32_t *out_windows);

/** What searching shell `ones` of a chunk costs, in ns.
 * @param window what chunk and remainder may differ by */
float shell_cost(const struct hamming *table, unsigned chunk, uint32_t ones, uint32_t window,
                 uint32_t size);

/** What reading all of table 0 costs, in ns. */
float scan_cost(const struct hamming *table, uint32_t radius);

#endif
