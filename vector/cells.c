/* Vectors into cells: prefixes, centres, the nearest one, and the order. */
#include "vector/cells.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/large_pages.h"
#include "core/ordered.h"
#include "core/try.h"
#include "vector/numbers.h"

enum { PIECE_ROWS = 4096, BYTES_SLACK = 32 };

/* While they are made: by row. */
struct cells_making {
    const struct cells_options *options;
    struct vector_cells *cells;
    struct vector_basis basis;
    struct prefix_list prefixes; /* of all rows; zeros of those without a direction */
    int16_t *head_rest, *rest, *error;
    uint32_t *nearest; /* cell */
    uint16_t *square;
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

bool vector_length(const float *x, size_t dimension, float *inverse)
{
    const double square = (double)vector_kernels_get()->dot_floats(x, x, dimension);
    *inverse = square > 0 ? (float)(1 / sqrt(square)) : 0;
    if (square != 0)
        return square > 1e-30 && square < 1e30;
    for (size_t j = 0; j < dimension; j++)
        if (x[j] != 0)
            return false; /* the squares of which are too small */
    return true;
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
                                      making->basis.rows, width, components);
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
            making->nearest[row + k] = centre_nearest(centres, own);
            making->square[row + k] = (uint16_t)(prefix_square(values + k * width, width) -
                                                 own[making->nearest[row + k]]);
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

/* Rows by cell, distance, and number. */
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
            keys[cells->starts[cell] + filled[cell]++] = (uint64_t)making->square[row] << 32 | row;
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

static void round_to_bytes(struct vector_cells *cells, size_t row, uint32_t place)
{
    const uint32_t dimension = cells->vectors.dimension;
    const float *x = cells->vectors.rows + row * dimension;
    const float inverse = cells->inverses[row];
    int8_t *bytes = cells->bytes + (size_t)place * dimension;
    float largest = 0, lost = 0;
    for (uint32_t j = 0; j < dimension; j++)
        largest = fabsf(x[j]) > largest ? fabsf(x[j]) : largest;
    const float scale = largest * inverse / INT8_MAX, by = INT8_MAX / largest;
    for (uint32_t j = 0; j < dimension; j++) {
        const float value = nearest_whole(x[j] * by);
        bytes[j] = (int8_t)(value > INT8_MAX ? INT8_MAX : value < -INT8_MAX ? -INT8_MAX : value);
        const float off = x[j] * inverse - scale * bytes[j];
        lost += off * off;
    }
    const double up = ceil(sqrt((double)lost) * 65536) + 1;
    cells->scales[place] = scale;
    cells->lost[place] = up < UINT16_MAX ? (uint16_t)up : UINT16_MAX;
}

static void fill_places(void *context, size_t piece, size_t slot)
{
    struct cells_making *making = context;
    struct vector_cells *cells = making->cells;
    const uint32_t width = making->prefixes.width;
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
        cells->squares[place] = making->square[row];
        round_to_bytes(cells, row, place);
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
    making->square = malloc((count + 1) * sizeof *making->square);
    making->place = malloc((count + 1) * sizeof *making->place);
    making->cells->inverses = malloc((count + 1) * sizeof *making->cells->inverses);
    return making->prefixes.values && making->head_rest && making->rest && making->error &&
                   making->nearest && making->square && making->place && making->cells->inverses
               ? DOPPEL_OK
               : no_cells_memory(error);
}

static enum doppel_status allocate_by_cell(struct cells_making *making, const struct ordered *run,
                                           struct doppel_error *error)
{
    struct vector_cells *cells = making->cells;
    cells->starts = calloc(cells->centres.count, sizeof *cells->starts);
    cells->sizes = calloc(cells->centres.count, sizeof *cells->sizes);
    making->scores = malloc(ordered_slots(run) * centres_stride(&cells->centres) * PREFIX_QUERIES *
                            sizeof *making->scores);
    return cells->starts && cells->sizes && making->scores ? DOPPEL_OK : no_cells_memory(error);
}

static enum doppel_status allocate_by_place(struct vector_cells *cells, uint32_t width,
                                            struct doppel_error *error)
{
    const size_t places = cells->places + PREFIX_BLOCK, dimension = cells->vectors.dimension;
    uint8_t *codes = large_pages_alloc(places * width);
    int16_t *head_rest = calloc(places, sizeof *head_rest), *rest = calloc(places, sizeof *rest);
    int16_t *slack = malloc(places * sizeof *slack);
    cells->blocks = (struct prefix_blocks){codes, head_rest, rest, slack, width};
    cells->squares = calloc(places, sizeof *cells->squares);
    cells->rows = malloc(places * sizeof *cells->rows);
    cells->bytes = large_pages_alloc(places * dimension + BYTES_SLACK);
    cells->scales = malloc(places * sizeof *cells->scales);
    cells->lost = malloc(places * sizeof *cells->lost);
    if (!codes || !head_rest || !rest || !slack || !cells->squares || !cells->rows ||
        !cells->bytes || !cells->scales || !cells->lost)
        return no_cells_memory(error);
    memset(codes, PREFIX_ZERO, places * width);
    for (size_t i = 0; i < places; i++)
        slack[i] = INT16_MIN; /* of what is no vector: never a candidate */
    memset(cells->bytes + places * dimension, 0, BYTES_SLACK);
    return DOPPEL_OK;
}

static void making_free(struct cells_making *making)
{
    vector_basis_free(&making->basis);
    free((void *)making->prefixes.values);
    free(making->head_rest);
    free(making->rest);
    free(making->error);
    free(making->nearest);
    free(making->square);
    free(making->place);
    free(making->scores);
}

/* ---- all ---- */

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
    TRY(vector_basis_make(vectors, options->width, &making.basis, error));
    TRY(allocate_by_row(&making, error));
    TRY(run_making(&making, make_prefixes));
    TRY(centres_make(&making.prefixes, options->cells, &out->centres, error));
    TRY(allocate_by_cell(&making, &nearest, error));
    TRY(run_making(&making, find_nearest));
    place_cells(&making);
    TRY(allocate_by_place(out, options->width, error));
    TRY(sort_rows(&making, error));
    TRY(run_making(&making, fill_places));
done:
    making_free(&making);
    if (status)
        vector_cells_free(out);
    return status;
}

