/*
 * The join: all pairs of codes within a radius, of one collection or of two, each once. By
 * bucket-pair blocks: a code is cut into chunks, as in the Hamming table; for each chunk in turn
 * the codes are sorted by its prefix, and bucket b is compared as a block with every bucket b ^
 * mask whose mask has no more bits than the chunk's share of the radius. A pair belongs to the
 * first chunk that finds it. Tiles of neighbouring buckets are pieces of work, shared out among
 * threads.
 */
#include <doppel/index.h>

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/ordered.h"
#include "index/join/kernel.h"

enum {
    TILE_BYTES = 24 << 10,     /* two of them stay in the level-2 cache, about one in the first */
    TILE_BITS_MAX = 14,        /* a mask within a tile has 16 bits */
    PIECE_CODES = 8192,        /* on the left; a tile that is larger makes several pieces */
    PIECE_PAIRS_MAX = 1 << 16, /* kept until it is their turn */
};

/* Buckets of a tile from `tile << tile_bits` on, and places in it. */
struct piece {
    uint32_t tile;
    size_t from, to;
};

/* A piece at work. */
struct work {
    struct code_join *join;
    struct join_hits hits;
    struct doppel_index_pair checked[JOIN_HITS];
    ARRAY(struct doppel_index_pair) pairs;
    bool at_once; /* pairs are visited as they are found: the piece has its turn */
    bool too_many, no_memory;
};

struct code_join {
    const struct doppel_index_pairing *pairing;
    doppel_index_pair_visitor *visitor;
    void *context;
    const struct join_kernels *kernels;
    struct join_plan plan;
    struct join_side sides[2];
    const struct join_side *left, *right; /* the same of a self-join */
    uint32_t chunk;                       /* at work */
    uint32_t tile_bits;
    struct join_masks masks;
    ARRAY(struct piece) pieces;
    struct work *works; /* one a slot, and one for pieces that are done when they have their turn */
    size_t slots;
    enum doppel_status status;
};

/* ---- pairs ---- */

static bool visit_joined_pairs(struct code_join *join, const struct doppel_index_pair *pairs,
                               size_t count)
{
    if (count && !join->visitor(join->context, pairs, count))
        join->status = DOPPEL_E_CANCELLED;
    return join->status == DOPPEL_OK;
}

static bool keep_work(struct work *work, const struct doppel_index_pair *pairs, size_t count)
{
    work->too_many = work->pairs.count + count > PIECE_PAIRS_MAX;
    for (size_t i = 0; i < count && !work->too_many && !work->no_memory; i++)
        work->no_memory = !array_push(&work->pairs, pairs[i]);
    return !work->too_many && !work->no_memory;
}

static bool flush_join_hits(struct join_hits *hits)
{
    struct work *work = hits->context;
    struct code_join *join = work->join;
    const struct doppel_index_pairing *pairing = join->pairing;
    struct join_check check = {&join->plan, join->left, join->right, join->chunk};
    size_t count = join->kernels->check(&check, hits->items, hits->count, work->checked);
    hits->count = 0;
    if (count && pairing->filter)
        count = pairing->filter(pairing->filter_context, work->checked, count);
    return work->at_once ? visit_joined_pairs(join, work->checked, count)
                         : keep_work(work, work->checked, count);
}

/* ---- one piece: a tile with all that differ from it by few of the upper bits ---- */

static join_kernel *kernel_of(const struct code_join *join)
{
    if (join->left->lanes && (join->plan.sketches || join->plan.bits == 32))
        return join->kernels->lanes;
    return join->plan.words == 1   ? join->kernels->words1
           : join->plan.words == 2 ? join->kernels->words2
                                   : join->kernels->words4;
}

