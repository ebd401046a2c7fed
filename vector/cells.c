/* Vectors into cells: prefixes, centres, the nearest one, and the order. */
#include "vector/cells.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/large_pages.h"
#include "core/ordered.h"
#include "core/try.h"
#include "vector/rounded.h"

enum {
    PIECE_ROWS = 4096,
    BYTES_SLACK = 32,
    WIDTH = 48,
    ONE_CELL = 4096 /* vectors that lie in one */
};

/* Cells are the root of so many of the vectors: with fewer more is compared, with more there are
 * more centres, and more cells to visit for the same recall. Measured with 1 M of 100 dimensions.
 */
static const double cells_share = 0.5;

/* While they are made: by row. */
struct cells_making {
    const struct cells_options *options;
    struct vector_cells *cells;
    struct prefix_list prefixes; /* of all rows; zeros of those without a direction */
    int16_t *head_rest, *rest, *error;
    uint32_t *nearest; /* cell */
    int16_t *dot;      /* with its centre */
    uint32_t *place;
    int16_t *scores; /* of each slot */
    enum doppel_status status;
    atomic_size_t bad_row; /* the first that holds what is no number; count: none */
    struct doppel_error *failure;
};

static enum doppel_status no_cells_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the vectors");
}

/* ---- pieces of rows, on several threads ---- */

static size_t piece_end(const struct cells_making *making, size_t piece)
{
    const size_t end = (piece + 1) * PIECE_ROWS, count = making->cells->vectors.count;
    return end < count ? end : count;
}

static bool go_on_making(void *context, size_t piece, size_t slot)
{
    struct cells_making *making = context;
    const size_t bad_row = atomic_load(&making->bad_row);
    (void)slot;
    if (bad_row < piece_end(making, piece)) /* those before it were looked at */
        making->status =
            doppel_fail(making->failure, DOPPEL_E_FORMAT,
                        "vector %zu holds what is no number, or too large or small a one", bad_row);
    else if (making->options->stopped && making->options->stopped(making->options->context))
        making->status = doppel_fail(making->failure, DOPPEL_E_CANCELLED, "interrupted");
    return making->status == DOPPEL_OK;
}

static struct ordered run_over_rows(struct cells_making *making,
                                    void work(void *context, size_t piece, size_t slot))
{
    return (struct ordered){.context = making,
                            .threads = making->options->threads,
                            .pieces = (making->cells->vectors.count + PIECE_ROWS - 1) / PIECE_ROWS,
                            .work = work,
                            .deliver = go_on_making};
}

/* ---- prefixes ---- */

static const float *vectors_row(const struct doppel_vectors *vectors, size_t row)
{
    return vectors->rows + row * vectors->dimension;
}

static void note_bad_row(struct cells_making *making, size_t row)
{
    size_t first = atomic_load(&making->bad_row);
    while (row < first && !atomic_compare_exchange_weak(&making->bad_row, &first, row))
        ;
}

static void make_prefixes(void *context, size_t piece, size_t slot)
{
    struct cells_making *making = context;
    const struct doppel_vectors *vectors = &making->cells->vectors;
    const uint32_t width = making->prefixes.width;
    float components[PREFIX_DIMENSIONS_MAX];
    (void)slot;
    for (size_t row = piece * PIECE_ROWS; row < piece_end(making, piece); row++) {
        struct prefix prefix;
        float *inverse = &making->cells->inverses[row];
        if (!vector_length(vectors->rows + row * vectors->dimension, vectors->dimension, inverse)) {
            note_bad_row(making, row);
            return;
        }
        vector_kernels_get()->project(vectors->rows + row * vectors->dimension, vectors->dimension,
                                      making->cells->basis.rows, width, components);
        for (uint32_t j = 0; j < width; j++)
            components[j] *= *inverse;
        prefix_make(components, width, &prefix);
        memcpy((int8_t *)making->prefixes.values + row * width, prefix.values, width);
        making->head_rest[row] = prefix.head_rest;
        making->rest[row] = prefix.rest;
        making->error[row] = prefix.error;
    }
}

/* ---- the nearest centre ---- */

