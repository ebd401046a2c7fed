/*
 * The pairs of pictures most of which were joined before. A picture is old when it was there, and
 * stands in the same order to all others that are old. What an old one that led matches among the
 * old is known: the pairs that were kept. What is not old is joined with all; so is an old one
 * that followed and leads now, as soon as that shows.
 */
#include "match/images/join_internal.h"

#include <string.h>

/* Of those that may have to lead so many at most are joined at once. */
enum { ORPHANS = 4096 };

static const uint32_t NONE = UINT32_MAX;

struct again {
    struct join join;
    const struct doppel_former *former;
    uint32_t *places;      /* by rank; NONE: it is not old */
    bool *searched, *some; /* by rank: all its meetings are there; to be searched now */
    meeting_array known;   /* the kept pairs that were followed, by later */
    uint32_t most_orphans;
};

/* ---- who is old ---- */

/* The place of each picture that was there. */
static void find_cached_places(struct again *again)
{
    const struct doppel_former *former = again->former;
    const struct join *join = &again->join;
    size_t at = 0;
    for (uint32_t rank = 0; rank < join->count; rank++) {
        uint64_t id = join->matcher->ids.items[join->order[rank]];
        while (at < former->image_count && former->images[at].id < id)
            at++;
        bool known = at < former->image_count && former->images[at].id == id;
        again->places[rank] = known ? former->images[at].place : NONE;
    }
}

/* Keep the places of a longest run of ranks whose places ascend, and forget the others'. Source:
 * Fredman, "On computing the length of longest increasing subsequences" (1975). */
static bool keep_order(struct again *again)
{
    uint32_t count = again->join.count, length = 0;
    uint32_t *ends =
        malloc((count + 1) * sizeof *ends); /* the rank that ends a run of length i + 1 */
    uint32_t *before = malloc((count + 1) * sizeof *before);
    for (uint32_t rank = 0; ends && before && rank < count; rank++) {
        uint32_t low = 0, high = length, place = again->places[rank];
        if (place == NONE)
            continue;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (again->places[ends[middle]] < place)
                low = middle + 1;
            else
                high = middle;
        }
        before[rank] = low ? ends[low - 1] : NONE;
        ends[low] = rank;
        length += low == length;
    }
    bool done = ends && before;
    for (uint32_t next = done && length ? ends[length - 1] : NONE, rank = count;
         done && rank-- > 0;)
        if (rank == next)
            next = before[rank];
        else
            again->places[rank] = NONE;
    free(ends);
    free(before);
    return done;
}

static int compare_known(const void *left, const void *right)
{
    const struct meeting *a = left, *b = right;
    return (a->later > b->later) - (a->later < b->later);
}

static uint32_t end_of_places(const struct again *again)
{
    uint32_t end = 0;
    for (uint32_t rank = 0; rank < again->join.count; rank++)
        if (again->places[rank] != NONE && again->places[rank] >= end)
            end = again->places[rank] + 1;
    return end;
}

/* The kept pairs of old ones, by rank; and of the old ones those that followed nobody were searched
 * then. */
static bool take_cached(struct again *again)
{
    uint32_t end = end_of_places(again);
    uint32_t *ranks = malloc((end + 1) * sizeof *ranks);
    bool room = ranks != NULL;
    if (room)
        memset(ranks, 0xff, (end + 1) * sizeof *ranks);
    for (uint32_t rank = 0; room && rank < again->join.count; rank++)
        if (again->places[rank] != NONE) {
            ranks[again->places[rank]] = rank;
            again->searched[rank] = true;
        }
    for (size_t i = 0; room && i < again->former->pair_count; i++) {
        const struct doppel_former_pair *pair = &again->former->pairs[i];
        uint32_t earlier = pair->leader < end ? ranks[pair->leader] : NONE;
        uint32_t later = pair->follower < end ? ranks[pair->follower] : NONE;
        struct meeting meeting = {earlier, later};
        if (later != NONE && !pair->weak)
            again->searched[later] = false;
        if (later == NONE || earlier == NONE || earlier >= later)
            continue;
        room = array_push(&again->join.meetings, meeting) &&
               (pair->weak || array_push(&again->known, meeting));
    }
    if (room && again->known.count > 1)
        qsort(again->known.items, again->known.count, sizeof *again->known.items, compare_known);
    free(ranks);
    return room;
}

/* ---- searching ---- */

static enum doppel_status search_new(struct again *again)
{
    bool any = false;
    for (uint32_t rank = 0; rank < again->join.count; rank++) {
        again->some[rank] = again->places[rank] == NONE;
        again->searched[rank] |= again->some[rank];
        any |= again->some[rank];
    }
    enum doppel_status status = any ? join_look_up_some(&again->join, again->some) : DOPPEL_OK;
    join_settle(&again->join);
    return status;
}

