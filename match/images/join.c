/*
 * All pairs of a matcher, each once, in order of id. Pictures are taken in blocks: all of them at
 * once, if they are not too much alike. Those of a block that may match each other, or a picture
 * before the block, are found together (join_meet.c), then judged, then handed over in order.
 */
#include "match/images/join_internal.h"

#include <stdlib.h>

#include "core/ordered.h"
#include "match/images/pair.h"

enum { MEETINGS_A_PIECE = 64, MEETINGS_A_IMAGE = 4, FEWEST_MEETINGS = 1 << 16 };

/* A piece of the meetings at work. */
struct judging {
    struct doppel_found found[MEETINGS_A_PIECE];
    bool judged[MEETINGS_A_PIECE], matches[MEETINGS_A_PIECE];
};

/* ---- judging, on any thread ---- */

static bool verify_meeting(const struct join *join, const struct meeting *meeting,
                           struct doppel_found *out)
{
    const struct doppel_matcher *matcher = join->matcher;
    struct unpacked query, item;
    uint32_t query_slot = join->order[meeting->earlier], item_slot = join->order[meeting->later];
    *out = (struct doppel_found){.query = matcher->ids.items[query_slot],
                                 .id = matcher->ids.items[item_slot]};
    matcher_unpack(matcher, query_slot, &query);
    matcher_unpack(matcher, item_slot, &item);
    return matcher_verify(matcher, &query.item, &item.item, out);
}

static void verify_join_pair(const struct join *join, size_t number, struct judging *judging)
{
    size_t place = number % MEETINGS_A_PIECE;
    judging->judged[place] = true;
    judging->matches[place] =
        verify_meeting(join, &join->meetings.items[number], &judging->found[place]);
}

static size_t end_of_piece(const struct join *join, size_t piece)
{
    size_t end = (piece + 1) * MEETINGS_A_PIECE;
    return end < join->meetings.count ? end : join->meetings.count;
}

/* Who leads within the block is not known yet: those wait until they are handed over. */
static void join_images_share(void *context, size_t piece, size_t slot)
{
    struct join *join = context;
    struct judging *judging = &join->judgings[slot];
    for (size_t i = piece * MEETINGS_A_PIECE; i < end_of_piece(join, piece); i++) {
        judging->judged[i % MEETINGS_A_PIECE] = false;
        if (!join->leaders_only || join->meetings.items[i].earlier < join->start)
            verify_join_pair(join, i, judging);
    }
}

static bool emit_image_pair(struct join *join, const struct meeting *meeting,
                            const struct doppel_found *found)
{
    bool follows = false;
    if (!join->visitor(join->context, found, &follows)) {
        join->status = DOPPEL_E_CANCELLED;
        return false;
    }
    join->follows[meeting->later] |= follows && join->leaders_only;
    return true;
}

static bool hand_over(struct join *join, size_t number, struct judging *judging)
{
    size_t place = number % MEETINGS_A_PIECE;
    const struct meeting *meeting = &join->meetings.items[number];
    if (join->follows[meeting->earlier])
        return true;
    if (!judging->judged[place])
        verify_join_pair(join, number, judging);
    return !judging->matches[place] || emit_image_pair(join, meeting, &judging->found[place]);
}

bool join_emit(struct join *join, const struct meeting *meeting)
{
    struct doppel_found found;
    return !verify_meeting(join, meeting, &found) || emit_image_pair(join, meeting, &found);
}

static bool deliver_image_pairs(void *context, size_t piece, size_t slot)
{
    struct join *join = context;
    for (size_t i = piece * MEETINGS_A_PIECE; i < end_of_piece(join, piece); i++)
        if (!hand_over(join, i, &join->judgings[slot]))
            return false;
    return true;
}

/* ---- blocks ---- */

enum doppel_status join_judge(struct join *join)
{
    const struct ordered run = {.context = join,
                                .threads = join->matcher->threads,
                                .pieces = (join->meetings.count + MEETINGS_A_PIECE - 1) /
                                          MEETINGS_A_PIECE,
                                .work = join_images_share,
                                .deliver = deliver_image_pairs};
    return ordered_run(&run) ? DOPPEL_OK : join->status;
}

