/* Time of one thread, and what a competitor takes for each query, its answers compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "index/index_bench.h"

enum { ENOUGH_QUERIES = 200 };

static const double enough_seconds = 4;

double thread_seconds(void)
{
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID);
}

double wall_seconds(void)
{
    return bench_seconds(CLOCK_MONOTONIC);
}

double clock_cost(void)
{
    static double spent[2001];
    for (size_t i = 0; i < sizeof spent / sizeof *spent; i++) {
        double start = thread_seconds();
        spent[i] = thread_seconds() - start;
    }
    return bench_median(spent, sizeof spent / sizeof *spent);
}

struct times times_of(double *seconds, size_t count)
{
    double cost = clock_cost(), sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += seconds[i] -= cost;
    struct times times = {.count = count, .mean = sum * 1e6 / (double)count};
    times.median = bench_median(seconds, count) * 1e6;
    times.p99 = seconds[count * 99 / 100] * 1e6;
    return times;
}

struct answers answers_new(size_t count)
{
    return (struct answers){count, need(calloc(count, sizeof(uint64_t))),
                            need(calloc(count, sizeof(uint64_t))),
                            need(calloc(count, sizeof(bool)))};
}

void answers_free(struct answers *answers)
{
    free(answers->sums);
    free(answers->hits);
    free(answers->known);
    *answers = (struct answers){0};
}

/* The same in any order. */
static uint64_t sum_of(const struct doppel_index_hit *hits, size_t count)
{
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t state = hits[i].payload ^ (uint64_t)hits[i].distance << 56;
        sum += random_word(&state);
    }
    return sum;
}

static void compare_answer(const char *name, struct answers *answers, size_t query,
                           const hit_array *hits)
{
    uint64_t sum = sum_of(hits->items, hits->count);
    if (answers->known[query] &&
        (sum != answers->sums[query] || hits->count != answers->hits[query])) {
        fprintf(stderr, "index_bench: %s gives another answer to query %zu: %zu hits, not %zu\n",
                name, query, hits->count, (size_t)answers->hits[query]);
        exit(1);
    }
    answers->known[query] = true;
    answers->sums[query] = sum;
    answers->hits[query] = hits->count;
}

void finder_free(struct finder *finder)
{
    finder->free(finder->self);
    *finder = (struct finder){0};
}

/* Radius or k, whichever is not 0 ... of which radius may be 0 too. */
static struct times time_queries(const struct finder *finder, const uint64_t *queries, size_t words,
                                 const uint32_t *radius, size_t k, struct answers *answers)
{
    double *spent = need(malloc(answers->count * sizeof *spent)), total = 0;
    hit_array hits = {0};
    size_t count = 0;
    for (; count < answers->count; count++) {
        if (count >= ENOUGH_QUERIES && total > enough_seconds)
            break;
        const uint64_t *query = queries + count * words;
        hits.count = 0;
        double start = thread_seconds();
        if (radius)
            finder->search(finder->self, query, *radius, &hits);
        else
            finder->nearest(finder->self, query, k, &hits);
        spent[count] = thread_seconds() - start;
        total += spent[count];
        compare_answer(finder->name, answers, count, &hits);
    }
    struct times times = times_of(spent, count);
    free(spent);
    array_free(&hits);
    return times;
}

struct times time_search(const struct finder *finder, const uint64_t *queries, size_t words,
                         uint32_t radius, struct answers *answers)
{
    return time_queries(finder, queries, words, &radius, 0, answers);
}

struct times time_nearest(const struct finder *finder, const uint64_t *queries, size_t words,
                          size_t k, struct answers *answers)
{
    return time_queries(finder, queries, words, NULL, k, answers);
}

double time_search_all(const struct finder *finder, const uint64_t *queries, uint32_t radius,
                       const struct answers *answers)
{
    if (!finder->search_all)
        return NAN;
    hit_array hits = {0};
    uint64_t sum = 0, wanted = 0;
    double start = thread_seconds();
    finder->search_all(finder->self, queries, answers->count, radius, &hits);
    double spent = thread_seconds() - start;
    for (size_t i = 0; i < answers->count; i++)
        wanted += answers->known[i] ? answers->sums[i] : 0;
    sum = sum_of(hits.items, hits.count);
    if (answers->known[answers->count - 1] && sum != wanted) {
        fprintf(stderr, "index_bench: %s answers differently in a batch\n", finder->name);
        exit(1);
    }
    array_free(&hits);
    return spent * 1e6 / (double)answers->count;
}
