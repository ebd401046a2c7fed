/* Texts that mean the same, as rows below the groups. */
#ifndef DOPPEL_TOOLS_OUTPUT_ROWS_SEMANTIC_ROWS_H
#define DOPPEL_TOOLS_OUTPUT_ROWS_SEMANTIC_ROWS_H

#include <doppel/search_semantic.h>

#include "tools/args/options.h"

struct report;
struct output;

/* Zeroed but for these two. */
struct semantic_rows {
    const struct settings *settings;
    struct report *report;
    struct output *output; /* NULL: no row was printed */
    struct doppel_json row;
};

/* A doppel_semantic_pair_visitor. @param rows struct semantic_rows */
enum doppel_status semantic_rows_print(void *rows, const struct doppel_semantic_pair *pair,
                                       struct doppel_error *error);

/* Print `row`: as JSON has a pair, or, for people, as the columns of these rows name it. */
void semantic_rows_put(struct semantic_rows *rows);

/* The name of a text in a row for people. @param group 0: it is in none */
void semantic_rows_name(struct doppel_json *json, const char *key, const char *name,
                        uint64_t group);

/* Print what is held back; once more it does nothing. @return false when stdout could not be
 * written */
bool semantic_rows_finish(struct semantic_rows *rows);

/* Say what came of it, when the rows are finished. @param repeated texts that repeat another one by
 * their words, and needed no vector; 0: not known */
void semantic_rows_sum_up(struct report *report,
                          const struct doppel_semantic_links_summary *summary, uint64_t repeated);

/* "--min-cosine, or ", of which scores have none: what may be given where texts are too few. */
const char *semantic_cosine_advice(bool scores);

#endif
