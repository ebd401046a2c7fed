/*
 * The figures of the index beside its goals, its peers and the machine's limits.
 *
 *     index_bench [SECTION | SIZE | queries=N | alone | table]...
 *
 * Sections: hamming, skewed, wide, compact, knn, head, open, insert, join; none: all. Sizes: 1m,
 * 10m, 100m (codes; 100 M need 20 GiB); none: 1m and 10m. `alone` leaves the peers out, `table`
 * measures the Hamming table without the public API. All competitors' answers are compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/index_bench.h"

static const struct {
    const char *name;
    section *run;
} sections[] = {
    {"hamming", section_hamming}, {"skewed", section_skewed}, {"wide", section_wide},
    {"compact", section_compact}, {"knn", section_knn},       {"head", section_head},
    {"open", section_open},       {"insert", section_insert}, {"join", section_join},
};

enum { SECTIONS = sizeof sections / sizeof *sections, QUERIES = 1000, QUERIES_MIN = 200 };

static bool take_section(const char *word, bool *chosen)
{
    for (size_t i = 0; i < SECTIONS; i++)
        if (strcmp(word, sections[i].name) == 0)
            return chosen[i] = true;
    return false;
}

static bool take_size(const char *word, struct plan *plan)
{
    char *end;
    size_t size = strtoul(word, &end, 10);
    if (strcmp(end, "m") == 0)
        size *= 1000000;
    else if (strcmp(end, "k") == 0)
        size *= 1000;
    else if (*end)
        return false;
    if (!size || plan->size_count == sizeof plan->sizes / sizeof *plan->sizes)
        return false;
    plan->sizes[plan->size_count++] = size;
    return true;
}

static bool take_option(const char *word, struct plan *plan)
{
    if (strcmp(word, "alone") == 0) {
        plan->peers = false;
        return true;
    }
    if (strcmp(word, "table") == 0) {
        plan->table = true;
        return true;
    }
    if (strncmp(word, "queries=", 8) == 0)
        plan->queries = strtoul(word + 8, NULL, 10);
    return strncmp(word, "queries=", 8) == 0 && plan->queries >= QUERIES_MIN;
}

struct finder plan_engine(const struct plan *plan, const struct codes *codes,
                          uint32_t design_radius, bool compact)
{
    return (plan->table ? finder_table : finder_index)(codes, design_radius, compact);
}

int main(int argument_count, char **arguments)
{
    struct plan plan = {.queries = QUERIES, .peers = true};
    bool chosen[SECTIONS] = {0}, any = false;
    for (int i = 1; i < argument_count; i++) {
        bool is_section = take_section(arguments[i], chosen);
        any |= is_section;
        if (!is_section && !take_size(arguments[i], &plan) && !take_option(arguments[i], &plan)) {
            fprintf(stderr, "index_bench: what is '%s'?\n", arguments[i]);
            return 2;
        }
    }
    if (!plan.size_count) {
        plan.sizes[plan.size_count++] = 1000000;
        plan.sizes[plan.size_count++] = 10000000;
    }
    plan.machine = machine_measure();
    machine_print(&plan.machine);
    for (size_t i = 0; i < SECTIONS; i++)
        if (!any || chosen[i])
            sections[i].run(&plan);
    return 0;
}