/* Mark `rank` and others after it that follow nobody any more, by what is known so far. */
static void mark_orphans(struct again *again, uint32_t rank)
{
    const struct join *join = &again->join;
    size_t at = 0, count = again->known.count;
    uint32_t marked = 0;
    memset(again->some, 0, join->count * sizeof *again->some);
    while (at < count && again->known.items[at].later < rank)
        at++;
    for (; rank < join->count && marked < again->most_orphans; rank++) {
        bool is_led = false;
        for (; at < count && again->known.items[at].later == rank; at++)
            is_led |= !join->follows[again->known.items[at].earlier];
        again->some[rank] = !is_led && !again->searched[rank];
        marked += again->some[rank];
    }
}

/* As many of them as there is room for the meetings of. */
static enum doppel_status meet_orphans(struct again *again, uint32_t rank)
{
    struct join *join = &again->join;
    for (;;) {
        mark_orphans(again, rank);
        join->start = again->most_orphans == 1 ? join->count - 1 : 0; /* one has room for all */
        enum doppel_status status = join_look_up_some(join, again->some);
        if (status != DOPPEL_E_LIMIT)
            return status;
        join->meetings.count = 0;
        again->most_orphans = (again->most_orphans + 3) / 4;
    }
}

/* Search for what `rank` leads, which is reported. @param rest what is not reported yet, by later
 */
static enum doppel_status search_orphans(struct again *again, uint32_t rank,
                                         const struct meeting *rest, size_t rest_count)
{
    struct join *join = &again->join;
    join->meetings = (meeting_array){0};
    enum doppel_status status = meet_orphans(again, rank);
    for (uint32_t i = rank; i < join->count; i++)
        again->searched[i] |= again->some[i];
    size_t kept = 0;
    for (size_t i = 0; i < join->meetings.count; i++)
        if (join->meetings.items[i].later > rank)
            join->meetings.items[kept++] = join->meetings.items[i];
    join->meetings.count = kept;
    for (size_t i = 0; i < rest_count && !status; i++)
        status = array_push(&join->meetings, rest[i]) ? DOPPEL_OK : DOPPEL_E_MEMORY;
    join_settle(join);
    return status;
}

/* ---- telling ---- */

static enum doppel_status emit_all(struct again *again)
{
    struct join *join = &again->join;
    enum doppel_status status = DOPPEL_OK;
    size_t at = 0;
    for (uint32_t rank = 0; rank < join->count && !status; rank++) {
        for (; at < join->meetings.count && join->meetings.items[at].later == rank; at++) {
            struct meeting meeting = join->meetings.items[at];
            if (!join->follows[meeting.earlier] && !join_emit(join, &meeting))
                return join->status;
        }
        if (join->follows[rank] || again->searched[rank])
            continue;
        meeting_array told = join->meetings;
        size_t rest_count = told.count - at;
        const struct meeting *rest = rest_count ? told.items + at : NULL;
        status = search_orphans(again, rank, rest, rest_count);
        array_free(&told);
        at = 0;
    }
    return status;
}

/* Whether so few are new that to join them alone is worth it. */
static bool is_worth_it(const struct again *again)
{
    uint32_t old = 0;
    for (uint32_t rank = 0; rank < again->join.count; rank++)
        old += again->places[rank] != NONE;
    return old > again->join.count / 2;
}

/* @return DOPPEL_E_LIMIT when they are to be joined again; nothing was reported */
static enum doppel_status run_cached(struct again *again)
{
    struct join *join = &again->join;
    enum doppel_status status = join_begin(join);
    size_t room = (size_t)join->count + 1;
    if (status)
        return status;
    again->places = malloc(room * sizeof *again->places);
    again->searched = calloc(room, sizeof *again->searched);
    again->some = calloc(room, sizeof *again->some);
    if (!again->places || !again->searched || !again->some)
        return DOPPEL_E_MEMORY;
    join->end = join->count;
    find_cached_places(again);
    if (!keep_order(again))
        return DOPPEL_E_MEMORY;
    if (!is_worth_it(again))
        return DOPPEL_E_LIMIT;
    if (!take_cached(again))
        return DOPPEL_E_MEMORY;
    join->most += join->meetings.count;
    status = search_new(again);
    return status ? status : emit_all(again);
}

enum doppel_status doppel_matcher_lead_cached(const struct doppel_matcher *matcher,
                                              const struct doppel_former *former,
                                              doppel_leader_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    struct again again = {
        .join = {.matcher = matcher, .leaders_only = true, .visitor = visitor, .context = context},
        .former = former,
        .most_orphans = ORPHANS};
    enum doppel_status status = run_cached(&again);
    join_end(&again.join);
    free(again.places);
    free(again.searched);
    free(again.some);
    array_free(&again.known);
    if (status == DOPPEL_E_LIMIT)
        return doppel_matcher_lead(matcher, visitor, context, error);
    return join_fail(&again.join, status, error);
}
