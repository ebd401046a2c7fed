/* Files that hold records in another way than line by line: WARC and WET, Parquet, Arrow. They
 * are recognised by their first bytes, and become rows. */
#ifndef DOPPEL_CORPUS_READ_ARCHIVE_H
#define DOPPEL_CORPUS_READ_ARCHIVE_H

#include <doppel/corpus.h>

#include "corpus/read/row.h"
#include "corpus/read/source.h"

struct archive;

/* A file, when its first bytes were read. All is borrowed, but for `begun` for the archive's life.
 */
struct archive_input {
    struct corpus_source *source;
    bool is_plain;     /* its bytes can be had in any order */
    const char *begun; /* what was read of the source already */
    size_t begun_size;
    const struct doppel_corpus_fields *fields; /* NULL: nothing is asked for */
    bool only_fields;                          /* other columns are not wanted */
    uint64_t max_bytes;                        /* of a row */
};

/** Whether these are the first bytes of one. */
bool archive_begins(const char *bytes, size_t size);

/** @param out given (archive_free). DOPPEL_E_UNSUPPORTED; DOPPEL_E_CORRUPT; DOPPEL_E_LIMIT;
 * DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status archive_new(const struct archive_input *input, struct archive **out,
                               struct doppel_error *error);
void archive_free(struct archive *archive);

/** The columns of its rows; the caller's from now on (row_layout_free). */
struct row_layout *archive_give_layout(struct archive *archive);

/** As source_read, of rows; a failure comes behind all rows that were whole. */
enum doppel_status archive_read(struct archive *archive, char *buffer, size_t size,
                                size_t *out_size, struct doppel_error *error);

/** Bytes of the file itself up to which it was read. */
uint64_t archive_bytes_read(const struct archive *archive);

/* A kind of archive. */
struct archive_format {
    bool (*begins)(const char *bytes, size_t size);
    enum doppel_status (*open)(const struct archive_input *input, void **out,
                               struct row_layout **out_layout, struct doppel_error *error);
    /* Append some rows; none: it is at its end. What is written of a row that fails is no row. */
    enum doppel_status (*rows)(void *state, struct row_writer *rows, struct doppel_error *error);
    uint64_t (*bytes_read)(const void *state); /* NULL: those of the source */
    void (*free)(void *state);
};

extern const struct archive_format warc_format, parquet_format, arrow_format;

#endif