/* Before rounding: what that may have done would widen what is looked at. */
static int16_t find_dot(const struct cells_making *making, size_t row)
{
    const struct vector_cells *cells = making->cells;
    float components[PREFIX_DIMENSIONS_MAX], dot = 0;
    int8_t centre[PREFIX_DIMENSIONS_MAX];
    vector_kernels_get()->project(vectors_row(&cells->vectors, row), cells->vectors.dimension,
                                  cells->basis.rows, cells->basis.width, components);
    prefix_values(&cells->centres.blocks, making->nearest[row], centre);
    for (uint32_t j = 0; j < cells->basis.width; j++)
        dot += components[j] * centre[j];
    return (int16_t)lrintf(dot * cells->inverses[row] * PREFIX_ONE);
}

static void find_nearest(void *context, size_t piece, size_t slot)
{
    struct cells_making *making = context;
    const struct centres *centres = &making->cells->centres;
    const size_t stride = centres_stride(centres), end = piece_end(making, piece);
    const uint32_t width = making->prefixes.width;
    int16_t *scores = making->scores + slot * stride * PREFIX_QUERIES;
    for (size_t row = piece * PIECE_ROWS; row < end; row += PREFIX_QUERIES) {
        const int8_t *values = making->prefixes.values + row * width;
        const size_t some = end - row < PREFIX_QUERIES ? end - row : PREFIX_QUERIES;
        centres_score(centres, values, some, scores);
        for (size_t k = 0; k < some; k++) {
            const int16_t *own = scores + k * stride;
            const uint32_t nearest = centre_nearest(centres, own);
            making->nearest[row + k] = nearest;
            making->dot[row + k] = find_dot(making, row + k);
        }
    }
}

/* ---- the order ---- */

static int compare_row_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void place_cells(struct cells_making *making)
{
    struct vector_cells *cells = making->cells;
    for (size_t row = 0; row < cells->vectors.count; row++)
        if (cells->inverses[row] > 0)
            cells->sizes[making->nearest[row]]++;
    for (uint32_t cell = 0; cell < cells->centres.count; cell++) {
        cells->starts[cell] = cells->places;
        cells->count += cells->sizes[cell];
        cells->places += (cells->sizes[cell] + PREFIX_BLOCK - 1) / PREFIX_BLOCK * PREFIX_BLOCK;
    }
}

/* Rows by cell, angle to its centre, and number. */
static enum doppel_status sort_rows(struct cells_making *making, struct doppel_error *error)
{
    struct vector_cells *cells = making->cells;
    uint64_t *keys = malloc((cells->places + 1) * sizeof *keys);
    uint32_t *filled = calloc(cells->centres.count, sizeof *filled);
    if (!keys || !filled) {
        free(keys);
        free(filled);
        return no_cells_memory(error);
    }
    for (size_t row = 0; row < cells->vectors.count; row++) {
        const uint32_t cell = making->nearest[row];
        if (cells->inverses[row] > 0)
            keys[cells->starts[cell] + filled[cell]++] =
                (uint64_t)(INT16_MAX - making->dot[row]) << 32 | row;
    }
    memset(cells->rows, 0xff, cells->places * sizeof *cells->rows);
    for (uint32_t cell = 0; cell < cells->centres.count; cell++) {
        uint64_t *own = keys + cells->starts[cell];
        qsort(own, cells->sizes[cell], sizeof *own, compare_row_keys);
        for (uint32_t i = 0; i < cells->sizes[cell]; i++) {
            cells->rows[cells->starts[cell] + i] = (uint32_t)own[i];
            making->place[(uint32_t)own[i]] = cells->starts[cell] + i;
        }
    }
    free(keys);
    free(filled);
    return DOPPEL_OK;
}

static void fill_places(void *context, size_t piece, size_t slot)
{
    struct cells_making *making = context;
    struct vector_cells *cells = making->cells;
    const uint32_t width = making->prefixes.width, dimension = cells->vectors.dimension;
    (void)slot;
    for (size_t row = piece * PIECE_ROWS; row < piece_end(making, piece); row++) {
        if (!(cells->inverses[row] > 0))
            continue;
        const uint32_t place = making->place[row];
        prefix_put(making->prefixes.values + row * width, width, (uint8_t *)cells->blocks.codes,
                   place);
        ((int16_t *)cells->blocks.head_rest)[place] = making->head_rest[row];
        ((int16_t *)cells->blocks.rest)[place] = making->rest[row];
        ((int16_t *)cells->blocks.error)[place] = making->error[row];
        cells->dots[place] = making->dot[row];
        struct rounded_vector vector = {.values = vectors_row(&cells->vectors, row),
                                        .inverse = cells->inverses[row]};
        round_to_bytes(&vector, dimension, cells->bytes + (size_t)place * dimension);
        cells->scales[place] = vector.scale;
        cells->lost[place] = vector.lost;
    }
}

