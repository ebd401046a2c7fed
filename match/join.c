/*
 * All pairs of a matcher, each once. Pictures are taken in order of id, a block at a time. Those of
 * the blocks before lie in tables: by the codes under which they are found, and by those with which
 * they ask, since a crop meets a whole picture in one direction only. Those of the block itself lie
 * in small ones. A picture's look-ups in both give all its earlier candidates.
 */
#include "match/matcher_room.h"

#include <stdlib.h>
#include <string.h>

#include "core/ordered.h"
#include "match/pair.h"

enum {
    BLOCK = 512,          /* pictures; between blocks the threads meet */
    PICTURES_A_PIECE = 8, /* their look-ups share passes over the index */
    MAX_PIECE_WORDS = PICTURES_A_PIECE * MAX_LOOKUP_WORDS,
    MAX_PIECE_LOOKUPS = PICTURES_A_PIECE * MAX_LOOKUPS
};

/* The look-ups of the pictures of a piece, and whose each is. */
struct lookups {
    uint64_t words[MAX_PIECE_WORDS];
    uint8_t owner[MAX_PIECE_LOOKUPS];
    size_t count;
};

/* What is known of one picture of a piece. */
struct finding {
    uint32_t rank;
    struct candidates candidates;
    found_array found;        /* judged already */
    ARRAY(uint32_t) deferred; /* to be judged when it is known whether they lead */
};

/* One piece at work. */
struct piece {
    struct finding findings[PICTURES_A_PIECE];
    size_t count;
    struct lookups lookups;
    enum doppel_status status;
};

struct join {
    const struct doppel_matcher *matcher;
    bool leaders_only;
    doppel_leader_visitor *visitor;
    void *context;
    uint32_t *order; /* slots by id */
    uint32_t count;
    bool *follows; /* by rank */
    uint32_t block_start, block_end;
    struct tables before, block; /* payload = rank, the number of a picture in order of id */
    struct piece *pieces;        /* one a slot of the run */
    size_t piece_count;
    enum doppel_status status;
};

/* ---- one piece: look up, judge ---- */

struct gathering {
    struct piece *piece;
    const struct lookups *lookups;
};

static bool gather(void *context, const struct doppel_index_hit *hit)
{
    struct gathering *gathering = context;
    struct finding *finding = &gathering->piece->findings[gathering->lookups->owner[hit->query]];
    if (hit->payload >= finding->rank)
        return true;
    if (candidates_add(&finding->candidates, (uint32_t)hit->payload))
        return true;
    gathering->piece->status = DOPPEL_E_MEMORY;
    return false;
}

typedef size_t lookup_function(const struct doppel_fingerprint *fingerprint,
                               const struct doppel_match_options *options,
                               uint64_t out[MAX_LOOKUP_WORDS]);

static void fill_lookups(const struct join *join, struct piece *piece, lookup_function *look_up)
{
    struct lookups *lookups = &piece->lookups;
    size_t words_a_code = join->matcher->scheme->code_bits / 64u;
    lookups->count = 0;
    for (size_t i = 0; i < piece->count; i++) {
        struct unpacked picture;
        matcher_unpack(join->matcher, join->order[piece->findings[i].rank], &picture);
        size_t count = look_up(&picture.fingerprint, &join->matcher->options,
                               lookups->words + lookups->count * words_a_code);
        memset(lookups->owner + lookups->count, (int)i, count);
        lookups->count += count;
    }
}

static enum doppel_status search(struct piece *piece, const struct doppel_index *index,
                                 uint32_t radius)
{
    struct gathering gathering = {piece, &piece->lookups};
    return tables_search(index, piece->lookups.words, piece->lookups.count, radius, gather,
                         &gathering, NULL);
}

/* The full frames of a piece, as they are. */
static void fill_full(const struct join *join, struct piece *piece)
{
    struct lookups *lookups = &piece->lookups;
    for (lookups->count = 0; lookups->count < piece->count; lookups->count++) {
        struct unpacked picture;
        matcher_unpack(join->matcher, join->order[piece->findings[lookups->count].rank], &picture);
        memcpy(lookups->words + 4 * lookups->count, picture.fingerprint.codes[0].word,
               4 * sizeof *lookups->words);
        lookups->owner[lookups->count] = (uint8_t)lookups->count;
    }
}

