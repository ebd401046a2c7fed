/* The columns of a file of columns (Parquet, Arrow), and which of them are read. */
#ifndef DOPPEL_CORPUS_READ_ARCHIVE_COLUMNS_H
#define DOPPEL_CORPUS_READ_ARCHIVE_COLUMNS_H

#include "corpus/read/archive.h"

struct archive_column {
    char *name;
    const char *unread; /* why it is not read; NULL: it is */
};

/* Zero-initialised there are none. */
struct archive_columns {
    struct archive_column *items;
    size_t count, capacity;
};

/** @param unread static storage. False: no memory */
bool archive_columns_add(struct archive_columns *columns, const char *name, size_t size,
                         const char *unread);

/** Read those alone that are fields, where nothing else is wanted and one is there.
 * DOPPEL_E_UNSUPPORTED: a field that is asked for cannot be read, or no column can */
enum doppel_status archive_columns_choose(struct archive_columns *columns,
                                          const struct archive_input *input,
                                          struct doppel_error *error);

/** @return given (row_layout_free); NULL: no memory */
struct row_layout *archive_columns_layout(const struct archive_columns *columns);

void archive_columns_free(struct archive_columns *columns);

#endif
