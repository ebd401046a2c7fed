/* What searches cost: the CPU time of each, and what the index looked at. */
#ifndef DOPPEL_TOOLS_OUTPUT_SEARCH_STATS_H
#define DOPPEL_TOOLS_OUTPUT_SEARCH_STATS_H

#include <stddef.h>

struct doppel_index_counts;

struct search_stats;

struct search_stats *search_stats_new(void);
void search_stats_free(struct search_stats *stats);

/* What a request's `counts` points at. */
struct doppel_index_counts *search_stats_counts(struct search_stats *stats);

/* Around a search of `count` queries, each of which took the mean. */
void search_stats_start(struct search_stats *stats);
void search_stats_stop(struct search_stats *stats, size_t count);

/* A line of JSON on stderr. */
void search_stats_print(struct search_stats *stats);

#endif
