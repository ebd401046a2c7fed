/* What searches cost: the CPU time of each, and what the index looked at. */
#include "tools/output/search_stats.h"

#include <doppel/index.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/array.h"
#include "core/order.h"
#include "tools/memory.h"
#include "core/json_writer.h"

enum { CALIBRATIONS = 201 };

struct search_stats {
    ARRAY(double) us; /* a query each */
    double clock_us;  /* what asking the clock costs */
    double total_us;
    double begun_us;
    struct doppel_index_counts counts;
};

/* Of all threads: those that search for us are short-lived. */
static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

struct search_stats *search_stats_new(void)
{
    struct search_stats *stats = must_allocate(sizeof *stats);
    double costs[CALIBRATIONS];
    for (size_t i = 0; i < CALIBRATIONS; i++) {
        double begun = cpu_us();
        costs[i] = cpu_us() - begun;
    }
    qsort(costs, CALIBRATIONS, sizeof *costs, compare_double);
    stats->clock_us = costs[CALIBRATIONS / 2];
    return stats;
}

void search_stats_free(struct search_stats *stats)
{
    if (stats)
        array_free(&stats->us);
    free(stats);
}

struct doppel_index_counts *search_stats_counts(struct search_stats *stats)
{
    return &stats->counts;
}

void search_stats_start(struct search_stats *stats)
{
    stats->begun_us = cpu_us();
}

void search_stats_stop(struct search_stats *stats, size_t count)
{
    double us = cpu_us() - stats->begun_us - stats->clock_us;
    us = us > 0 ? us : 0;
    stats->total_us += us;
    for (size_t i = 0; i < count; i++)
        if (!array_push(&stats->us, us / (double)count))
            return;
}

static double quantile(const struct search_stats *stats, double share)
{
    size_t count = stats->us.count;
    return count ? stats->us.items[(size_t)(share * (double)(count - 1) + 0.5)] : 0;
}

void search_stats_print(struct search_stats *stats)
{
    size_t count = stats->us.count;
    if (count)
        qsort(stats->us.items, count, sizeof *stats->us.items, compare_double);
    struct doppel_json json = {0}, *row = &json;
    doppel_json_object_begin(row, NULL);
    doppel_json_integer(row, "queries", count);
    doppel_json_number(row, "median_us", quantile(stats, 0.5), 3);
    doppel_json_number(row, "p99_us", quantile(stats, 0.99), 3);
    doppel_json_number(row, "mean_us", count ? stats->total_us / (double)count : 0, 3);
    doppel_json_integer(row, "candidates", stats->counts.candidates);
    doppel_json_integer(row, "lookups", stats->counts.lookups);
    doppel_json_object_end(row);
    if (!row->failed)
        fprintf(stderr, "%s\n", row->bytes);
    doppel_json_free(row);
}
