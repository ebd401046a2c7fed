/* All pairs above a cosine: cell by cell, each with those that lie near it. */
#include <doppel/vector.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/ordered.h"
#include "core/try.h"
#include "vector/join_plan.h"
#include "vector/scan.h"

enum {
    PIECE_BY_CELLS = 4, /* places of a piece of work, by cells */
    PIECE_LEAST = 1024,
    PIECE_MOST = 1 << 15,
    VISITED_AT_ONCE = 4096, /* pairs */
    SCORE_STEP = 64         /* scores so near are sorted as one */
};

/* Scores of which those with a centre are that can have a pair in its cell. */
struct score_range {
    int16_t low, high;
};

/* A vector of a piece that is to be compared with a cell, and its score with the centre. */
struct cell_visit {
    uint32_t cell, place;
    int16_t score;
};

struct join_work {
    struct vector_join *join;
    struct cell_scan *scan;
    int16_t *scores; /* of PREFIX_QUERIES vectors */
    uint32_t first;  /* place of the piece */
    uint32_t *own;   /* cells of its places */
    uint32_t *ends;  /* of each cell: where its visits end */
    ARRAY(struct cell_visit) visits;
    ARRAY(struct cell_visit) by_score;
    ARRAY(struct doppel_vector_pair) pairs;
    bool no_memory;
};

struct vector_join {
    const struct doppel_vector_join_options *options;
    struct vector_cells cells;
    struct join_threshold threshold;
    struct score_range *scores; /* by cell */
    int16_t *reach;  /* by place: the score of the farthest cell that it is compared with */
    uint32_t probes; /* 0: all that can have a pair */
    uint32_t piece;  /* places */
    struct join_work *works;
    size_t slots;
    doppel_vector_pair_visitor *visitor;
    void *context;
    struct doppel_vector_join_stats stats;
    enum doppel_status status;
    struct doppel_error *error;
};

static enum doppel_status no_join_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare vectors");
}

/* ---- pairs ---- */

/* A pair of two cells may be found from both sides: then it is the lower cell's. */
static bool is_found_there(const struct vector_join *join, uint32_t own_cell, uint32_t other)
{
    return centre_score(&join->cells.centres, &join->cells.blocks, other, own_cell) >=
           join->reach[other];
}

static bool note_pair(void *context, uint32_t a, uint32_t b, float cosine)
{
    struct join_work *work = context;
    const struct vector_join *join = work->join;
    const struct vector_cells *cells = &join->cells;
    const uint32_t cell = work->own[a - work->first];
    const uint32_t start = cells->starts[cell], end = start + cells->sizes[cell];
    if (b >= start && b < end ? b <= a : b < start && is_found_there(join, cell, b))
        return true;
    const uint32_t x = cells->rows[a], y = cells->rows[b];
    const struct doppel_vector_pair pair = {x < y ? x : y, x < y ? y : x, cosine};
    work->no_memory = !array_push(&work->pairs, pair);
    return !work->no_memory;
}

/* ---- visits ---- */

static float level_of_place(const struct vector_join *join, uint32_t place)
{
    return join->threshold.levels ? join->threshold.levels[place] : 0;
}

/* What was taken, compared with what of a cell is in reach of one of them. */
static bool visit_cell(struct join_work *work, const struct cell_visit *visits, uint32_t count)
{
    const struct vector_join *join = work->join;
    const uint32_t cell = visits[0].cell;
    uint32_t first = visits[0].place, from, to;
    int16_t nearest = INT16_MIN, farthest = INT16_MAX;
    float slack = 0, level = 0;
    bool is_own = true; /* of all */
    for (uint32_t k = 0; k < count; k++) {
        const float own_slack = prefix_slack(join->cells.blocks.error[visits[k].place]);
        is_own = is_own && work->own[visits[k].place - work->first] == cell;
        nearest = visits[k].score > nearest ? visits[k].score : nearest;
        farthest = visits[k].score < farthest ? visits[k].score : farthest;
        slack = own_slack > slack ? own_slack : slack;
        level = k && level < level_of_place(join, visits[k].place)
                    ? level
                    : level_of_place(join, visits[k].place);
        first = visits[k].place < first ? visits[k].place : first;
    }
    const struct cosine_range of =
        cosine_range_join(cosine_of_score(&join->cells.centres, cell, farthest, slack),
                          cosine_of_score(&join->cells.centres, cell, nearest, slack));
    const float least =
        scan_least_bound(&join->threshold.of, level, join->threshold.cell_level[cell]);
    if (!cells_in_reach(&join->cells, cell, of, least, &from, &to))
        return true;
    if (is_own && from < first)
        from = first; /* those before it have had it */
    return from >= to || cell_scan_run(work->scan, from, to);
}

