/* Rows: the columns that they are of, and, of archives (WARC, Parquet, Arrow), how they lie in
 * blocks: a head, and a head, bytes and a NUL for each field: no quotes and no escapes. */
#ifndef DOPPEL_CORPUS_READ_ROW_H
#define DOPPEL_CORPUS_READ_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus/read/json_line.h"

/* The columns of a file. */
struct row_layout {
    char separator; /* of the cells of a table (csv.h); 0: its rows are an archive's */
    size_t count;
    char **names;
};

/** @param names NULL: they are set later. @return given (row_layout_free); NULL: no memory */
struct row_layout *row_layout_new(const char *const *names, size_t count, char separator);
void row_layout_free(struct row_layout *layout);

/** Number of the first column of that name; `count`: none is called so. */
size_t row_column(const struct row_layout *layout, const char *name);

/** Whether rows of this layout, which may be NULL, are an archive's. */
bool is_archive_layout(const struct row_layout *layout);

struct row_field {
    uint32_t column;
    bool is_literal; /* a number, true or false, as JSON writes them; else a string of any bytes */
    const char *bytes;
    size_t size;
};

/* ---- writing ---- */

/* Rows that are written one behind the other. Zero-initialised there are none. */
struct row_writer {
    char *bytes;
    size_t size, capacity;
    bool failed;   /* for want of memory */
    size_t begun;  /* where the last one begins */
    uint64_t most; /* bytes of a row */
    uint64_t over; /* bytes of the last one, fields that were left out with them */
};

void row_begin(struct row_writer *writer);
/** Append a field; one with which the row had too many bytes is left out, and counted. */
void row_add(struct row_writer *writer, uint32_t column, bool is_literal, struct byte_span value);
/** Count a field that is too large. */
void row_leave_out(struct row_writer *writer, uint64_t size);
void row_finish(struct row_writer *writer);
/** Take the row that was begun last away. */
void row_cancel(struct row_writer *writer);
void row_writer_free(struct row_writer *writer);

/* ---- reading ---- */

/** Bytes of the row at `at`; 0: it is not whole. */
size_t row_bytes(const char *at, size_t left);
/** Bytes that it would have with the fields which were left out. */
uint64_t row_whole_size(const char *row);

/** The next field. @param place 0 at first. @return false: there is none */
bool row_next(const char *row, size_t size, size_t *place, struct row_field *out);

/** Append rows, of a table one, as lines of JSON. */
void rows_to_json(const struct row_layout *layout, const char *rows, size_t size,
                  struct json_line *out);

#endif