static void measure_cells(struct vector_cells *cells)
{
    for (uint32_t cell = 0; cell < cells->centres.count; cell++) {
        const uint32_t first = cells->starts[cell], size = cells->sizes[cell];
        if (!size)
            continue;
        const int16_t near = cells->dots[first], far = cells->dots[first + size - 1];
        cells->near[cell] = cosine_of_dot(&cells->centres, cell, near, 0).high;
        cells->far[cell] = cosine_of_dot(&cells->centres, cell, far, 0).low;
    }
}

/* ---- memory ---- */

static enum doppel_status allocate_by_row(struct cells_making *making, struct doppel_error *error)
{
    const size_t count = making->cells->vectors.count;
    making->prefixes = (struct prefix_list){large_pages_alloc(count * making->options->width + 1),
                                            making->options->width, count};
    making->head_rest = malloc((count + 1) * sizeof *making->head_rest);
    making->rest = malloc((count + 1) * sizeof *making->rest);
    making->error = malloc((count + 1) * sizeof *making->error);
    making->nearest = malloc((count + 1) * sizeof *making->nearest);
    making->dot = malloc((count + 1) * sizeof *making->dot);
    making->place = malloc((count + 1) * sizeof *making->place);
    making->cells->inverses = malloc((count + 1) * sizeof *making->cells->inverses);
    return making->prefixes.values && making->head_rest && making->rest && making->error &&
                   making->nearest && making->dot && making->place && making->cells->inverses
               ? DOPPEL_OK
               : no_cells_memory(error);
}

static enum doppel_status allocate_by_cell(struct cells_making *making, const struct ordered *run,
                                           struct doppel_error *error)
{
    struct vector_cells *cells = making->cells;
    cells->starts = calloc(cells->centres.count, sizeof *cells->starts);
    cells->sizes = calloc(cells->centres.count, sizeof *cells->sizes);
    cells->near = calloc(cells->centres.count * (size_t)2, sizeof *cells->near);
    making->scores = malloc(ordered_slots(run) * centres_stride(&cells->centres) * PREFIX_QUERIES *
                            sizeof *making->scores);
    if (!cells->starts || !cells->sizes || !cells->near || !making->scores)
        return no_cells_memory(error);
    cells->far = cells->near + cells->centres.count;
    return DOPPEL_OK;
}

static enum doppel_status allocate_by_place(struct vector_cells *cells, uint32_t width,
                                            struct doppel_error *error)
{
    const size_t places = cells->places + PREFIX_BLOCK, dimension = cells->vectors.dimension;
    uint8_t *codes = large_pages_alloc(places * width);
    int16_t *head_rest = calloc(places, sizeof *head_rest), *rest = calloc(places, sizeof *rest);
    int16_t *slack = malloc(places * sizeof *slack);
    cells->blocks = (struct prefix_blocks){codes, head_rest, rest, slack, width};
    cells->dots = calloc(places, sizeof *cells->dots);
    cells->rows = malloc(places * sizeof *cells->rows);
    cells->bytes = large_pages_alloc(places * dimension + BYTES_SLACK);
    cells->scales = malloc(places * sizeof *cells->scales);
    cells->lost = malloc(places * sizeof *cells->lost);
    if (!codes || !head_rest || !rest || !slack || !cells->dots || !cells->rows || !cells->bytes ||
        !cells->scales || !cells->lost)
        return no_cells_memory(error);
    memset(codes, PREFIX_ZERO, places * width);
    for (size_t i = 0; i < places; i++)
        slack[i] = INT16_MIN; /* of what is no vector: never a candidate */
    memset(cells->bytes + places * dimension, 0, BYTES_SLACK);
    return DOPPEL_OK;
}

static void making_free(struct cells_making *making)
{
    free((void *)making->prefixes.values);
    free(making->head_rest);
    free(making->rest);
    free(making->error);
    free(making->nearest);
    free(making->dot);
    free(making->place);
    free(making->scores);
}