static bool list_near_cells(struct join_work *work, uint32_t place)
{
    const struct centres *centres = &work->join->cells.centres;
    const int16_t *scores = work->scores + place % PREFIX_QUERIES * centres_stride(centres);
    const struct vector_join *join = work->join;
    const int16_t reach = join->probes ? join->reach[place] : INT16_MIN;
    const int32_t error = join->cells.blocks.error[place];
    const uint32_t first = join->probes ? 0 : work->own[place - work->first];
    bool ok = true;
    for (uint32_t block = first / PREFIX_BLOCK; block < centres->blocks_count; block++) {
        const uint32_t at = block * PREFIX_BLOCK;
        if (highest_of_block(scores + at) < reach)
            continue;
        for (uint32_t cell = at < first ? first : at;
             cell < at + PREFIX_BLOCK && cell < centres->count; cell++) {
            if (scores[cell] < reach || scores[cell] + error < join->scores[cell].low ||
                scores[cell] - error > join->scores[cell].high)
                continue;
            work->ends[cell]++;
            ok = array_push(&work->visits, ((struct cell_visit){cell, place, scores[cell]})) && ok;
        }
    }
    return ok;
}

static uint32_t score_bucket(const struct cell_visit *visit)
{
    return (uint32_t)(INT16_MAX - visit->score) / SCORE_STEP;
}

/* Into `by_score`, the highest first. */
static bool sort_by_score(struct join_work *work)
{
    uint32_t ends[(UINT16_MAX + 1) / SCORE_STEP] = {0}, end = 0;
    while (work->by_score.capacity < work->visits.count) {
        work->by_score.count = work->by_score.capacity;
        if (!array_reserve(&work->by_score))
            return false;
    }
    for (size_t i = 0; i < work->visits.count; i++)
        ends[score_bucket(&work->visits.items[i])]++;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        ends[i] = end += ends[i];
    for (size_t i = work->visits.count; i--;) {
        const struct cell_visit *visit = &work->visits.items[i];
        work->by_score.items[--ends[score_bucket(visit)]] = *visit;
    }
    return true;
}

/* By cell, and in each those of about the same score together: they are compared with the same
 * vectors of it. `ends` are then where those of a cell begin. */
static bool sort_visits(struct join_work *work)
{
    uint32_t end = 0;
    if (!sort_by_score(work))
        return false;
    for (uint32_t cell = 0; cell < work->join->cells.centres.count; cell++)
        work->ends[cell] = end += work->ends[cell];
    for (size_t i = work->visits.count; i--;) {
        const struct cell_visit visit = work->by_score.items[i];
        work->visits.items[--work->ends[visit.cell]] = visit;
    }
    return true;
}

static bool visit_near_cell(struct join_work *work, const struct cell_visit *visits, uint32_t count)
{
    uint32_t places[PREFIX_QUERIES];
    for (uint32_t k = 0; k < count; k++)
        places[k] = visits[k].place;
    cell_scan_take(work->scan, places, count);
    return visit_cell(work, visits, count);
}

static bool visit_near_cells(struct join_work *work)
{
    const uint32_t cells = work->join->cells.centres.count;
    for (uint32_t cell = 0; cell < cells; cell++) {
        const uint32_t end = cell + 1 < cells ? work->ends[cell + 1] : (uint32_t)work->visits.count;
        for (uint32_t at = work->ends[cell]; at < end; at += PREFIX_QUERIES)
            if (!visit_near_cell(work, work->visits.items + at,
                                 end - at < PREFIX_QUERIES ? end - at : PREFIX_QUERIES))
                return false;
    }
    return true;
}

static bool list_all_near(struct join_work *work, uint32_t place, uint32_t count)
{
    bool ok = true;
    for (uint32_t k = 0; k < count; k++)
        ok = list_near_cells(work, place + k) && ok;
    return ok;
}

/* What is behind the last vector of a cell is none. Blocks are whole, and cells have blocks of
 * their own, so these few are of one cell. */
static uint32_t vectors_from(const struct vector_cells *cells, uint32_t place)
{
    uint32_t count = PREFIX_QUERIES;
    while (count && cells->rows[place + count - 1] >= cells->vectors.count)
        count--;
    return count;
}

