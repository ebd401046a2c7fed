/* Searching a Hamming table for all codes within a radius. */
#include "index/hamming/search.h"

#include "index/hamming/shares.h"

#include <stdlib.h>
#include <string.h>

struct hamming_scratch *hamming_scratch_new(void)
{
    return calloc(1, sizeof(struct hamming_scratch));
}

void hamming_scratch_free(struct hamming_scratch *scratch)
{
    free(scratch);
}

static void search_begin(const struct hamming *table, struct hamming_scratch *scratch,
                         struct query *queries, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        active_begin(table, scratch, i, &queries[i]);
        scratch->active[i].limit = queries[i].radius;
        scratch->active[i].nearest = 0;
    }
}

static void search_plan(const struct hamming *table, struct hamming_scratch *scratch,
                        unsigned number)
{
    struct active *active = &scratch->active[number];
    active_sizes(table, active);
    if (active->limit > table->shape.bits)
        active->limit = table->shape.bits;
    if (!shares_choose(table, active->limit, active->sizes, active->share)) {
        plan_scan(table, scratch, number);
        return;
    }
    shares_windows(&table->shape, active->share, active->windows);
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++)
        plan_shells(table, scratch, number, chunk, 0, active->share[chunk]);
}

enum doppel_status hamming_search(const struct hamming *table, struct hamming_scratch *scratch,
                                  struct query *queries, size_t count,
                                  struct hamming_counts *counts, struct doppel_error *error)
{
    scratch->no_memory = false;
    scratch->counts = (struct hamming_counts){0};
    for (size_t first = 0; first < count && table->distinct; first += ACTIVE_MAX) {
        unsigned some = (unsigned)(count - first < ACTIVE_MAX ? count - first : ACTIVE_MAX);
        search_begin(table, scratch, queries + first, some);
        for (unsigned i = 0; i < some; i++)
            search_plan(table, scratch, i);
        plan_run(table, scratch);
        if (scratch->no_memory)
            break;
    }
    return search_status(table, scratch, counts, error);
}

enum doppel_status search_status(const struct hamming *table, const struct hamming_scratch *scratch,
                                 struct hamming_counts *counts, struct doppel_error *error)
{
    if (counts) {
        counts->lookups += scratch->counts.lookups;
        counts->candidates += scratch->counts.candidates;
    }
    if (scratch->no_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a search");
    return segment_damage(table->segment, error);
}
