/* Groups around representatives, against a slow oracle and their promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"

enum { MAX_ITEMS = 40, MAX_EDGES = MAX_ITEMS * MAX_ITEMS, NOBODY = -1 };

struct graph {
    uint32_t count;
    size_t edge_count;
    struct doppel_edge edges[MAX_EDGES];
    uint32_t leader[MAX_ITEMS], edge[MAX_ITEMS];
};

/* Few similarities, so that ties are frequent. @param one_in so many pairs match; of these
 * `strong` of 16 are strong */
static void make_graph(struct graph *graph, unsigned one_in, unsigned strong, uint64_t *seed)
{
    graph->count = (uint32_t)(random_word(seed) % MAX_ITEMS);
    graph->edge_count = 0;
    for (uint32_t b = 0; b < graph->count; b++)
        for (uint32_t a = 0; a < b; a++)
            if (random_word(seed) % one_in == 0)
                graph->edges[graph->edge_count++] = (struct doppel_edge){
                    a, b, (double)(random_word(seed) % 4) / 4, 7, random_word(seed) % 16 >= strong};
}

static void group(struct graph *graph)
{
    assert_int_equal(doppel_group_by_leader(graph->count, graph->edges, graph->edge_count,
                                            graph->leader, graph->edge),
                     DOPPEL_OK);
}

/* ---- the docstring, read aloud ---- */

struct oracle {
    const struct graph *graph;
    int leader[MAX_ITEMS], strong_leader[MAX_ITEMS];
};

/* NULL: they do not match. Either order. */
static const struct doppel_edge *edge_of(const struct graph *graph, uint32_t one, uint32_t other)
{
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct doppel_edge *edge = &graph->edges[i];
        if ((edge->a == one && edge->b == other) || (edge->a == other && edge->b == one))
            return edge;
    }
    return NULL;
}

/* The most similar of some, then the first. */
static int most_similar(const struct graph *graph, uint32_t item, const bool *some)
{
    int best = NOBODY;
    for (uint32_t other = 0; other < graph->count; other++) {
        const struct doppel_edge *edge = some[other] ? edge_of(graph, item, other) : NULL;
        if (edge &&
            (best == NOBODY || edge->similarity > edge_of(graph, item, (uint32_t)best)->similarity))
            best = (int)other;
    }
    return best;
}

static void lead_by_strong_edges(struct oracle *oracle)
{
    const struct graph *graph = oracle->graph;
    for (uint32_t item = 0; item < graph->count; item++) {
        bool some[MAX_ITEMS] = {false};
        for (uint32_t other = 0; other < item; other++) {
            const struct doppel_edge *edge = edge_of(graph, other, item);
            some[other] = oracle->leader[other] == (int)other && edge && !edge->weak;
        }
        const int best = most_similar(graph, item, some);
        oracle->leader[item] = best == NOBODY ? (int)item : best;
    }
    memcpy(oracle->strong_leader, oracle->leader, sizeof oracle->leader);
}

static bool whole_group_matches(const struct oracle *oracle, uint32_t group, uint32_t other)
{
    for (uint32_t item = 0; item < oracle->graph->count; item++)
        if (oracle->strong_leader[item] == (int)group && !edge_of(oracle->graph, item, other))
            return false;
    return true;
}

static void lead_with_copies(struct oracle *oracle)
{
    for (uint32_t group = 0; group < oracle->graph->count; group++) {
        bool some[MAX_ITEMS] = {false};
        if (oracle->strong_leader[group] != (int)group)
            continue;
        for (uint32_t other = 0; other < group; other++)
            some[other] =
                oracle->leader[other] == (int)other && whole_group_matches(oracle, group, other);
        const int best = most_similar(oracle->graph, group, some);
        for (uint32_t item = 0; best != NOBODY && item < oracle->graph->count; item++)
            if (oracle->strong_leader[item] == (int)group)
                oracle->leader[item] = best;
    }
}

static void lead_who_is_alone(struct oracle *oracle)
{
    bool leads[MAX_ITEMS] = {false};
    for (uint32_t item = 0; item < oracle->graph->count; item++)
        if (oracle->leader[item] != (int)item)
            leads[oracle->leader[item]] = true;
    for (uint32_t item = 0; item < oracle->graph->count; item++) {
        const bool alone = oracle->leader[item] == (int)item && !leads[item];
        const int best = alone ? most_similar(oracle->graph, item, leads) : NOBODY;
        if (best != NOBODY)
            oracle->leader[item] = best;
    }
}

static void ask_oracle(const struct graph *graph, struct oracle *out)
{
    memset(out, 0, sizeof *out);
    out->graph = graph;
    lead_by_strong_edges(out);
    lead_with_copies(out);
    lead_who_is_alone(out);
}

static void check_with_oracle(const struct graph *graph)
{
    struct oracle oracle;
    ask_oracle(graph, &oracle);
    for (uint32_t item = 0; item < graph->count; item++)
        assert_int_equal(graph->leader[item], oracle.leader[item]);
}

/* ---- promises ---- */

static bool is_alone(const struct graph *graph, uint32_t item)
{
    for (uint32_t other = 0; other < graph->count; other++)
        if (other != item && (graph->leader[other] == item || graph->leader[item] == other))
            return false;
    return true;
}

