/* Groups around representatives: no chains. */
#include <doppel/match.h>

/* Whether `edge` leads its item to a better representative than `best` (an edge number, or none).
 */
static bool is_better_edge(const struct doppel_edge *edges, const struct doppel_edge *edge,
                           uint32_t best)
{
    if (best == UINT32_MAX)
        return true;
    const struct doppel_edge *other = &edges[best];
    return edge->similarity > other->similarity ||
           (edge->similarity >= other->similarity && edge->a < other->a);
}

/* Edges come by b: when those of an item are reached, all before it are settled. */
void doppel_group_by_leader(uint32_t count, const struct doppel_edge *edges, size_t edge_count,
                            uint32_t *out_leader, uint32_t *out_edge)
{
    for (uint32_t i = 0; i < count; i++) {
        out_leader[i] = i;
        out_edge[i] = UINT32_MAX;
    }
    for (size_t i = 0; i < edge_count; i++) {
        uint32_t a = edges[i].a, b = edges[i].b;
        if (out_leader[a] == a && is_better_edge(edges, &edges[i], out_edge[b])) {
            out_leader[b] = a;
            out_edge[b] = (uint32_t)i;
        }
    }
}
