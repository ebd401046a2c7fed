/* A table of vectors: cells as arrays that can be kept. */
#include <doppel/vector_table.h>

#include <string.h>

#include "core/try.h"
#include "vector/lookup.h"

/* By row: ROWS, INVERSES. By place, with room for as many as there may be: CODES to LOST. By cell:
 * STARTS to FAR. */
enum table_part {
    PART_ROWS,
    PART_INVERSES,
    PART_CODES,
    PART_HEAD_REST,
    PART_REST,
    PART_ERROR,
    PART_DOTS,
    PART_PLACE_ROWS,
    PART_BYTES,
    PART_SCALES,
    PART_LOST,
    PART_STARTS,
    PART_SIZES,
    PART_NEAR,
    PART_FAR,
    PART_CENTRES,
    PART_CENTRE_BIAS,
    PART_BASIS,
    PART_RANKS,
    PARTS
};
_Static_assert((int)PARTS == (int)DOPPEL_VECTOR_TABLE_PARTS, "as the header says");

enum table_parameter {
    PARAMETER_DIMENSION,
    PARAMETER_COUNT,
    PARAMETER_WIDTH,
    PARAMETER_CELLS,
    PARAMETER_ROOM,   /* places */
    PARAMETER_PLACES, /* of these in use */
    PARAMETER_RANKS,
    PARAMETERS
};
_Static_assert((int)PARAMETERS == (int)DOPPEL_VECTOR_TABLE_PARAMETERS, "as the header says");

/* ---- the plan ---- */

static void set_part_sizes(struct doppel_vector_table_plan *plan)
{
    const uint64_t *parameters = plan->parameters;
    const uint64_t dimension = parameters[PARAMETER_DIMENSION], count = parameters[PARAMETER_COUNT];
    const uint64_t width = parameters[PARAMETER_WIDTH], cells = parameters[PARAMETER_CELLS];
    const uint64_t room = parameters[PARAMETER_ROOM];
    const uint64_t centres = (cells + PREFIX_BLOCK - 1) / PREFIX_BLOCK * PREFIX_BLOCK;
    const uint64_t bytes[PARTS] = {
        [PART_ROWS] = count * dimension * sizeof(float),
        [PART_INVERSES] = count * sizeof(float),
        [PART_CODES] = room * width,
        [PART_HEAD_REST] = room * sizeof(int16_t),
        [PART_REST] = room * sizeof(int16_t),
        [PART_ERROR] = room * sizeof(int16_t),
        [PART_DOTS] = room * sizeof(int16_t),
        [PART_PLACE_ROWS] = room * sizeof(uint32_t),
        [PART_BYTES] = room * dimension,
        [PART_SCALES] = room * sizeof(float),
        [PART_LOST] = room * sizeof(uint16_t),
        [PART_STARTS] = cells * sizeof(uint32_t),
        [PART_SIZES] = cells * sizeof(uint32_t),
        [PART_NEAR] = cells * sizeof(float),
        [PART_FAR] = cells * sizeof(float),
        [PART_CENTRES] = centres * width,
        [PART_CENTRE_BIAS] = centres * sizeof(int16_t),
        [PART_BASIS] = dimension * width * sizeof(float),
        [PART_RANKS] = LOOKUP_RANKS * sizeof(struct lookup_rank),
    };
    for (size_t i = 0; i < PARTS; i++)
        plan->part_bytes[i] = bytes[i];
}

struct doppel_vector_table_plan doppel_vector_table_plan(uint32_t dimension, uint64_t count)
{
    const struct doppel_vectors vectors = {.count = count, .dimension = dimension};
    const struct cells_options options = cells_options_usual(&vectors);
    struct doppel_vector_table_plan plan = {0};
    plan.parameters[PARAMETER_DIMENSION] = dimension;
    plan.parameters[PARAMETER_COUNT] = count;
    plan.parameters[PARAMETER_WIDTH] = options.width;
    plan.parameters[PARAMETER_CELLS] = options.cells;
    plan.parameters[PARAMETER_ROOM] = count + options.cells * (uint64_t)PREFIX_BLOCK;
    set_part_sizes(&plan);
    return plan;
}

