/* What makes a pair of a join: a least cosine, or a least score by levels. */
#include <math.h>
#include <stdlib.h>

#include "vector/join_plan.h"

static void find_lowest_levels(const struct vector_cells *cells, struct join_threshold *threshold)
{
    bool is_first = true;
    for (uint32_t cell = 0; cell < cells->centres.count; cell++) {
        const float *levels = threshold->levels + cells->starts[cell];
        float lowest = cells->sizes[cell] ? levels[0] : 0;
        for (uint32_t i = 0; i < cells->sizes[cell]; i++)
            lowest = levels[i] < lowest ? levels[i] : lowest;
        threshold->cell_level[cell] = lowest;
        if (cells->sizes[cell] && (is_first || lowest < threshold->of.lowest))
            threshold->of.lowest = lowest;
        is_first = is_first && !cells->sizes[cell];
    }
}

/* Places that hold no vector stay so. */
static void lower_errors(const struct vector_cells *cells, struct join_threshold *threshold)
{
    for (uint32_t place = 0; place < cells->places; place++) {
        const int16_t error = cells->blocks.error[place];
        const float above = (threshold->levels[place] - threshold->of.lowest) / 2;
        const float lowered = (float)error - floorf(above * PREFIX_DOT_ONE);
        const bool is_vector = cells->rows[place] < cells->vectors.count;
        threshold->errors[place] = !is_vector || lowered < INT16_MIN ? error : (int16_t)lowered;
    }
}

enum doppel_status join_threshold_make(const struct vector_cells *cells,
                                       const struct doppel_vector_join_options *options,
                                       struct join_threshold *out, struct doppel_error *error)
{
    out->of =
        (struct scan_threshold){.min_cosine = options->min_cosine, .min_score = options->min_score};
    out->cell_level = calloc(cells->centres.count + 1, sizeof *out->cell_level);
    if (out->cell_level && !options->levels)
        return DOPPEL_OK;
    out->levels = calloc(cells->places + 1, sizeof *out->levels);
    out->errors = calloc(cells->places + 1, sizeof *out->errors);
    if (!out->cell_level || !out->levels || !out->errors)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare vectors");
    for (uint32_t place = 0; place < cells->places; place++)
        if (cells->rows[place] < cells->vectors.count)
            out->levels[place] = options->levels[cells->rows[place]];
    find_lowest_levels(cells, out);
    lower_errors(cells, out);
    out->of.levels = out->levels;
    if (out->of.min_score + out->of.lowest >= -1)
        out->of.errors = out->errors;
    return DOPPEL_OK;
}

void join_threshold_free(struct join_threshold *threshold)
{
    free(threshold->levels);
    free(threshold->errors);
    free(threshold->cell_level);
    *threshold = (struct join_threshold){0};
}