/* ---- all ---- */

struct cells_options cells_options_usual(const struct doppel_vectors *vectors)
{
    const double root = sqrt((double)vectors->count * cells_share);
    return (struct cells_options){.width = vectors->dimension <= PREFIX_HEAD ? PREFIX_HEAD : WIDTH,
                                  .cells = vectors->count <= ONE_CELL ? 1
                                           : root > CELLS_MOST        ? CELLS_MOST
                                                                      : (uint32_t)root};
}

static enum doppel_status run_making(struct cells_making *making,
                                     void work(void *context, size_t piece, size_t slot))
{
    const struct ordered run = run_over_rows(making, work);
    ordered_run(&run);
    return making->status;
}

enum doppel_status vector_cells_make(const struct doppel_vectors *vectors,
                                     const struct cells_options *options, struct vector_cells *out,
                                     struct doppel_error *error)
{
    *out = (struct vector_cells){.vectors = *vectors};
    struct cells_making making = {
        .options = options, .cells = out, .bad_row = vectors->count, .failure = error};
    const struct ordered nearest = run_over_rows(&making, find_nearest);
    enum doppel_status status;
    TRY(vector_basis_make(vectors, options->width, &out->basis, error));
    TRY(allocate_by_row(&making, error));
    TRY(run_making(&making, make_prefixes));
    TRY(centres_make(&making.prefixes, options->cells, &out->centres, error));
    TRY(allocate_by_cell(&making, &nearest, error));
    TRY(run_making(&making, find_nearest));
    place_cells(&making);
    TRY(allocate_by_place(out, options->width, error));
    TRY(sort_rows(&making, error));
    TRY(run_making(&making, fill_places));
    measure_cells(out);
done:
    making_free(&making);
    if (status)
        vector_cells_free(out);
    return status;
}

void vector_cells_free(struct vector_cells *cells)
{
    vector_basis_free(&cells->basis);
    centres_free(&cells->centres);
    free(cells->starts);
    free(cells->sizes);
    free(cells->near);
    free((void *)cells->blocks.codes);
    free((void *)cells->blocks.head_rest);
    free((void *)cells->blocks.rest);
    free((void *)cells->blocks.error);
    free(cells->dots);
    free(cells->rows);
    free(cells->bytes);
    free(cells->scales);
    free(cells->lost);
    free(cells->inverses);
    *cells = (struct vector_cells){0};
}

/* ---- places ---- */

/* The first place of a cell whose dot product with the centre is `dot` or less. */
static uint32_t place_of_dot(const struct vector_cells *cells, uint32_t cell, int32_t dot)
{
    uint32_t low = cells->starts[cell], high = low + cells->sizes[cell];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (cells->dots[middle] > dot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool cells_in_reach(const struct vector_cells *cells, uint32_t cell, struct cosine_range of,
                    float min_cosine, uint32_t *out_from, uint32_t *out_to)
{
    const struct cosine_range within = cosines_within(of, min_cosine);
    if (within.high < cells->far[cell] || within.low > cells->near[cell])
        return false;
    const struct dot_range dots = dots_of_cosines(&cells->centres, cell, within);
    *out_from = place_of_dot(cells, cell, dots.high);
    *out_to = place_of_dot(cells, cell, dots.low - 1);
    return *out_from < *out_to;
}

uint32_t cells_cell_of(const struct vector_cells *cells, uint32_t place)
{
    uint32_t low = 0, high = cells->centres.count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (cells->starts[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    while (!cells->sizes[low]) /* an empty one begins where the next does */
        low--;
    return low;
}

/* ---- cosines ---- */

float cells_cosine(const struct vector_cells *cells, const struct vector_kernels *kernels,
                   const struct rounded_vector *vector, uint32_t place, float least)
{
    const size_t dimension = cells->vectors.dimension;
    const int32_t dot = kernels->dot_bytes(vector->bytes, cells->bytes + place * dimension,
                                           (dimension + 31) / 32 * 32);
    const float bound = (float)dot * vector->scale * cells->scales[place] +
                        lost_of_dot(vector->lost, cells->lost[place]);
    if (bound < least)
        return -2;
    const uint32_t row = cells->rows[place];
    return kernels->dot_floats(vector->values, vectors_row(&cells->vectors, row), dimension) *
           (vector->inverse * cells->inverses[row]);
}