bool doppel_vector_table_plan_is_valid(const struct doppel_vector_table_plan *plan)
{
    const uint64_t *parameters = plan->parameters;
    const uint64_t count = parameters[PARAMETER_COUNT], cells = parameters[PARAMETER_CELLS];
    const uint64_t width = parameters[PARAMETER_WIDTH], room = parameters[PARAMETER_ROOM];
    struct doppel_vector_table_plan right = *plan;
    if (!parameters[PARAMETER_DIMENSION] ||
        parameters[PARAMETER_DIMENSION] > DOPPEL_VECTOR_DIMENSION_MAX || count >= VECTORS_MOST ||
        !cells || cells > CELLS_MOST || !width || width % PREFIX_HEAD ||
        width > PREFIX_DIMENSIONS_MAX || room != count + cells * PREFIX_BLOCK ||
        parameters[PARAMETER_PLACES] > room || parameters[PARAMETER_PLACES] % PREFIX_BLOCK ||
        parameters[PARAMETER_RANKS] > LOOKUP_RANKS)
        return false;
    set_part_sizes(&right);
    return memcmp(right.part_bytes, plan->part_bytes, sizeof right.part_bytes) == 0;
}

/* The parts as cells, to be filled or to be read. */
static struct vector_cells cells_of_parts(const struct doppel_vector_table_plan *plan,
                                          const uint8_t *const *parts)
{
    const uint32_t dimension = (uint32_t)plan->parameters[PARAMETER_DIMENSION];
    const uint32_t width = (uint32_t)plan->parameters[PARAMETER_WIDTH];
    const uint32_t cells = (uint32_t)plan->parameters[PARAMETER_CELLS];
    const uint32_t places = (uint32_t)plan->parameters[PARAMETER_PLACES];
    return (struct vector_cells){
        .vectors = {(const void *)parts[PART_ROWS], plan->parameters[PARAMETER_COUNT], dimension},
        .basis = {dimension, width, (void *)parts[PART_BASIS]},
        .centres = {{.codes = parts[PART_CENTRES],
                     .error = (const void *)parts[PART_CENTRE_BIAS],
                     .dimensions = width},
                    cells,
                    (cells + PREFIX_BLOCK - 1) / PREFIX_BLOCK},
        .places = places,
        .starts = (void *)parts[PART_STARTS],
        .sizes = (void *)parts[PART_SIZES],
        .near = (void *)parts[PART_NEAR],
        .far = (void *)parts[PART_FAR],
        .blocks = {parts[PART_CODES], (const void *)parts[PART_HEAD_REST],
                   (const void *)parts[PART_REST], (const void *)parts[PART_ERROR], width},
        .dots = (void *)parts[PART_DOTS],
        .rows = (void *)parts[PART_PLACE_ROWS],
        .bytes = (void *)parts[PART_BYTES],
        .scales = (void *)parts[PART_SCALES],
        .lost = (void *)parts[PART_LOST],
        .inverses = (void *)parts[PART_INVERSES],
    };
}

/* ---- filling ---- */

static void copy_part(uint8_t *const *parts, enum table_part part, const void *from, size_t bytes)
{
    memcpy(parts[part], from, bytes);
}

