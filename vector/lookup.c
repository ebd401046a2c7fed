/* The nearest cells first, in each those that can be near: prefixes, bytes, floats. */
#include "vector/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "core/try.h"

enum { BLOCKS_AT_ONCE = 64 };

struct lookup_work {
    struct prefix_spread spread[PREFIX_QUERIES]; /* the same one */
    struct prefix_hit hits[BLOCKS_AT_ONCE];
    struct vector_lookup *lookup;
    const struct vector_kernels *kernels;
    struct rounded_vector query;
    struct prefix prefix;
    int8_t *bytes;
    int16_t *scores; /* of PREFIX_QUERIES, of which the first counts */
    uint64_t *order; /* cells, the nearest first */
    uint32_t order_count;
    float min_cosine;
};

static void touch_lookup(const struct vector_lookup *lookup, const void *at, size_t bytes)
{
    if (lookup->touch)
        lookup->touch(lookup->context, at, bytes);
}

/* ---- the query ---- */

static void raise_cosine(struct lookup_work *work, float min_cosine)
{
    work->min_cosine = min_cosine;
    work->spread[0].below = prefix_below(min_cosine, work->prefix.error);
    for (uint32_t k = 1; k < PREFIX_QUERIES; k++)
        work->spread[k].below = work->spread[0].below;
}

static void spread_query(struct lookup_work *work)
{
    const struct vector_cells *cells = work->lookup->cells;
    const uint32_t dimension = cells->vectors.dimension, width = cells->basis.width;
    float components[PREFIX_DIMENSIONS_MAX];
    touch_lookup(work->lookup, cells->basis.rows, (size_t)dimension * width * sizeof(float));
    work->kernels->project(work->query.values, dimension, cells->basis.rows, width, components);
    for (uint32_t j = 0; j < width; j++)
        components[j] *= work->query.inverse;
    prefix_make(components, width, &work->prefix);
    prefix_spread(work->prefix.values, width, &work->spread[0]);
    work->spread[0].head_rest = work->prefix.head_rest;
    work->spread[0].rest = work->prefix.rest;
    for (uint32_t k = 1; k < PREFIX_QUERIES; k++)
        work->spread[k] = work->spread[0];
    round_to_bytes(&work->query, dimension, work->bytes);
    work->query.bytes = work->bytes;
    raise_cosine(work, work->lookup->min_cosine);
}

/* ---- one vector ---- */

static void judge_place(struct lookup_work *work, uint32_t place)
{
    struct vector_lookup *lookup = work->lookup;
    const struct vector_cells *cells = lookup->cells;
    const size_t dimension = cells->vectors.dimension;
    lookup->candidates++;
    touch_lookup(lookup, cells->rows + place, sizeof *cells->rows);
    touch_lookup(lookup, cells->bytes + place * dimension, dimension);
    touch_lookup(lookup, cells->scales + place, sizeof *cells->scales);
    touch_lookup(lookup, cells->lost + place, sizeof *cells->lost);
    const uint32_t row = cells->rows[place];
    if (row >= cells->vectors.count) {
        lookup->damaged = true;
        return;
    }
    touch_lookup(lookup, cells->inverses + row, sizeof *cells->inverses);
    touch_lookup(lookup, cells->vectors.rows + row * dimension, dimension * sizeof(float));
    const float cosine = cells_cosine(cells, work->kernels, &work->query, place, work->min_cosine);
    if (!(cosine >= work->min_cosine))
        return;
    const float wanted = lookup->visit(lookup->context, place, cosine);
    if (wanted > work->min_cosine)
        raise_cosine(work, wanted);
}

static void touch_blocks(const struct vector_lookup *lookup, uint32_t block, uint32_t count)
{
    const struct prefix_blocks *blocks = &lookup->cells->blocks;
    const size_t at = (size_t)block * PREFIX_BLOCK, places = (size_t)count * PREFIX_BLOCK;
    touch_lookup(lookup, blocks->codes + at * blocks->dimensions, places * blocks->dimensions);
    touch_lookup(lookup, blocks->head_rest + at, places * sizeof *blocks->head_rest);
    touch_lookup(lookup, blocks->rest + at, places * sizeof *blocks->rest);
    touch_lookup(lookup, blocks->error + at, places * sizeof *blocks->error);
}

static void judge_places(struct lookup_work *work, uint32_t from, uint32_t to)
{
    const struct prefix_blocks *blocks = &work->lookup->cells->blocks;
    const uint32_t end = (to + PREFIX_BLOCK - 1) / PREFIX_BLOCK;
    for (uint32_t block = from / PREFIX_BLOCK; block < end && work->min_cosine <= 1;
         block += BLOCKS_AT_ONCE) {
        const uint32_t left = end - block, some = left < BLOCKS_AT_ONCE ? left : BLOCKS_AT_ONCE;
        touch_blocks(work->lookup, block, some);
        const size_t hits =
            work->kernels->scan_heads(work->spread, blocks, block, block + some, work->hits);
        for (size_t i = 0; i < hits; i++)
            for (uint32_t marks = work->hits[i].marks[0]; marks; marks &= marks - 1)
                judge_place(work,
                            work->hits[i].block * PREFIX_BLOCK + (uint32_t)__builtin_ctz(marks));
    }
}

