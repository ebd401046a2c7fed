/* Lists of representatives in the cells of the buckets. */
#include "corpus/dedup/leaders.h"

#include <stdlib.h>

enum doppel_status leader_walk_new(struct leader_walk *walk, const struct dedup *dedup,
                                   struct doppel_error *error)
{
    uint32_t *numbers = malloc(3 * dedup->bands * sizeof *numbers);
    if (!numbers)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    *walk = (struct leader_walk){.dedup = dedup,
                                 .bands = numbers,
                                 .leaders = numbers + dedup->bands,
                                 .ends = numbers + 2 * (size_t)dedup->bands};
    return DOPPEL_OK;
}

void leader_walk_free(struct leader_walk *walk)
{
    free(walk->bands);
}

static bool is_leader(const struct dedup *dedup, uint32_t number)
{
    return dedup_facts_of(dedup, number)->flags & FACT_LEADER;
}

void leader_walk_begin(struct leader_walk *walk, uint32_t number)
{
    const struct dedup *dedup = walk->dedup;
    walk->count = 0;
    for (uint32_t band = 0; band < dedup->bands; band++) {
        uint32_t first = *dedup_cell_of(dedup, number, band), at = walk->count;
        if (first == NO_RECORD)
            continue;
        walk->bands[at] = band;
        walk->ends[at] = first;
        walk->leaders[at] = is_leader(dedup, first) ? first : *dedup_cell_of(dedup, first, band);
        walk->count++;
    }
}

uint32_t leader_walk_next(struct leader_walk *walk)
{
    uint32_t least = NO_RECORD;
    for (uint32_t i = 0; i < walk->count; i++)
        if (walk->leaders[i] < least)
            least = walk->leaders[i];
    if (least == NO_RECORD)
        return NO_RECORD;
    for (uint32_t i = 0; i < walk->count; i++)
        if (walk->leaders[i] == least) {
            walk->ends[i] = least;
            walk->leaders[i] = *dedup_cell_of(walk->dedup, least, walk->bands[i]);
        }
    return least;
}

void leader_walk_append(const struct leader_walk *walk, uint32_t number)
{
    const struct dedup *dedup = walk->dedup;
    for (uint32_t i = 0; i < walk->count; i++) {
        *dedup_cell_of(dedup, walk->ends[i], walk->bands[i]) = number;
        *dedup_cell_of(dedup, number, walk->bands[i]) = NO_RECORD;
    }
}