/* A chunk of a plan that compares all with all has no prefix. */
static void compare_piece(struct work *work, const struct piece *piece)
{
    struct code_join *join = work->join;
    const struct join_chunk *chunk = &join->plan.chunk[join->chunk];
    join_kernel *kernel = kernel_of(join);
    uint32_t tiles = 1u << (chunk->prefix - join->tile_bits);
    struct join_block block = {.left = join->left,
                               .right = join->right,
                               .buckets = 1u << join->tile_bits,
                               .from = piece->from,
                               .to = piece->to,
                               .masks = &join->masks,
                               .sketches = join->plan.sketches,
                               .hits = &work->hits};
    block.left_starts = join->left->starts + ((size_t)piece->tile << join->tile_bits);
    work->hits.count = 0;
    for (uint32_t mask = 0; mask < tiles; mask++) {
        uint32_t other = piece->tile ^ mask;
        int32_t weight = __builtin_popcount(mask);
        if (weight > chunk->share || (join->left == join->right && other < piece->tile))
            continue;
        block.right_starts = join->right->starts + ((size_t)other << join->tile_bits);
        block.same = join->left == join->right && !mask;
        block.weight = chunk->share - weight;
        if (block.weight > (int32_t)join->tile_bits)
            block.weight = (int32_t)join->tile_bits;
        block.limit = (int32_t)join->plan.radius - (block.sketches ? weight : 0);
        if (block.limit >= 0 && !kernel(&block))
            return;
    }
    (void)flush_join_hits(&work->hits);
}

static void work_on_join(void *context, size_t number, size_t slot)
{
    struct code_join *join = context;
    struct work *work = &join->works[slot];
    work->pairs.count = 0;
    work->too_many = work->no_memory = false;
    compare_piece(work, &join->pieces.items[number]);
}

/* A piece with more pairs than are kept is done again, now that they can be visited at once. */
static bool deliver_join(void *context, size_t number, size_t slot)
{
    struct code_join *join = context;
    struct work *work = &join->works[slot];
    const struct doppel_index_pairing *pairing = join->pairing;
    if (pairing->cancelled && pairing->cancelled(pairing->cancel_context))
        join->status = DOPPEL_E_CANCELLED;
    else if (work->no_memory)
        join->status = DOPPEL_E_MEMORY;
    else if (work->too_many)
        compare_piece(&join->works[join->slots], &join->pieces.items[number]);
    else if (!work->at_once)
        (void)visit_joined_pairs(join, work->pairs.items, work->pairs.count);
    return join->status == DOPPEL_OK;
}

/* ---- one chunk ---- */

static uint32_t tile_bits_of(const struct code_join *join, uint32_t prefix)
{
    const struct join_plan *plan = &join->plan;
    size_t code_bytes = plan->sketches || plan->bits == 32 ? 4 : 8 * plan->words;
    size_t codes = join->left->count > join->right->count ? join->left->count : join->right->count;
    uint32_t bits = prefix < TILE_BITS_MAX ? prefix : TILE_BITS_MAX;
    while (bits && (codes * code_bytes >> (prefix - bits)) > TILE_BYTES)
        bits--;
    return bits;
}

static bool make_masks(struct code_join *join, int32_t share)
{
    uint32_t count = 0, end = 1u << join->tile_bits;
    uint16_t *items = realloc(join->masks.items, end * sizeof *items);
    if (!items)
        return false;
    join->masks.items = items;
    for (uint32_t weight = 0; weight <= join->tile_bits; weight++) {
        for (uint32_t mask = 0; mask < end && (int32_t)weight <= share; mask++)
            if ((uint32_t)__builtin_popcount(mask) == weight)
                items[count++] = (uint16_t)mask;
        join->masks.ends[weight] = count;
    }
    return true;
}

static bool make_pieces(struct code_join *join, uint32_t prefix)
{
    uint32_t tiles = 1u << (prefix - join->tile_bits);
    const uint32_t *starts = join->left->starts;
    join->pieces.count = 0;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        size_t end = starts[(size_t)(tile + 1) << join->tile_bits];
        for (size_t from = starts[(size_t)tile << join->tile_bits]; from < end;
             from += PIECE_CODES) {
            struct piece piece = {tile, from, end - from < PIECE_CODES ? end : from + PIECE_CODES};
            if (!array_push(&join->pieces, piece))
                return false;
        }
    }
    return true;
}