/* Where pictures are so much alike that their pairs do not fit, a block is made smaller: of those
 * that then follow a representative no more pairs are formed. */
static enum doppel_status join_blocks(struct join *join)
{
    enum doppel_status status = DOPPEL_OK;
    uint32_t size = join->count;
    for (join->start = 0; join->start < join->count && !status;) {
        join->end = join->count - join->start < size ? join->count : join->start + size;
        status = join_meet(join);
        if (status == DOPPEL_E_LIMIT) {
            size = (join->end - join->start + 3) / 4;
            status = DOPPEL_OK;
            continue;
        }
        if (!status)
            status = join_judge(join);
        join->start = join->end;
        if (join->meetings.count < join->most / 8 && size < join->count / 2)
            size *= 2;
    }
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
    join->places = malloc((slots + 1) * sizeof *join->places);
    join->follows = calloc(slots + 1, sizeof *join->follows);
    if (!ids || !join->order || !join->places || !join->follows) {
        free(ids);
        return false;
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        if (matcher_is_distinctive(matcher, slot))
            ids[join->count++] = (struct slot_of_id){matcher->ids.items[slot], slot};
    if (join->count > 1)
        qsort(ids, join->count, sizeof *ids, compare_ids);
    for (uint32_t rank = 0; rank < join->count; rank++) {
        /* All of them were put there. */
        uint32_t slot = ids[rank].slot; // NOLINT(clang-analyzer-core.*)
        const struct packed *packed = &matcher->packed.items[slot];
        join->order[rank] = slot;
        join->places[rank] = (struct place){packed->first, packed->views};
    }
    free(ids);
    return true;
}

static void make_gate(struct join *join)
{
    const struct doppel_matcher *matcher = join->matcher;
    join->gated = matcher->scheme->id == DOPPEL_SCHEME_PHASH64 && !matcher->has_bare &&
                  gate_of_options(&matcher->options, &join->gate);
}

static bool make_judgings(struct join *join)
{
    struct ordered run = {.threads = join->matcher->threads, .pieces = SIZE_MAX};
    join->judgings = calloc(ordered_slots(&run), sizeof *join->judgings);
    join->most = (size_t)join->count * MEETINGS_A_IMAGE;
    if (join->most < FEWEST_MEETINGS)
        join->most = FEWEST_MEETINGS;
    return join->judgings != NULL;
}

void join_end(struct join *join)
{
    array_free(&join->meetings);
    free(join->judgings);
    free(join->order);
    free(join->places);
    free(join->follows);
}

enum doppel_status join_begin(struct join *join)
{
    make_gate(join);
    return make_order(join) && make_judgings(join) ? DOPPEL_OK : DOPPEL_E_MEMORY;
}

enum doppel_status join_fail(const struct join *join, enum doppel_status status,
                             struct doppel_error *error)
{
    if (status == DOPPEL_E_MEMORY)
        doppel_fail(error, status, "no memory to compare %u pictures", join->count);
    else if (status == DOPPEL_E_CANCELLED)
        doppel_fail(error, status, "the comparison was ended by its caller");
    else if (status)
        doppel_fail(error, status, "%u pictures cannot be compared", join->count);
    return status;
}

static enum doppel_status run_image_join(struct join *join, struct doppel_error *error)
{
    enum doppel_status status = join_begin(join);
    if (!status)
        status = join_blocks(join);
    join_end(join);
    return join_fail(join, status, error);
}

enum doppel_status doppel_matcher_lead(const struct doppel_matcher *matcher,
                                       doppel_leader_visitor *visitor, void *context,
                                       struct doppel_error *error)
{
    struct join join = {
        .matcher = matcher, .leaders_only = true, .visitor = visitor, .context = context};
    return run_image_join(&join, error);
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
    return run_image_join(&join, error);
}
