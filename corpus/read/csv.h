/* Rows of CSV and TSV: cells between separators, of which one that begins with a quote may hold
 * separators, newlines, and quotes, doubled (RFC 4180). Other quotes are characters like others. */
#ifndef DOPPEL_CORPUS_READ_CSV_H
#define DOPPEL_CORPUS_READ_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "corpus/read/row.h"

/* Where in a row a scan is. */
enum csv_state { CSV_CELL, CSV_PLAIN, CSV_QUOTED, CSV_CLOSED };

/** The newline that ends the row, or NULL: it is not there, and the scan goes on in `state`.
 * @param state CSV_CELL at the beginning of a row, and again behind its end */
const char *csv_row_end(const char *at, const char *end, char separator, enum csv_state *state);

/* The cells of one row, from left to right. */
struct csv_row {
    const char *at, *end; /* without the \r before its newline */
    char separator;
    bool begun, open; /* a quote that is not closed */
};

struct csv_row csv_row_of(const char *row, size_t size, char separator);
/** The next cell, as it is written; false: there is none. */
bool csv_next_cell(struct csv_row *row, const char **out, size_t *out_size);
/** What a cell says. @param out room for `size` bytes @return how many it has */
size_t csv_decode_cell(const char *cell, size_t size, char *out);

/** The columns of a file, by its first row. @return given (row_layout_free); NULL: no memory */
struct row_layout *csv_layout(const char *row, size_t size, char separator);

#endif
