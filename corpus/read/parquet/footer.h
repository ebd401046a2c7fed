/* What stands at the end of a Parquet file: its columns, and where their pages are. */
#ifndef DOPPEL_CORPUS_READ_PARQUET_FOOTER_H
#define DOPPEL_CORPUS_READ_PARQUET_FOOTER_H

#include <doppel/core.h>

#include "corpus/read/archive_columns.h"
#include "corpus/read/row_value.h"

enum parquet_type {
    PARQUET_BOOLEAN = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTE_ARRAY = 6
};

struct parquet_column {
    size_t leaf; /* its number among all columns, also those inside others */
    enum parquet_type type;
    enum row_meaning meaning;
    bool optional;
};

/* The part of a column in a group of rows. */
struct parquet_chunk {
    uint64_t at, size; /* within the file */
    uint64_t values;
    int type, codec;
    bool elsewhere; /* encrypted, or in another file */
};

struct parquet_footer {
    struct archive_columns names; /* on the outermost level */
    struct parquet_column *columns;
    size_t leaf_count;
    uint64_t *group_rows;
    size_t group_count;
    struct parquet_chunk *chunks; /* leaf_count for each group */
};

/** Whether a file begins as one. */
bool parquet_begins(const char *bytes, size_t size);

/** @param out given (parquet_footer_free), also on failure. DOPPEL_E_CORRUPT; DOPPEL_E_UNSUPPORTED;
 * DOPPEL_E_LIMIT; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status parquet_footer_read(int fd, struct parquet_footer *out,
                                       struct doppel_error *error);
void parquet_footer_free(struct parquet_footer *footer);

/** Exactly these bytes of a file. DOPPEL_E_CORRUPT: it has not so many; DOPPEL_E_IO */
enum doppel_status parquet_pread(int fd, void *bytes, size_t size, uint64_t at,
                                 struct doppel_error *error);

#endif