static enum doppel_status search_all(const struct join *join, struct piece *piece)
{
    const struct tables *before = &join->before, *block = &join->block;
    uint32_t radius = join->matcher->radius, full_radius = join->matcher->full_radius;
    fill_lookups(join, piece, lookups_of_query);
    enum doppel_status status = search(piece, before->codes, radius);
    if (!status)
        status = search(piece, block->codes, radius);
    fill_lookups(join, piece, lookups_of_item);
    if (!status)
        status = search(piece, before->queries, radius);
    if (!status)
        status = search(piece, block->queries, radius);
    if (status || !full_radius)
        return status;
    fill_full(join, piece);
    status = search(piece, before->full, full_radius);
    return status ? status : search(piece, block->full, full_radius);
}

/* Judge a pair of ranks; false when there is no memory for what was found. */
static bool judge(const struct join *join, struct finding *finding, uint32_t rank)
{
    const struct doppel_matcher *matcher = join->matcher;
    struct unpacked query, item;
    uint32_t query_slot = join->order[rank], item_slot = join->order[finding->rank];
    struct doppel_found found = {.query = matcher->ids.items[query_slot],
                                 .id = matcher->ids.items[item_slot]};
    matcher_unpack(matcher, query_slot, &query);
    matcher_unpack(matcher, item_slot, &item);
    return !matcher_judge(matcher, &query.item, &item.item, &found) ||
           array_push(&finding->found, found);
}

/* Who leads within the block is not known yet: those wait until the results are handed over. */
static bool judge_candidates(const struct join *join, struct finding *finding)
{
    for (size_t i = 0; i < finding->candidates.list.count; i++) {
        uint32_t rank = finding->candidates.list.items[i];
        bool later = join->leaders_only && rank >= join->block_start;
        if (later ? !array_push(&finding->deferred, rank) : !judge(join, finding, rank))
            return false;
    }
    return true;
}

static void work(void *context, size_t number, size_t slot)
{
    struct join *join = context;
    struct piece *piece = &join->pieces[slot];
    uint32_t start = join->block_start + (uint32_t)number * PICTURES_A_PIECE;
    piece->count = 0;
    for (uint32_t rank = start; rank < start + PICTURES_A_PIECE && rank < join->block_end; rank++) {
        struct finding *finding = &piece->findings[piece->count++];
        finding->rank = rank;
        finding->found.count = finding->deferred.count = 0;
        candidates_clear(&finding->candidates);
    }
    piece->status = DOPPEL_OK;
    enum doppel_status status = search_all(join, piece);
    if (!piece->status)
        piece->status = status;
    for (size_t i = 0; i < piece->count && !piece->status; i++)
        if (!judge_candidates(join, &piece->findings[i]))
            piece->status = DOPPEL_E_MEMORY;
}

/* ---- results, in order ---- */

static int compare_queries(const void *left, const void *right)
{
    const struct doppel_found *a = left, *b = right;
    return a->query < b->query ? -1 : a->query > b->query;
}

static enum doppel_status hand_over(struct join *join, struct finding *finding)
{
    for (size_t i = 0; i < finding->deferred.count; i++) {
        uint32_t rank = finding->deferred.items[i];
        if (!join->follows[rank] && !judge(join, finding, rank))
            return DOPPEL_E_MEMORY;
    }
    if (finding->found.count > 1)
        qsort(finding->found.items, finding->found.count, sizeof *finding->found.items,
              compare_queries);
    for (size_t i = 0; i < finding->found.count; i++) {
        bool follows = false;
        if (!join->visitor(join->context, &finding->found.items[i], &follows))
            return DOPPEL_E_CANCELLED;
        join->follows[finding->rank] |= follows && join->leaders_only;
    }
    return DOPPEL_OK;
}

static bool deliver(void *context, size_t number, size_t slot)
{
    (void)number;
    struct join *join = context;
    struct piece *piece = &join->pieces[slot];
    join->status = piece->status;
    for (size_t i = 0; i < piece->count && !join->status; i++)
        join->status = hand_over(join, &piece->findings[i]);
    return join->status == DOPPEL_OK;
}

/* ---- blocks ---- */

/* Put the pictures of the block into tables; only those that lead, once that is known. */
static enum doppel_status fill_tables(struct join *join, struct tables *tables, bool leaders)
{
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t rank = join->block_start; rank < join->block_end && !status; rank++)
        if (!leaders || !join->follows[rank])
            status = tables_insert(tables, join->matcher, join->order[rank], rank, NULL);
    return status;
}

