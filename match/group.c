/* Groups around representatives: no chains, and no copies torn apart by a weaker match. */
#include <doppel/match.h>

#include <stdlib.h>

static const uint32_t NONE = UINT32_MAX;

struct leading {
    const struct doppel_edge *edges;
    size_t edge_count;
    uint32_t count;
    uint32_t *leader, *edge; /* of each item, so far */
    uint32_t *first, *next;  /* who follows an item by strong edges; NONE: no more */
    bool *leads;             /* of each item: somebody follows it, by whatever edge */
};

static uint32_t other_end(const struct doppel_edge *edge, uint32_t item)
{
    return edge->a == item ? edge->b : edge->a;
}

/* Whether an edge leads an item to a better representative than another edge. */
static bool is_better_edge(const struct leading *leading, size_t number, uint32_t item,
                           uint32_t than)
{
    if (than == NONE)
        return true;
    const struct doppel_edge *edge = &leading->edges[number], *other = &leading->edges[than];
    return edge->similarity > other->similarity || (edge->similarity >= other->similarity &&
                                                    other_end(edge, item) < other_end(other, item));
}

static void follow_edge(struct leading *leading, uint32_t item, size_t number)
{
    leading->leader[item] = other_end(&leading->edges[number], item);
    leading->edge[item] = (uint32_t)number;
}

/* ---- strong edges ---- */

/* Edges come by b: when those of an item are reached, all before it are settled. */
static void follow_strong_edges(struct leading *leading)
{
    for (size_t i = 0; i < leading->edge_count; i++) {
        const struct doppel_edge *edge = &leading->edges[i];
        if (!edge->weak && leading->leader[edge->a] == edge->a &&
            is_better_edge(leading, i, edge->b, leading->edge[edge->b]))
            follow_edge(leading, edge->b, i);
    }
}

static void list_copies(struct leading *leading)
{
    for (uint32_t i = 0; i < leading->count; i++)
        leading->first[i] = leading->next[i] = NONE;
    for (uint32_t i = leading->count; i-- > 0;) {
        const uint32_t leader = leading->leader[i];
        if (leader != i) {
            leading->next[i] = leading->first[leader];
            leading->first[leader] = i;
        }
    }
}

/* ---- weak edges ---- */

static uint32_t find_edge(const struct leading *leading, uint32_t a, uint32_t b)
{
    size_t low = 0, high = leading->edge_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct doppel_edge *edge = &leading->edges[middle];
        if (edge->b < b || (edge->b == b && edge->a < a))
            low = middle + 1;
        else
            high = middle;
    }
    const bool found =
        low < leading->edge_count && leading->edges[low].a == a && leading->edges[low].b == b;
    return found ? (uint32_t)low : NONE;
}

static bool all_copies_match(const struct leading *leading, uint32_t item, uint32_t earlier)
{
    uint32_t copy = leading->first[item];
    while (copy != NONE && find_edge(leading, earlier, copy) != NONE)
        copy = leading->next[copy];
    return copy == NONE;
}

/* The best edge to a representative before an item that all copies of the item match, too.
 * @param end of the item's edges, which begin at `begin` */
static uint32_t find_one_to_follow(const struct leading *leading, size_t begin, size_t end)
{
    uint32_t best = NONE;
    const uint32_t item = leading->edges[begin].b;
    for (size_t i = begin; i < end; i++) {
        const uint32_t earlier = leading->edges[i].a;
        if (leading->leader[earlier] == earlier && is_better_edge(leading, i, item, best) &&
            all_copies_match(leading, item, earlier))
            best = (uint32_t)i;
    }
    return best;
}

/* Let representatives follow each other, in their order, with all their copies. */
static void follow_with_copies(struct leading *leading)
{
    for (size_t begin = 0, end; begin < leading->edge_count; begin = end) {
        const uint32_t item = leading->edges[begin].b;
        for (end = begin + 1; end < leading->edge_count && leading->edges[end].b == item; end++)
            ;
        const uint32_t best =
            leading->leader[item] == item ? find_one_to_follow(leading, begin, end) : NONE;
        if (best == NONE)
            continue;
        follow_edge(leading, item, best);
        for (uint32_t i = leading->first[item]; i != NONE; i = leading->next[i])
            follow_edge(leading, i, find_edge(leading, leading->leader[item], i));
    }
}

/* Let who is alone follow a later one that leads: its copies alone kept that one from following. */
static void follow_later_ones(struct leading *leading)
{
    for (uint32_t i = 0; i < leading->count; i++)
        leading->leads[leading->leader[i]] |= leading->leader[i] != i;
    for (size_t i = 0; i < leading->edge_count; i++) {
        const uint32_t item = leading->edges[i].a, later = leading->edges[i].b;
        const bool alone = !leading->leads[item] && leading->leader[item] >= item;
        if (alone && leading->leads[later] && leading->leader[later] == later &&
            is_better_edge(leading, i, item, leading->edge[item]))
            follow_edge(leading, item, i);
    }
}

static enum doppel_status follow_weak_edges(struct leading *leading)
{
    const size_t room = (size_t)leading->count + 1;
    leading->first = malloc(room * sizeof *leading->first);
    leading->next = malloc(room * sizeof *leading->next);
    leading->leads = calloc(room, sizeof *leading->leads);
    const bool done = leading->first && leading->next && leading->leads;
    if (done) {
        list_copies(leading);
        follow_with_copies(leading);
        follow_later_ones(leading);
    }
    free(leading->first);
    free(leading->next);
    free(leading->leads);
    return done ? DOPPEL_OK : DOPPEL_E_MEMORY;
}

static bool has_weak_edges(const struct leading *leading)
{
    for (size_t i = 0; i < leading->edge_count; i++)
        if (leading->edges[i].weak)
            return true;
    return false;
}

enum doppel_status doppel_group_by_leader(uint32_t count, const struct doppel_edge *edges,
                                          size_t edge_count, uint32_t *out_leader,
                                          uint32_t *out_edge)
{
    struct leading leading = {.edges = edges,
                              .edge_count = edge_count,
                              .count = count,
                              .leader = out_leader,
                              .edge = out_edge};
    for (uint32_t i = 0; i < count; i++) {
        out_leader[i] = i;
        out_edge[i] = NONE;
    }
    follow_strong_edges(&leading);
    return has_weak_edges(&leading) ? follow_weak_edges(&leading) : DOPPEL_OK;
}
