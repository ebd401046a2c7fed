/* The k nearest, of planted and of random queries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/index_bench.h"

struct trial {
    size_t k;
    bool planted; /* within 8 bits of a code; else at random */
    size_t goal_count;
    double goal; /* µs, for that many codes */
};

static const struct trial trials[] = {
    {1, true, 10000000, 6},     {1, false, 0, NAN},   {10, true, 0, NAN},
    {10, false, 10000000, 500}, {100, false, 0, NAN},
};

enum { PLANTED_WITHIN = 8, COMPARED = 10 };

/* Every second of twice as many: those that are planted, or those that are not. */
static uint64_t *half_of_queries(const struct codes *codes, size_t count, bool planted)
{
    uint64_t *both = queries_make(codes, 2 * count, PLANTED_WITHIN);
    for (size_t i = 0; i < count; i++)
        memmove(both + i * codes->words, both + (2 * i + !planted) * codes->words,
                codes->words * sizeof *both);
    return both;
}

static void run(const struct plan *plan, const struct codes *codes, const struct finder *engine,
                const struct finder *scan, const struct trial *trial)
{
    char what[96];
    size_t count = plan->queries;
    uint64_t *queries = half_of_queries(codes, count, trial->planted);
    struct answers answers = answers_new(count);
    answers.count = COMPARED;
    struct times scanned = time_nearest(scan, queries, codes->words, trial->k, &answers);
    answers.count = count;
    struct times times = time_nearest(engine, queries, codes->words, trial->k, &answers);
    snprintf(what, sizeof what, "k = %zu %s: median (p99 %.1f; linear scan %.0f)", trial->k,
             trial->planted ? "planted" : "random", times.p99, scanned.median);
    print_goal(what, times.median, "≤", trial->goal_count == codes->count ? trial->goal : NAN,
               "µs");
    answers_free(&answers);
    free(queries);
}

static void run_all(const struct plan *plan, enum codes_shape shape, size_t count)
{
    char size[32];
    struct codes codes = codes_make(shape, 64, count);
    struct finder engine = plan_engine(plan, &codes, 8, false), scan = finder_scan(&codes);
    print_count(size, sizeof size, count);
    printf("\nk nearest, %s, 64 bits, %s codes; CPU µs of one thread\n",
           shape == CODES_SKEWED ? "skewed" : "uniform", size);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct trial trial = trials[i];
        if (shape == CODES_SKEWED)
            trial.goal_count = 0;
        run(plan, &codes, &engine, &scan, &trial);
        fflush(stdout);
    }
    finder_free(&engine);
    finder_free(&scan);
    codes_free(&codes);
}

void section_knn(const struct plan *plan)
{
    for (size_t i = 0; i < plan->size_count; i++) {
        run_all(plan, CODES_UNIFORM, plan->sizes[i]);
        run_all(plan, CODES_SKEWED, plan->sizes[i]);
    }
}
