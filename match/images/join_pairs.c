/* The pairs of a matcher found now, and judged now or another time. */
#include "match/images/join_internal.h"

#include <stdlib.h>

#include "core/try.h"

/* Mark the ranks of ids, which are in order. */
static void mark_ranks(const struct join *join, const uint64_t *ids, size_t count, bool *out)
{
    size_t at = 0;
    for (uint32_t rank = 0; rank < join->count; rank++) {
        const uint64_t id = join->matcher->ids.items[join->order[rank]];
        while (at < count && ids[at] < id)
            at++;
        out[rank] = at < count && ids[at] == id;
    }
}

static enum doppel_status meet_fresh(struct join *join, const uint64_t *fresh, size_t count)
{
    bool *some = malloc((size_t)join->count + 1);
    if (!some)
        return DOPPEL_E_MEMORY;
    mark_ranks(join, fresh, count, some);
    enum doppel_status status = join_meet_some(join, some);
    join_settle(join);
    free(some);
    return status;
}

/* Meetings as pairs of ids. @param out given (free) */
static enum doppel_status pairs_of_meetings(const struct join *join, struct doppel_image_pair **out)
{
    const uint64_t *ids = join->matcher->ids.items;
    struct doppel_image_pair *pairs = calloc(join->meetings.count + 1, sizeof *pairs);
    if (!pairs)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < join->meetings.count; i++) {
        const struct meeting *meeting = &join->meetings.items[i];
        pairs[i] = (struct doppel_image_pair){ids[join->order[meeting->earlier]],
                                              ids[join->order[meeting->later]]};
    }
    *out = pairs;
    return DOPPEL_OK;
}

enum doppel_status doppel_matcher_meet(const struct doppel_matcher *matcher, const uint64_t *fresh,
                                       size_t fresh_count, struct doppel_image_pair **out,
                                       size_t *out_count, struct doppel_error *error)
{
    struct join join = {.matcher = matcher};
    enum doppel_status status;
    TRY(join_begin(&join));
    join.end = join.count;
    TRY(fresh ? meet_fresh(&join, fresh, fresh_count) : join_meet(&join));
    TRY(pairs_of_meetings(&join, out));
    *out_count = join.meetings.count;
done:
    join_end(&join);
    return join_fail(&join, status, error);
}

/* ---- judging ---- */

/* @param ranks by slot. @return UINT32_MAX: it is not there, or not compared */
static uint32_t rank_of_id(const struct join *join, const uint32_t *ranks, uint64_t id)
{
    const uint32_t slot = id_map_find(&join->matcher->map, id);
    return slot == ID_MAP_NONE ? UINT32_MAX : ranks[slot];
}

static enum doppel_status meetings_of_pairs(struct join *join,
                                            const struct doppel_image_pair *pairs, size_t count)
{
    const size_t slots = join->matcher->ids.count;
    uint32_t *ranks = malloc((slots + 1) * sizeof *ranks);
    if (!ranks)
        return DOPPEL_E_MEMORY;
    for (size_t slot = 0; slot < slots; slot++)
        ranks[slot] = UINT32_MAX;
    for (uint32_t rank = 0; rank < join->count; rank++)
        ranks[join->order[rank]] = rank;
    bool room = true;
    for (size_t i = 0; i < count && room; i++) {
        const uint32_t a = rank_of_id(join, ranks, pairs[i].a);
        const uint32_t b = rank_of_id(join, ranks, pairs[i].b);
        if (a != UINT32_MAX && b != UINT32_MAX && a != b)
            room = array_push(&join->meetings, ((struct meeting){a < b ? a : b, a < b ? b : a}));
    }
    join_settle(join);
    free(ranks);
    return room ? DOPPEL_OK : DOPPEL_E_MEMORY;
}

enum doppel_status doppel_matcher_lead_pairs(const struct doppel_matcher *matcher,
                                             const struct doppel_image_pair *pairs, size_t count,
                                             doppel_leader_visitor *visitor, void *context,
                                             struct doppel_error *error)
{
    struct join join = {
        .matcher = matcher, .leaders_only = true, .visitor = visitor, .context = context};
    enum doppel_status status;
    TRY(join_begin(&join));
    join.end = join.count;
    TRY(meetings_of_pairs(&join, pairs, count));
    TRY(join_judge(&join));
done:
    join_end(&join);
    return join_fail(&join, status, error);
}
