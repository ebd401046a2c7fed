/* Rows of matches on their way to the output: in tables and CSV a match of recordings is a row for
 * each place at which it was heard, in the order in which they come in the query; one of videos a
 * row for each segment, the best item first. */
#ifndef DOPPEL_TOOLS_OUTPUT_ROWS_SEGMENT_ROWS_H
#define DOPPEL_TOOLS_OUTPUT_ROWS_SEGMENT_ROWS_H

#include <stdbool.h>

#include "core/array.h"
#include "tools/args/options.h"
#include "tools/output/output.h"

/* The columns of a place, after MATCH_COLUMNS. */
#define PLACE_COLUMNS                                                                              \
    {"segment.a_start", "from", CELL_PLACE}, {"segment.a_end", "to", CELL_PLACE},                  \
        {"segment.b_start", "item start", CELL_PLACE}, {"segment.b_end", "item end", CELL_PLACE},  \
        {"evidence", "matched streams", CELL_TEXT}, {"sound.match", NULL, CELL_BOOL},              \
        {"sound.score", NULL, CELL_NUMBER}, {"time_uncertain", NULL, CELL_BOOL},                   \
    {                                                                                              \
        "where", "where", CELL_WORDS                                                            \
    }

struct place_rows {
    struct output *output;
    bool table;
    bool whole;                   /* a row a match: in JSON, and of bare paths */
    ARRAY(struct place_row) rows; /* held back */
};

void place_rows_begin(struct place_rows *rows, const struct settings *settings,
                      struct output *output);

/* A row with the fields of doppel_comparison_to_json. */
void place_rows_add(struct place_rows *rows, const struct doppel_json *row);

/* Print what was held back. */
void place_rows_end(struct place_rows *rows);

#endif
