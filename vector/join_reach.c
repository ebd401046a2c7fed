/* How far each vector looks. */
#include <stdlib.h>

#include "core/ordered.h"
#include "core/try.h"
#include "vector/join_plan.h"

enum { REACH_PIECE = 2048 }; /* places */

struct reach_work {
    const struct vector_cells *cells;
    const struct doppel_vector_join_options *options;
    uint32_t probes;
    int16_t *scores; /* of each slot */
    int16_t *reach;
};

static void find_reach(void *context, size_t piece, size_t slot)
{
    const struct reach_work *work = context;
    const struct vector_cells *cells = work->cells;
    const size_t stride = centres_stride(&cells->centres);
    int16_t *scores = work->scores + slot * stride * PREFIX_QUERIES;
    const uint32_t first = (uint32_t)piece * REACH_PIECE;
    for (uint32_t at = first; at < first + REACH_PIECE && at < cells->places;
         at += PREFIX_QUERIES) {
        centres_score_places(&cells->centres, &cells->blocks, at, PREFIX_QUERIES, scores);
        for (uint32_t k = 0; k < PREFIX_QUERIES; k++)
            work->reach[at + k] = score_of_rank(&cells->centres, scores + k * stride, work->probes);
    }
}

static bool go_on_reaching(void *context, size_t piece, size_t slot)
{
    const struct reach_work *work = context;
    (void)piece;
    (void)slot;
    return !work->options->stopped || !work->options->stopped(work->options->context);
}

enum doppel_status join_find_reach(const struct vector_cells *cells, uint32_t probes,
                                   const struct doppel_vector_join_options *options, int16_t **out,
                                   struct doppel_error *error)
{
    struct reach_work work = {.cells = cells, .options = options, .probes = probes};
    const struct ordered run = {.context = &work,
                                .threads = options->threads,
                                .pieces = (cells->places + REACH_PIECE - 1) / REACH_PIECE,
                                .work = find_reach,
                                .deliver = go_on_reaching};
    enum doppel_status status = DOPPEL_OK;
    work.reach = malloc((cells->places + 1) * sizeof *work.reach);
    work.scores = malloc(ordered_slots(&run) * centres_stride(&cells->centres) * PREFIX_QUERIES *
                         sizeof *work.scores);
    if (!work.reach || !work.scores)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare vectors"));
    if (!ordered_run(&run))
        TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted"));
    *out = work.reach;
    work.reach = NULL;
done:
    free(work.scores);
    free(work.reach);
    return status;
}
