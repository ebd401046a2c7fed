/* Bucket against near buckets: by three boxes, by all bits, by the gate. */
#include "match/images/sweep_run.h"

#include "core/ordered.h"

enum {
    TILE_BUCKETS = 16,  /* of the rows, beside as many of the columns: these stay in the cache */
    PIECE_BLOCKS = 128, /* of the rows, about: a piece is some tiles */
    PIECE_PAIRS_MAX = 1 << 20
};

/* A piece at work: some tiles of the rows. */
struct sweep_work {
    struct sweep *sweep;
    ARRAY(struct sweep_row) rows[2]; /* of a tile, as they are and negated */
    ARRAY(uint32_t) lanes;           /* of these rows */
    uint32_t ends[TILE_BUCKETS + 1]; /* of a bucket's, after those of the one before it */
    struct sweep_near near[SWEEP_TASK_ROWS * SWEEP_TASK_BLOCKS];
    struct sweep_hit {
        uint32_t row, column; /* lanes */
    } hits[SWEEP_HITS];
    size_t hit_count;
    struct doppel_index_pair checked[SWEEP_HITS];
    ARRAY(struct doppel_index_pair) pairs;
    enum doppel_status status;
};

/* ---- what is near enough ---- */

static bool pair_meets(const struct join *join, const struct doppel_index_pair *pair)
{
    struct unpacked a, b;
    matcher_unpack(join->matcher, join->order[pair->a], &a);
    matcher_unpack(join->matcher, join->order[pair->b], &b);
    return lookups_meet(&a.item, &b.item, &join->matcher->options);
}

/* Keep those of what was checked that pass the gate, and would meet in a search. */
static void keep_checked(struct sweep_work *work, size_t count)
{
    struct join *join = work->sweep->join;
    count = join_sift(join, work->checked, count);
    for (size_t i = 0; i < count && !work->status; i++)
        if (pair_meets(join, &work->checked[i]) && !array_push(&work->pairs, work->checked[i]))
            work->status = DOPPEL_E_MEMORY;
    if (work->pairs.count > PIECE_PAIRS_MAX)
        work->status = DOPPEL_E_LIMIT;
}

static void check_sweep_hits(struct sweep_work *work)
{
    const struct sweep *sweep = work->sweep;
    size_t kept = 0;
    for (size_t i = 0; i < work->hit_count; i++) {
        const struct sweep_hit *hit = &work->hits[i];
        const uint32_t row = sweep->rows->owners[hit->row];
        const uint32_t column = sweep->columns->owners[hit->column];
        if (row != column && column != SWEEP_NOBODY &&
            sweep->kernels->check(&sweep->limit, &sweep->rows->codes[hit->row],
                                  &sweep->columns->codes[hit->column]))
            work->checked[kept++] = (struct doppel_index_pair){row, column, 0};
    }
    work->hit_count = 0;
    if (kept)
        keep_checked(work, kept);
}

static void note_near_lanes(struct sweep_work *work, uint32_t row, uint32_t first, uint32_t near)
{
    const struct sweep_side *columns = work->sweep->columns;
    if (work->hit_count + SWEEP_LANES > SWEEP_HITS)
        check_sweep_hits(work);
    for (; near; near &= near - 1) {
        const uint32_t column = first + (uint32_t)__builtin_ctz(near);
        __builtin_prefetch(&columns->codes[column]);
        __builtin_prefetch(&columns->owners[column]);
        work->hits[work->hit_count++] = (struct sweep_hit){row, column};
    }
}

/* ---- buckets against buckets ---- */

/* The last half-byte of the last box of a turned code has one bit. */
static unsigned negated_nibble(const struct sweep *sweep, unsigned plane, unsigned nibble)
{
    const bool single = sweep->choice.box != 3 && plane == SWEEP_PLANES - 1;
    const bool last_group = plane >= SWEEP_PLANES - SWEEP_NIBBLES;
    return !last_group ? nibble : nibble ^ (single ? 1 : 15);
}

static uint16_t nibble_table(const struct sweep *sweep, unsigned plane, unsigned nibble)
{
    const int8_t *table = sweep->tables[sweep->weights[plane / SWEEP_NIBBLES] - 1][nibble];
    return (uint16_t)(table - sweep->tables[0][0]);
}

static bool load_sweep_row(struct sweep_work *work, uint32_t lane)
{
    const struct sweep *sweep = work->sweep;
    const struct sweep_block *block = &sweep->rows->blocks[lane / SWEEP_LANES];
    struct sweep_row row, negated;
    for (unsigned i = 0; i < SWEEP_PLANES; i++) {
        const unsigned nibble = block->planes[i][lane % SWEEP_LANES];
        row.tables[i] = nibble_table(sweep, i, nibble);
        negated.tables[i] = nibble_table(sweep, i, negated_nibble(sweep, i, nibble));
    }
    return array_push(&work->rows[0], row) && array_push(&work->rows[1], negated) &&
           array_push(&work->lanes, lane);
}