static enum doppel_status join_chunk(struct code_join *join)
{
    const struct doppel_index_pairing *pairing = join->pairing;
    const struct join_chunk *chunk = &join->plan.chunk[join->chunk];
    join->tile_bits = tile_bits_of(join, chunk->prefix);
    if (!join_side_sort(&join->plan, chunk, pairing->left, &join->sides[0]) ||
        (pairing->right && !join_side_sort(&join->plan, chunk, pairing->right, &join->sides[1])))
        return DOPPEL_E_ARGUMENT;
    if (!make_masks(join, chunk->share) || !make_pieces(join, chunk->prefix))
        return DOPPEL_E_MEMORY;
    struct ordered run = {.context = join,
                          .threads = pairing->threads,
                          .pieces = join->pieces.count,
                          .work = work_on_join,
                          .deliver = deliver_join};
    (void)ordered_run(&run);
    return join->status;
}

/* ---- the whole ---- */

static bool make_works(struct code_join *join)
{
    struct ordered run = {.threads = join->pairing->threads, .pieces = SIZE_MAX};
    join->slots = ordered_slots(&run);
    join->works = calloc(join->slots + 1, sizeof *join->works);
    for (size_t i = 0; join->works && i <= join->slots; i++) {
        struct work *work = &join->works[i];
        work->join = join;
        work->hits.flush = flush_join_hits;
        work->hits.context = work;
        work->at_once = join->slots == 1 || i == join->slots;
    }
    return join->works != NULL;
}

static void join_free(struct code_join *join)
{
    for (size_t i = 0; join->works && i <= join->slots; i++)
        array_free(&join->works[i].pairs);
    free(join->works);
    free(join->masks.items);
    array_free(&join->pieces);
    join_side_free(&join->sides[0]);
    join_side_free(&join->sides[1]);
}

static enum doppel_status join_chunks(struct code_join *join)
{
    const struct doppel_index_pairing *pairing = join->pairing;
    enum doppel_status status = join_plan_make(pairing, &join->plan);
    if (status)
        return status;
    if (!join_side_make(&join->plan, pairing->left->count, &join->sides[0]) ||
        (pairing->right && !join_side_make(&join->plan, pairing->right->count, &join->sides[1])) ||
        !make_works(join))
        return DOPPEL_E_MEMORY;
    join->left = &join->sides[0];
    join->right = &join->sides[pairing->right ? 1 : 0];
    for (join->chunk = 0; join->chunk < join->plan.chunks && !status; join->chunk++)
        if (join->plan.chunk[join->chunk].share >= 0)
            status = join_chunk(join);
    return status;
}

static enum doppel_status check_index_pairing(const struct doppel_index_pairing *pairing,
                                              struct doppel_error *error)
{
    const struct doppel_index_codes *sides[] = {pairing->left, pairing->right};
    uint32_t bits = pairing->bits;
    if (bits != 32 && bits != 64 && bits != 128 && bits != 256)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "codes have 32, 64, 128 or 256 bits, not %u",
                           bits);
    for (int i = 0; i < 2; i++)
        if (sides[i] && sides[i]->count > UINT32_MAX - JOIN_PAD)
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "%zu codes are too many to be joined",
                               sides[i]->count);
    return DOPPEL_OK;
}

enum doppel_status doppel_index_pair_up(const struct doppel_index_pairing *pairing,
                                        doppel_index_pair_visitor *visitor, void *context,
                                        struct doppel_error *error)
{
    struct code_join join = {.pairing = pairing,
                             .visitor = visitor,
                             .context = context,
                             .kernels = join_kernels_choose()};
    enum doppel_status status = check_index_pairing(pairing, error);
    if (status)
        return status;
    status = join_chunks(&join);
    join_free(&join);
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "no memory to join %zu codes", pairing->left->count);
    if (status == DOPPEL_E_ARGUMENT)
        return doppel_fail(error, status, "the codes to be joined changed meanwhile");
    if (status == DOPPEL_E_CANCELLED)
        return doppel_fail(error, status, "the join was ended by its caller");
    return status;
}