void vector_cells_free(struct vector_cells *cells)
{
    centres_free(&cells->centres);
    free(cells->starts);
    free(cells->sizes);
    free((void *)cells->blocks.codes);
    free((void *)cells->blocks.head_rest);
    free((void *)cells->blocks.rest);
    free((void *)cells->blocks.error);
    free(cells->squares);
    free(cells->rows);
    free(cells->bytes);
    free(cells->scales);
    free(cells->lost);
    free(cells->inverses);
    *cells = (struct vector_cells){0};
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

static float cosine_of_rows(const struct vector_cells *cells, const struct vector_kernels *kernels,
                            uint32_t a, uint32_t b)
{
    const struct doppel_vectors *vectors = &cells->vectors;
    const float dot =
        kernels->dot_floats(vectors->rows + (size_t)a * vectors->dimension,
                            vectors->rows + (size_t)b * vectors->dimension, vectors->dimension);
    return dot * (cells->inverses[a] * cells->inverses[b]);
}

float cells_cosine(const struct vector_cells *cells, const struct vector_kernels *kernels,
                   const int8_t *bytes, uint32_t a, uint32_t b, float least)
{
    enum { SLACK = 8 }; /* 2^-16: of the product of what rounding took, and of sums of floats */
    const size_t dimension = cells->vectors.dimension;
    const int32_t dot =
        kernels->dot_bytes(bytes, cells->bytes + b * dimension, (dimension + 31) / 32 * 32);
    const float took = (float)(cells->lost[a] + cells->lost[b] + SLACK) / 65536;
    const float bound = (float)dot * cells->scales[a] * cells->scales[b] + took * (1 + took);
    return bound < least ? -2 : cosine_of_rows(cells, kernels, cells->rows[a], cells->rows[b]);
}

float doppel_vector_cosine(const float *a, const float *b, uint32_t dimension)
{
    float by_a, by_b;
    if (!vector_length(a, dimension, &by_a) || !vector_length(b, dimension, &by_b))
        return 0;
    return vector_kernels_get()->dot_floats(a, b, dimension) * (by_a * by_b);
}