static void load_tile(struct sweep_work *work, uint32_t tile)
{
    const struct sweep_side *side = work->sweep->rows;
    work->rows[0].count = work->rows[1].count = work->lanes.count = 0;
    for (uint32_t i = 0; i < TILE_BUCKETS && !work->status; i++) {
        const uint32_t bucket = tile * TILE_BUCKETS + i;
        const uint32_t end = side->starts[bucket + 1] * SWEEP_LANES;
        for (uint32_t lane = side->starts[bucket] * SWEEP_LANES;
             lane < end && side->owners[lane] != SWEEP_NOBODY && !work->status; lane++)
            if (!load_sweep_row(work, lane))
                work->status = DOPPEL_E_MEMORY;
        work->ends[i + 1] = (uint32_t)work->lanes.count;
    }
}

/* Rows of the tile from `row` on against blocks of the columns from `block` on. */
static void run_sweep_task(struct sweep_work *work, const struct near_bucket *near,
                           struct sweep_task *task, uint32_t row, uint32_t block)
{
    const struct sweep *sweep = work->sweep;
    task->rows = &work->rows[near->negated].items[row];
    task->blocks = &sweep->columns->blocks[block];
    const size_t count = sweep->kernels->forms[sweep->form](task, work->near);
    for (size_t i = 0; i < count; i++)
        note_near_lanes(work, work->lanes.items[row + work->near[i].row],
                        (block + work->near[i].block) * SWEEP_LANES, work->near[i].lanes);
}

static uint32_t at_most(uint32_t count, uint32_t most)
{
    return count < most ? count : most;
}

static void sweep_bucket(struct sweep_work *work, uint32_t number, const struct near_bucket *near,
                         uint32_t bucket)
{
    const struct sweep *sweep = work->sweep;
    const uint32_t *starts = sweep->columns->starts;
    struct sweep_task task = {.tables = sweep->tables[0][0],
                              .centre = sweep->centre,
                              .limit = sweep->limits[near->distance]};
    for (uint32_t block = starts[bucket]; block < starts[bucket + 1]; block += task.block_count) {
        task.block_count = at_most(starts[bucket + 1] - block, SWEEP_TASK_BLOCKS);
        for (uint32_t row = work->ends[number]; row < work->ends[number + 1];
             row += task.row_count) {
            task.row_count = at_most(work->ends[number + 1] - row, SWEEP_TASK_ROWS);
            run_sweep_task(work, near, &task, row, block);
        }
    }
}

/* @param from,end of the near buckets, all of one tile */
static void sweep_tiles(struct sweep_work *work, uint32_t tile, size_t from, size_t end)
{
    const struct sweep *sweep = work->sweep;
    const struct near_bucket *near = sweep->near.items;
    for (uint32_t i = 0; i < TILE_BUCKETS && !work->status; i++) {
        const uint32_t bucket = tile * TILE_BUCKETS + i;
        if (work->ends[i] == work->ends[i + 1])
            continue;
        for (size_t at = from; at < end && !work->status; at++) {
            const uint32_t other = bucket ^ near[at].bits;
            if (sweep->rows != sweep->columns || other >= bucket)
                sweep_bucket(work, i, &near[at], other);
        }
    }
}

static bool is_empty_tile(const struct sweep_side *side, uint32_t tile)
{
    return side->starts[tile * TILE_BUCKETS] == side->starts[(tile + 1) * TILE_BUCKETS];
}

static void prefetch_tile(const struct sweep_side *side, uint32_t tile)
{
    enum { LINE = 64, MOST_BYTES = 16 << 10 };
    const char *at = (const char *)&side->blocks[side->starts[tile * TILE_BUCKETS]];
    const char *end = (const char *)&side->blocks[side->starts[(tile + 1) * TILE_BUCKETS]];
    for (size_t line = 0; line < MOST_BYTES && at + line < end; line += LINE)
        __builtin_prefetch(at + line);
}

static void sweep_tile(struct sweep_work *work, uint32_t tile)
{
    const struct sweep *sweep = work->sweep;
    const struct near_bucket *near = sweep->near.items;
    load_tile(work, tile);
    if (!work->lanes.count)
        return;
    for (size_t from = 0, end = 0; from < sweep->near.count && !work->status; from = end) {
        const uint32_t mask = near[from].bits / TILE_BUCKETS;
        while (end < sweep->near.count && near[end].bits / TILE_BUCKETS == mask)
            end++;
        if (end < sweep->near.count)
            prefetch_tile(sweep->columns, tile ^ near[end].bits / TILE_BUCKETS);
        if (!is_empty_tile(sweep->columns, tile ^ mask))
            sweep_tiles(work, tile, from, end);
    }
}