static void copy_cells(uint8_t *const *parts, const struct vector_cells *cells)
{
    const size_t places = cells->places, count = cells->centres.count;
    const size_t width = cells->basis.width, dimension = cells->vectors.dimension;
    const size_t centres = centres_stride(&cells->centres);
    copy_part(parts, PART_INVERSES, cells->inverses, cells->vectors.count * sizeof(float));
    copy_part(parts, PART_CODES, cells->blocks.codes, places * width);
    copy_part(parts, PART_HEAD_REST, cells->blocks.head_rest, places * sizeof(int16_t));
    copy_part(parts, PART_REST, cells->blocks.rest, places * sizeof(int16_t));
    copy_part(parts, PART_ERROR, cells->blocks.error, places * sizeof(int16_t));
    copy_part(parts, PART_DOTS, cells->dots, places * sizeof(int16_t));
    copy_part(parts, PART_PLACE_ROWS, cells->rows, places * sizeof(uint32_t));
    copy_part(parts, PART_BYTES, cells->bytes, places * dimension);
    copy_part(parts, PART_SCALES, cells->scales, places * sizeof(float));
    copy_part(parts, PART_LOST, cells->lost, places * sizeof(uint16_t));
    copy_part(parts, PART_STARTS, cells->starts, count * sizeof(uint32_t));
    copy_part(parts, PART_SIZES, cells->sizes, count * sizeof(uint32_t));
    copy_part(parts, PART_NEAR, cells->near, count * sizeof(float));
    copy_part(parts, PART_FAR, cells->far, count * sizeof(float));
    copy_part(parts, PART_CENTRES, cells->centres.blocks.codes, centres * width);
    copy_part(parts, PART_CENTRE_BIAS, cells->centres.blocks.error, centres * sizeof(int16_t));
    copy_part(parts, PART_BASIS, cells->basis.rows, dimension * width * sizeof(float));
}

enum doppel_status doppel_vector_table_fill(struct doppel_vector_table_plan *plan,
                                            uint8_t *const *parts, struct doppel_error *error)
{
    const struct doppel_vectors vectors = {(const float *)(const void *)parts[PART_ROWS],
                                           plan->parameters[PARAMETER_COUNT],
                                           (uint32_t)plan->parameters[PARAMETER_DIMENSION]};
    const struct cells_options options = cells_options_usual(&vectors);
    struct lookup_rank *ranks = (struct lookup_rank *)(void *)parts[PART_RANKS];
    struct vector_cells cells = {0};
    uint32_t ranks_count;
    enum doppel_status status;
    if (!vectors.count)
        return DOPPEL_OK;
    TRY(vector_cells_make(&vectors, &options, &cells, error));
    TRY(lookup_ranks(&cells, ranks, &ranks_count, error));
    copy_cells(parts, &cells);
    plan->parameters[PARAMETER_PLACES] = cells.places;
    plan->parameters[PARAMETER_RANKS] = ranks_count;
done:
    vector_cells_free(&cells);
    return status;
}

/* ---- searching ---- */

struct table_search {
    const struct vector_cells *cells;
    struct doppel_vector_search *search;
};

static float visit_place(void *context, uint32_t place, float cosine)
{
    const struct table_search *in = context;
    return in->search->visit(in->search->context, in->cells->rows[place], cosine);
}

static void touch_part(void *context, const void *at, size_t bytes)
{
    const struct table_search *in = context;
    in->search->touch(in->search->context, at, bytes);
}

static uint32_t probes_of_table(const struct doppel_vector_table *table,
                                const struct doppel_vector_search *search)
{
    const uint64_t *parameters = table->plan.parameters;
    const uint32_t count = (uint32_t)parameters[PARAMETER_RANKS];
    const void *ranks = table->parts[PART_RANKS];
    if (!(search->recall > 0) || parameters[PARAMETER_CELLS] < 2)
        return 0;
    if (search->touch)
        search->touch(search->context, ranks, count * sizeof(struct lookup_rank));
    return lookup_probes(ranks, count, search);
}

enum doppel_status doppel_vector_table_search(const struct doppel_vector_table *table,
                                              const float *query,
                                              struct doppel_vector_search *search,
                                              struct doppel_error *error)
{
    const struct vector_cells cells = cells_of_parts(&table->plan, table->parts);
    struct table_search in = {&cells, search};
    struct vector_lookup lookup = {.cells = &cells,
                                   .min_cosine = search->min_cosine,
                                   .probes = probes_of_table(table, search),
                                   .visit = visit_place,
                                   .touch = search->touch ? touch_part : NULL,
                                   .context = &in};
    enum doppel_status status = vector_lookup_run(&lookup, query, error);
    search->cells += lookup.visited;
    search->candidates += lookup.candidates;
    search->damaged = search->damaged || lookup.damaged;
    return status;
}

bool doppel_vector_is_valid(const float *row, uint32_t dimension, bool *out_has_direction)
{
    float inverse;
    if (!vector_length(row, dimension, &inverse))
        return false;
    *out_has_direction = inverse > 0;
    return true;
}