static bool visit_places(struct join_work *work, uint32_t end)
{
    const struct vector_join *join = work->join;
    memset(work->ends, 0, join->cells.centres.count * sizeof *work->ends);
    for (uint32_t place = work->first; place < end; place += PREFIX_QUERIES) {
        const uint32_t count = vectors_from(&join->cells, place);
        if (!count)
            continue;
        centres_score_places(&join->cells.centres, &join->cells.blocks, place, count, work->scores);
        if (!list_all_near(work, place, count))
            return false;
    }
    return sort_visits(work) && visit_near_cells(work);
}

static void find_own_cells(struct join_work *work, uint32_t end)
{
    const struct vector_cells *cells = &work->join->cells;
    uint32_t cell = cells_cell_of(cells, work->first);
    for (uint32_t place = work->first; place < end; place++) {
        while (cell + 1 < cells->centres.count && cells->starts[cell + 1] <= place)
            cell++;
        work->own[place - work->first] = cell;
    }
}

static void join_piece(void *context, size_t number, size_t slot)
{
    struct vector_join *join = context;
    struct join_work *work = &join->works[slot];
    const uint32_t first = (uint32_t)number * join->piece, left = join->cells.places - first;
    const uint32_t end = first + (left < join->piece ? left : join->piece);
    work->pairs.count = work->visits.count = 0;
    work->first = first;
    find_own_cells(work, end);
    work->no_memory = !visit_places(work, end);
}

static bool deliver_pairs(void *context, size_t number, size_t slot)
{
    struct vector_join *join = context;
    const struct doppel_vector_join_options *options = join->options;
    struct join_work *work = &join->works[slot];
    if (work->no_memory)
        join->status = no_join_memory(join->error);
    else if (options->stopped && options->stopped(options->context))
        join->status = doppel_fail(join->error, DOPPEL_E_CANCELLED, "interrupted");
    for (size_t i = 0; i < work->pairs.count && !join->status; i += VISITED_AT_ONCE) {
        const size_t left = work->pairs.count - i;
        const size_t some = left < VISITED_AT_ONCE ? left : VISITED_AT_ONCE;
        if (!join->visitor(join->context, work->pairs.items + i, some))
            join->status = doppel_fail(join->error, DOPPEL_E_CANCELLED, "interrupted");
    }
    join->stats.pairs += work->pairs.count;
    if (options->progress)
        options->progress(options->context, (number + 1) * join->piece, join->cells.places);
    return join->status == DOPPEL_OK;
}

/* ---- beginning and end ---- */

static int16_t score_of_dot(const struct vector_join *join, uint32_t cell, int32_t dot)
{
    const int32_t score = 2 * dot - centre_square(&join->cells.centres, cell);
    return (int16_t)(score < INT16_MIN ? INT16_MIN : score > INT16_MAX ? INT16_MAX : score);
}

static enum doppel_status find_scores(struct vector_join *join)
{
    const struct vector_cells *cells = &join->cells;
    join->scores = malloc(cells->centres.count * sizeof *join->scores);
    if (!join->scores)
        return no_join_memory(join->error);
    for (uint32_t cell = 0; cell < cells->centres.count; cell++) {
        const struct cosine_range own = {cells->far[cell], cells->near[cell]};
        const float least = scan_least_bound(&join->threshold.of, join->threshold.of.lowest,
                                             join->threshold.cell_level[cell]);
        const struct dot_range dots =
            dots_of_cosines(&cells->centres, cell, cosines_within(own, least));
        join->scores[cell] = (struct score_range){score_of_dot(join, cell, dots.low),
                                                  score_of_dot(join, cell, dots.high)};
        if (!cells->sizes[cell])
            join->scores[cell] = (struct score_range){INT16_MAX, INT16_MIN};
    }
    return DOPPEL_OK;
}

static enum doppel_status open_works(struct vector_join *join, size_t slots)
{
    const size_t count = join->cells.centres.count, stride = centres_stride(&join->cells.centres);
    join->works = calloc(slots, sizeof *join->works);
    if (!join->works)
        return no_join_memory(join->error);
    join->slots = slots;
    for (size_t i = 0; i < slots; i++) {
        struct join_work *work = &join->works[i];
        work->join = join;
        work->scores = malloc(PREFIX_QUERIES * stride * sizeof *work->scores);
        work->ends = malloc(count * sizeof *work->ends);
        work->own = malloc(join->piece * sizeof *work->own);
        if (!work->scores || !work->ends || !work->own)
            return no_join_memory(join->error);
        enum doppel_status status =
            cell_scan_make(&join->cells, &join->threshold.of, &work->scan, join->error);
        if (status)
            return status;
        work->scan->heads = !join->probes;
        work->scan->visitor = note_pair;
        work->scan->context = work;
    }
    return DOPPEL_OK;
}