static void sweep_piece(void *context, size_t piece, size_t slot)
{
    struct sweep *sweep = context;
    struct sweep_work *work = &sweep->works[slot];
    work->pairs.count = work->hit_count = 0;
    work->status = DOPPEL_OK;
    for (uint32_t i = 0; i < sweep->piece_tiles && !work->status; i++)
        sweep_tile(work, (uint32_t)piece * sweep->piece_tiles + i);
    check_sweep_hits(work);
}

static bool deliver_sweep_piece(void *context, size_t piece, size_t slot)
{
    struct sweep *sweep = context;
    const struct sweep_work *work = &sweep->works[slot];
    const struct doppel_matcher *matcher = sweep->join->matcher;
    (void)piece;
    if (matcher->cancelled && matcher->cancelled(matcher->cancel_context))
        sweep->join->status = DOPPEL_E_CANCELLED;
    else if (work->status)
        sweep->join->status = work->status;
    else
        (void)join_note_pairs(sweep->join, work->pairs.items, work->pairs.count);
    return sweep->join->status == DOPPEL_OK;
}

/* ---- one box ---- */

static void add_near_bucket(struct sweep *sweep, uint32_t bits, int32_t distance, bool negated)
{
    const struct near_bucket near = {(uint16_t)bits, (uint8_t)distance, negated};
    if (!array_push(&sweep->near, near))
        sweep->join->status = DOPPEL_E_MEMORY;
}

/* All buckets within `share` bits. */
static void find_near_buckets(struct sweep *sweep, int32_t share)
{
    const struct sweep_choice *choice = &sweep->choice;
    const int32_t size =
        (choice->box == 3 ? SWEEP_LAST_BITS : SWEEP_BOX_BITS) - (int32_t)choice->spared;
    /* Bits that mirroring leaves alone. */
    const uint32_t kept = choice->box == 3 ? UINT32_MAX << (size - 1) : 0;
    sweep->near.count = 0;
    for (uint32_t bits = 0; bits >> sweep_bucket_bits(choice) == 0; bits++) {
        const int32_t all = __builtin_popcount(bits);
        const int32_t alone = choice->turned ? __builtin_popcount(bits & kept) : 0;
        const int32_t negated = size - (all - alone) + alone;
        if (all <= share)
            add_near_bucket(sweep, bits, all, false);
        if (choice->turned && choice->box && negated <= share)
            add_near_bucket(sweep, bits, negated, true);
    }
}

void sweep_make_tables(struct sweep *sweep)
{
    for (int weight = 1; weight <= 2; weight++)
        for (unsigned a = 0; a < 16; a++)
            for (unsigned b = 0; b < 16; b++)
                sweep->tables[weight - 1][a][b] = (int8_t)(weight * __builtin_popcount(a ^ b));
}

/* As wide a part of the box as leaves a bucket of the columns a block half full. */
void sweep_choose_buckets(struct sweep *sweep)
{
    enum { LEAST_BITS = 8, LEAST_CODES = SWEEP_LANES / 2 };
    struct sweep_choice *choice = &sweep->choice;
    const uint64_t codes = sweep_count_codes(choice);
    choice->spared = 0;
    if (sweep->box_bits)
        choice->spared = SWEEP_BOX_BITS - sweep->box_bits;
    else
        while (SWEEP_BOX_BITS - choice->spared > LEAST_BITS &&
               codes >> sweep_bucket_bits(choice) < LEAST_CODES)
            choice->spared++;
}

/* As many tiles a piece as have PIECE_BLOCKS, if codes were spread evenly. */
static uint32_t count_pieces(struct sweep *sweep)
{
    const uint32_t tiles = sweep->rows->buckets / TILE_BUCKETS;
    const uint32_t blocks = sweep->rows->starts[sweep->rows->buckets];
    sweep->piece_tiles = 1;
    while (sweep->piece_tiles < tiles &&
           (uint64_t)blocks * sweep->piece_tiles < (uint64_t)tiles * PIECE_BLOCKS)
        sweep->piece_tiles *= 2;
    return tiles / sweep->piece_tiles;
}

enum doppel_status sweep_run(struct sweep *sweep, int32_t share)
{
    struct ordered run = {.context = sweep,
                          .threads = sweep->join->matcher->threads,
                          .pieces = count_pieces(sweep),
                          .work = sweep_piece,
                          .deliver = deliver_sweep_piece};
    const size_t slots = ordered_slots(&run);
    find_near_buckets(sweep, share);
    sweep->works = calloc(slots, sizeof *sweep->works);
    if (!sweep->works || sweep->join->status)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < slots; i++)
        sweep->works[i].sweep = sweep;
    (void)ordered_run(&run);
    for (size_t i = 0; i < slots; i++) {
        array_free(&sweep->works[i].rows[0]);
        array_free(&sweep->works[i].rows[1]);
        array_free(&sweep->works[i].lanes);
        array_free(&sweep->works[i].pairs);
    }
    free(sweep->works);
    sweep->works = NULL;
    return sweep->join->status;
}
