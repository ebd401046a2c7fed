/* Pairs of vectors, and what was found of some, on stdout as they come. */
#ifndef DOPPEL_TOOLS_OUTPUT_ROWS_VECTOR_ROWS_H
#define DOPPEL_TOOLS_OUTPUT_ROWS_VECTOR_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct report;
struct settings;
struct vector_rows;

/* What stands in a row: two vectors, and their cosine. */
enum vector_rows_of { ROWS_OF_PAIRS, ROWS_OF_HITS, ROWS_OF_COUNTS };

/* A vector: by its id, or, where that is NULL, its number. */
struct vector_name {
    const char *id;
    uint64_t number;
};

/* Never fails: exits without memory. All are borrowed while it lives.
 * @param first, second whether those of the first and second column have ids */
struct vector_rows *vector_rows_new(const struct settings *settings, enum vector_rows_of what,
                                    bool first, bool second, struct report *report);

/* @param second of counts: the number
 * @return false when nobody wants more: stdout failed, a pipe was closed, or a signal came */
bool vector_rows_add(struct vector_rows *rows, struct vector_name first, struct vector_name second,
                     double cosine);

/* Write what is held back and free. @return false when stdout could not be written (said, unless a
 * pipe was closed) */
bool vector_rows_finish(struct vector_rows *rows);

#endif
