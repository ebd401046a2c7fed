/* Groups around leaders, against a slow oracle and their promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/images.h"

enum { MAX_ITEMS = 40, MAX_EDGES = MAX_ITEMS * MAX_ITEMS };

struct graph {
    uint32_t count;
    size_t edge_count;
    struct doppel_edge edges[MAX_EDGES];
    uint32_t leader[MAX_ITEMS], edge[MAX_ITEMS];
};

/* Few similarities, so that ties are frequent. */
static void make_graph(struct graph *graph, unsigned one_in, uint64_t *seed)
{
    graph->count = (uint32_t)(random_word(seed) % MAX_ITEMS);
    graph->edge_count = 0;
    for (uint32_t b = 0; b < graph->count; b++)
        for (uint32_t a = 0; a < b; a++)
            if (random_word(seed) % one_in == 0)
                graph->edges[graph->edge_count++] =
                    (struct doppel_edge){a, b, (double)(random_word(seed) % 4) / 4, 7};
}

static void group(struct graph *graph)
{
    doppel_group_by_leader(graph->count, graph->edges, graph->edge_count, graph->leader,
                           graph->edge);
}

/* The docstring, read aloud: all edges are looked at for every item. */
static void check_with_oracle(const struct graph *graph)
{
    bool leads[MAX_ITEMS];
    for (uint32_t item = 0; item < graph->count; item++) {
        const struct doppel_edge *best = NULL;
        for (uint32_t leader = 0; leader < item; leader++)
            for (size_t i = 0; i < graph->edge_count && leads[leader]; i++) {
                const struct doppel_edge *edge = &graph->edges[i];
                if (edge->a == leader && edge->b == item &&
                    (!best || edge->similarity > best->similarity))
                    best = edge;
            }
        leads[item] = !best;
        assert_int_equal(graph->leader[item], best ? best->a : item);
        if (best)
            assert_int_equal(graph->edge[item], best - graph->edges);
        else
            assert_int_equal(graph->edge[item], UINT32_MAX);
    }
}

static void check_promises(const struct graph *graph)
{
    for (uint32_t item = 0; item < graph->count; item++) {
        uint32_t leader = graph->leader[item];
        assert_int_equal(graph->leader[leader], leader);
        if (leader == item)
            continue;
        const struct doppel_edge *edge = &graph->edges[graph->edge[item]];
        assert_int_equal(edge->a, leader);
        assert_int_equal(edge->b, item);
        assert_true(leader < item);
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct doppel_edge *edge = &graph->edges[i];
        bool both_lead = graph->leader[edge->a] == edge->a && graph->leader[edge->b] == edge->b;
        assert_false(both_lead);
    }
}

static void test_random_graphs(void **state)
{
    (void)state;
    static struct graph graph;
    uint64_t seed = 1;
    for (unsigned trial = 0; trial < 3000; trial++) {
        make_graph(&graph, 1 + trial % 30, &seed);
        group(&graph);
        check_with_oracle(&graph);
        check_promises(&graph);
    }
}

/* 0–1–2–3–…: each is near the next, but only every other pair is a group. */
static void test_no_chains(void **state)
{
    (void)state;
    static struct graph graph;
    graph.count = MAX_ITEMS;
    for (uint32_t b = 1; b < MAX_ITEMS; b++)
        graph.edges[graph.edge_count++] = (struct doppel_edge){b - 1, b, 0.9, 0};
    group(&graph);
    for (uint32_t item = 0; item < MAX_ITEMS; item++)
        assert_int_equal(graph.leader[item], item - item % 2);
}

static void test_no_edges(void **state)
{
    (void)state;
    static struct graph graph = {.count = 5};
    group(&graph);
    for (uint32_t item = 0; item < 5; item++)
        assert_int_equal(graph.leader[item], item);
    doppel_group_by_leader(0, NULL, 0, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_no_chains),
        cmocka_unit_test(test_no_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