static enum doppel_status join_block(struct join *join, const struct ordered *run)
{
    enum doppel_status status = tables_make(join->matcher, true, &join->block, NULL);
    if (!status)
        status = fill_tables(join, &join->block, false);
    if (!status) {
        ordered_run(run);
        status = join->status;
    }
    if (!status)
        status = fill_tables(join, &join->before, true);
    tables_free(&join->block);
    return status;
}

static enum doppel_status join_blocks(struct join *join)
{
    enum doppel_status status = tables_make(join->matcher, true, &join->before, NULL);
    for (uint32_t start = 0; start < join->count && !status; start = join->block_end) {
        join->block_start = start;
        join->block_end = join->count - start < BLOCK ? join->count : start + BLOCK;
        uint32_t pictures = join->block_end - start;
        struct ordered run = {.context = join,
                              .threads = join->matcher->threads,
                              .pieces = (pictures + PICTURES_A_PIECE - 1) / PICTURES_A_PIECE,
                              .work = work,
                              .deliver = deliver};
        status = join_block(join, &run);
    }
    tables_free(&join->before);
    return status;
}

/* ---- the whole ---- */

struct slot_of_id {
    uint64_t id;
    uint32_t slot;
};

static int compare_ids(const void *left, const void *right)
{
    const struct slot_of_id *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* The slots of telling pictures, by id. */
static bool make_order(struct join *join)
{
    const struct doppel_matcher *matcher = join->matcher;
    size_t slots = matcher->ids.count;
    struct slot_of_id *ids = malloc((slots + 1) * sizeof *ids);
    join->order = malloc((slots + 1) * sizeof *join->order);
    join->follows = calloc(slots + 1, sizeof *join->follows);
    if (!ids || !join->order || !join->follows) {
        free(ids);
        return false;
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        if (matcher_is_telling(matcher, slot))
            ids[join->count++] = (struct slot_of_id){matcher->ids.items[slot], slot};
    if (join->count > 1)
        qsort(ids, join->count, sizeof *ids, compare_ids);
    for (uint32_t rank = 0; rank < join->count; rank++)
        join->order[rank] = ids[rank].slot;
    free(ids);
    return true;
}

static bool make_pieces(struct join *join)
{
    struct ordered run = {.threads = join->matcher->threads, .pieces = BLOCK / PICTURES_A_PIECE};
    join->piece_count = ordered_slots(&run);
    join->pieces = calloc(join->piece_count, sizeof *join->pieces);
    if (!join->pieces)
        return false;
    for (size_t i = 0; i < join->piece_count; i++)
        for (size_t j = 0; j < PICTURES_A_PIECE; j++)
            if (!candidates_make(&join->pieces[i].findings[j].candidates, join->count))
                return false;
    return true;
}

static void join_free(struct join *join)
{
    for (size_t i = 0; join->pieces && i < join->piece_count; i++)
        for (size_t j = 0; j < PICTURES_A_PIECE; j++) {
            struct finding *finding = &join->pieces[i].findings[j];
            candidates_free(&finding->candidates);
            array_free(&finding->found);
            array_free(&finding->deferred);
        }
    free(join->pieces);
    free(join->order);
    free(join->follows);
}

static enum doppel_status run_join(struct join *join, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (make_order(join) && make_pieces(join))
        status = join_blocks(join);
    join_free(join);
    if (status == DOPPEL_E_MEMORY)
        doppel_fail(error, status, "no memory to compare %u pictures", join->count);
    else if (status == DOPPEL_E_CANCELLED)
        doppel_fail(error, status, "the comparison was ended by its caller");
    return status;
}

enum doppel_status doppel_matcher_lead(const struct doppel_matcher *matcher,
                                       doppel_leader_visitor *visitor, void *context,
                                       struct doppel_error *error)
{
    struct join join = {
        .matcher = matcher, .leaders_only = true, .visitor = visitor, .context = context};
    return run_join(&join, error);
}

struct pair_visitor {
    doppel_found_visitor *visitor;
    void *context;
};

static bool visit_pair(void *context, const struct doppel_found *found, bool *out_follows)
{
    (void)out_follows;
    struct pair_visitor *visitor = context;
    return visitor->visitor(visitor->context, found);
}

enum doppel_status doppel_matcher_join(const struct doppel_matcher *matcher,
                                       doppel_found_visitor *visitor, void *context,
                                       struct doppel_error *error)
{
    struct pair_visitor pairs = {visitor, context};
    struct join join = {.matcher = matcher, .visitor = visit_pair, .context = &pairs};
    return run_join(&join, error);
}