/* Of so many places that a cell is visited by some of them at once. */
static uint32_t piece_for(const struct vector_join *join)
{
    const uint32_t wanted = join->cells.centres.count * PIECE_BY_CELLS;
    const uint32_t piece = wanted < PIECE_LEAST  ? PIECE_LEAST
                           : wanted > PIECE_MOST ? PIECE_MOST
                                                 : wanted;
    return join->probes ? piece / PREFIX_BLOCK * PREFIX_BLOCK : PIECE_LEAST;
}

static enum doppel_status run_join(struct vector_join *join)
{
    enum doppel_status status;
    join->piece = piece_for(join);
    const struct ordered run = {.context = join,
                                .threads = join->options->threads,
                                .pieces = (join->cells.places + join->piece - 1) / join->piece,
                                .work = join_piece,
                                .deliver = deliver_pairs};
    TRY(find_scores(join));
    TRY(open_works(join, ordered_slots(&run)));
    ordered_run(&run);
    status = join->status;
done:
    return status;
}

static void vector_join_free(struct vector_join *join)
{
    for (size_t i = 0; i < join->slots; i++) {
        struct join_work *work = &join->works[i];
        if (work->scan) {
            join->stats.compared += work->scan->compared;
            join->stats.candidates += work->scan->candidates;
        }
        cell_scan_free(work->scan);
        free(work->scores);
        free(work->ends);
        free(work->own);
        array_free(&work->visits);
        array_free(&work->by_score);
        array_free(&work->pairs);
    }
    free(join->works);
    free(join->scores);
    free(join->reach);
    join_threshold_free(&join->threshold);
    vector_cells_free(&join->cells);
}

static enum doppel_status check_join(const struct doppel_vectors *vectors,
                                     const struct doppel_vector_join_options *options,
                                     struct doppel_error *error)
{
    if (!vectors->dimension || vectors->dimension > DOPPEL_VECTOR_DIMENSION_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "vectors have 1 to %d dimensions, not %u",
                           (int)DOPPEL_VECTOR_DIMENSION_MAX, vectors->dimension);
    if (vectors->count >= VECTORS_MOST)
        return doppel_fail(error, DOPPEL_E_LIMIT, "these are too many vectors for one join");
    if (!(options->min_cosine >= -1 && options->min_cosine <= 1))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a cosine is from -1 to 1");
    if (options->levels && !(options->min_score >= -2 && options->min_score <= 2))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a score is from -2 to 2");
    if (!options->exact && !(options->recall >= 0.5F && options->recall <= 0.999F))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the recall of a join is from 0.5 to 0.999");
    return DOPPEL_OK;
}

struct doppel_vector_join_options doppel_vector_join_options_default(void)
{
    return (struct doppel_vector_join_options){.min_cosine = 0.9F, .recall = 0.99F};
}

enum doppel_status doppel_vectors_join(const struct doppel_vectors *vectors,
                                       const struct doppel_vector_join_options *options,
                                       doppel_vector_pair_visitor *visitor, void *context,
                                       struct doppel_vector_join_stats *stats,
                                       struct doppel_error *error)
{
    struct vector_join join = {
        .options = options,
        .visitor = visitor,
        .context = context,
        .error = error,
    };
    struct cells_options cells = cells_options_usual(vectors);
    enum doppel_status status;
    cells.threads = options->threads;
    cells.context = options->context;
    cells.stopped = options->stopped;
    if (options->levels && cells.width > PREFIX_HEAD)
        cells.width = PREFIX_DIMENSIONS_MAX; /* low thresholds need tight bounds */
    TRY(check_join(vectors, options, error));
    if (vectors->count)
        TRY(vector_cells_make(vectors, &cells, &join.cells, error));
    TRY(join_threshold_make(&join.cells, options, &join.threshold, error));
    if (!options->exact && join.cells.centres.count > 1)
        TRY(join_choose_probes(&join.cells, &join.threshold, options->recall, &join.probes, error));
    if (join.probes)
        TRY(join_find_reach(&join.cells, join.probes, options, &join.reach, error));
    if (join.cells.count)
        TRY(run_join(&join));
done:
    join.stats.cells = join.cells.centres.count;
    join.stats.probes = join.probes;
    vector_join_free(&join);
    if (stats)
        *stats = join.stats;
    return status;
}