/* ---- cells ---- */

static void touch_cells(const struct vector_lookup *lookup)
{
    const struct vector_cells *cells = lookup->cells;
    const struct prefix_blocks *centres = &cells->centres.blocks;
    const size_t count = cells->centres.count, stride = centres_stride(&cells->centres);
    touch_lookup(lookup, centres->codes, stride * centres->dimensions);
    touch_lookup(lookup, centres->error, stride * sizeof *centres->error);
    touch_lookup(lookup, cells->starts, count * sizeof *cells->starts);
    touch_lookup(lookup, cells->sizes, count * sizeof *cells->sizes);
    touch_lookup(lookup, cells->near, count * sizeof *cells->near);
    touch_lookup(lookup, cells->far, count * sizeof *cells->far);
}

static struct cosine_range cosine_of_cell(const struct lookup_work *work, uint32_t cell)
{
    return cosine_of_score(&work->lookup->cells->centres, cell, work->scores[cell],
                           prefix_slack(work->prefix.error));
}

static void visit_looked_up_cell(struct lookup_work *work, uint32_t cell)
{
    struct vector_lookup *lookup = work->lookup;
    const struct vector_cells *cells = lookup->cells;
    uint32_t from, to;
    if (!cells->sizes[cell])
        return;
    if (cells->starts[cell] % PREFIX_BLOCK || cells->starts[cell] > cells->places ||
        cells->sizes[cell] > cells->places - cells->starts[cell]) {
        lookup->damaged = true;
        return;
    }
    touch_lookup(lookup, cells->dots + cells->starts[cell],
                 cells->sizes[cell] * sizeof *cells->dots);
    if (!cells_in_reach(cells, cell, cosine_of_cell(work, cell), work->min_cosine, &from, &to))
        return;
    lookup->visited++;
    judge_places(work, from, to);
}

/* Its angle to its centre is larger than that of any vector: what holds of those does not hold of
 * it. */
static bool is_off_all(const struct lookup_work *work)
{
    const struct vector_cells *cells = work->lookup->cells;
    const uint32_t nearest = centre_nearest(&cells->centres, work->scores);
    return cosine_of_score(&cells->centres, nearest, work->scores[nearest], 0).high <
           cells->far[nearest];
}

/* The nearest first; behind the first `probes` none is wanted. */
static void order_cells(struct lookup_work *work)
{
    const struct centres *centres = &work->lookup->cells->centres;
    const uint32_t probes = is_off_all(work) ? 0 : work->lookup->probes;
    const int16_t reach = probes ? score_of_rank(centres, work->scores, probes) : INT16_MIN;
    for (uint32_t cell = 0; cell < centres->count; cell++)
        if (work->scores[cell] >= reach)
            work->order[work->order_count++] =
                (uint64_t)(INT16_MAX - work->scores[cell]) << 32 | cell;
    qsort(work->order, work->order_count, sizeof *work->order, compare_u64);
}

static void look_up_cells(struct lookup_work *work)
{
    spread_query(work);
    touch_cells(work->lookup);
    centres_score(&work->lookup->cells->centres, work->prefix.values, 1, work->scores);
    order_cells(work);
    for (uint32_t i = 0; i < work->order_count && work->min_cosine <= 1; i++)
        visit_looked_up_cell(work, (uint32_t)work->order[i]);
}

/* ---- beginning and end ---- */

enum doppel_status vector_lookup_run(struct vector_lookup *lookup, const float *query,
                                     struct doppel_error *error)
{
    const struct vector_cells *cells = lookup->cells;
    const size_t dimension = cells->vectors.dimension, stride = centres_stride(&cells->centres);
    struct rounded_vector rounded = {.values = query};
    if (!vector_length(query, dimension, &rounded.inverse))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "the vector holds what is no number, or too large or small a one");
    if (!(rounded.inverse > 0) || !cells->places)
        return DOPPEL_OK;
    struct lookup_work *work = aligned_alloc(_Alignof(struct lookup_work), sizeof *work);
    int8_t *bytes = calloc(1, dimension + 32);
    int16_t *scores = malloc(stride * PREFIX_QUERIES * sizeof *scores);
    uint64_t *order = malloc((cells->centres.count + 1) * sizeof *order);
    enum doppel_status status = DOPPEL_OK;
    if (!work || !bytes || !scores || !order)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search among vectors"));
    work->lookup = lookup;
    work->kernels = vector_kernels_get();
    work->query = rounded;
    work->bytes = bytes;
    work->scores = scores;
    work->order = order;
    work->order_count = 0;
    look_up_cells(work);
done:
    free(order);
    free(scores);
    free(bytes);
    free(work);
    return status;
}