/* Near the representative, by the edge that is given: no chains. */
static void check_members(const struct graph *graph)
{
    for (uint32_t item = 0; item < graph->count; item++) {
        uint32_t leader = graph->leader[item];
        assert_int_equal(graph->leader[leader], leader);
        assert_true((leader == item) == (graph->edge[item] == UINT32_MAX));
        if (leader != item)
            assert_ptr_equal(&graph->edges[graph->edge[item]], edge_of(graph, item, leader));
    }
}

/* Two whose strong edge is the only strong one of either are never parted, and no one is left
 * alone that has a strong edge, or a weak one to another that is alone. */
static void check_edges(const struct graph *graph)
{
    uint32_t strong[MAX_ITEMS] = {0};
    for (size_t i = 0; i < graph->edge_count; i++) {
        strong[graph->edges[i].a] += !graph->edges[i].weak;
        strong[graph->edges[i].b] += !graph->edges[i].weak;
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct doppel_edge *edge = &graph->edges[i];
        if (!edge->weak && strong[edge->a] == 1 && strong[edge->b] == 1)
            assert_int_equal(graph->leader[edge->a], graph->leader[edge->b]);
        if (!edge->weak)
            assert_false(graph->leader[edge->a] == edge->a && graph->leader[edge->b] == edge->b);
        assert_false(is_alone(graph, edge->a) && is_alone(graph, edge->b));
    }
}

/* What strong edges alone put together stays together, whatever the weak ones are. */
static void check_groups_of_copies(const struct graph *graph)
{
    static struct graph copies;
    copies.count = graph->count;
    copies.edge_count = 0;
    for (size_t i = 0; i < graph->edge_count; i++)
        if (!graph->edges[i].weak)
            copies.edges[copies.edge_count++] = graph->edges[i];
    group(&copies);
    for (uint32_t item = 0; item < graph->count; item++)
        assert_int_equal(graph->leader[item], graph->leader[copies.leader[item]]);
}

static void test_random_graphs(void **state)
{
    (void)state;
    static struct graph graph;
    uint64_t seed = 1;
    for (unsigned trial = 0; trial < 6000; trial++) {
        make_graph(&graph, 1 + trial % 30, trial / 30 % 17, &seed);
        group(&graph);
        check_with_oracle(&graph);
        check_members(&graph);
        check_edges(&graph);
        check_groups_of_copies(&graph);
    }
}

/* Edges whose first is not a representative by strong edges need not be there. */
static void test_few_edges_suffice(void **state)
{
    (void)state;
    static struct graph all, few;
    uint64_t seed = 2;
    for (unsigned trial = 0; trial < 2000; trial++) {
        struct oracle oracle;
        make_graph(&all, 1 + trial % 10, trial / 10 % 17, &seed);
        ask_oracle(&all, &oracle);
        few.count = all.count;
        few.edge_count = 0;
        for (size_t i = 0; i < all.edge_count; i++)
            if (oracle.strong_leader[all.edges[i].a] == (int)all.edges[i].a)
                few.edges[few.edge_count++] = all.edges[i];
        group(&all);
        group(&few);
        assert_memory_equal(all.leader, few.leader, all.count * sizeof *all.leader);
    }
}

/* 0–1–2–3–…: each is near the next, but only every other pair is a group. */
static void test_no_chains(void **state)
{
    (void)state;
    for (int weak = 0; weak < 2; weak++) {
        static struct graph graph;
        graph.count = MAX_ITEMS;
        graph.edge_count = 0;
        for (uint32_t b = 1; b < MAX_ITEMS; b++)
            graph.edges[graph.edge_count++] = (struct doppel_edge){b - 1, b, 0.9, 0, weak};
        group(&graph);
        for (uint32_t item = 0; item < MAX_ITEMS; item++)
            assert_int_equal(graph.leader[item], item - item % 2);
    }
}

/* A star is not taken apart for two of its members that are copies. */
static void test_stars_stay(void **state)
{
    (void)state;
    static struct graph graph = {
        .count = 4,
        .edge_count = 4,
        .edges = {
            {0, 1, 0.8, 0, true}, {0, 2, 0.7, 0, true}, {0, 3, 0.7, 0, true}, {2, 3, 1, 0, false}}};
    group(&graph);
    for (uint32_t item = 0; item < 4; item++)
        assert_int_equal(graph.leader[item], 0);
}

/* What was seen: the first is a little like one of two copies, which stay together. */
static void test_copies_stay_together(void **state)
{
    (void)state;
    static struct graph graph = {
        .count = 3, .edge_count = 2, .edges = {{0, 1, 0.8, 0, true}, {1, 2, 1, 0, false}}};
    group(&graph);
    assert_int_equal(graph.leader[0], 1);
    assert_int_equal(graph.leader[1], 1);
    assert_int_equal(graph.leader[2], 1);
    assert_int_equal(graph.edge[0], 0);
}

static void test_no_edges(void **state)
{
    (void)state;
    static struct graph graph = {.count = 5};
    group(&graph);
    for (uint32_t item = 0; item < 5; item++)
        assert_int_equal(graph.leader[item], item);
    assert_int_equal(doppel_group_by_leader(0, NULL, 0, NULL, NULL), DOPPEL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs), cmocka_unit_test(test_few_edges_suffice),
        cmocka_unit_test(test_no_chains),     cmocka_unit_test(test_copies_stay_together),
        cmocka_unit_test(test_no_edges),      cmocka_unit_test(test_stars_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
