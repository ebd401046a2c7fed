/* What reading a corpus holds: shared by reader.c (the reader and its files), reader_open.c (a file
 * begins and ends) and reader_block.c (blocks of the open file). */
#ifndef DOPPEL_CORPUS_READ_READER_INTERNAL_H
#define DOPPEL_CORPUS_READ_READER_INTERNAL_H

#include "corpus/read/archive.h"
#include "corpus/read/field_check.h"
#include "corpus/read/reader.h"
#include "corpus/read/source.h"

enum { BLOCK_BYTES = 1 << 18, SPARE_BLOCKS = 8 };

struct reader {
    const atomic_bool *stop; /* may be NULL */
    bool takes_paths;
    bool partial; /* not all of the input is read */
    enum doppel_corpus_format format;
    int descriptor;            /* what "-" is; 0: standard input */
    uint64_t first_line;       /* of it; above 1 it goes on with what another reader read */
    struct field_check *check; /* NULL: whether records have texts is not asked */
    uint64_t max_line_bytes;
    const struct corpus_file *former; /* that the one file must still be; NULL: nothing is known */
    struct corpus_file *files;
    size_t file_count;
    uint32_t next_file;

    struct corpus_source *source; /* of file next_file - 1, or NULL */
    struct archive *archive;      /* over the source; NULL: that has lines, or rows of a table */
    const struct doppel_corpus_fields *fields; /* that are asked for, where it is known */
    bool only_fields;                          /* other columns of archives are not read */
    bool regular;
    char separator;        /* of the cells of its rows; 0: of JSON Lines */
    uint64_t line, offset; /* of the next line in it */
    char *rest;            /* its beginning, read already */
    size_t rest_size, rest_capacity;
    char *spares[SPARE_BLOCKS]; /* of blocks, with room for BLOCK_BYTES */
    size_t spare_count;

    uint64_t bytes_total, bytes_before; /* in all; in the files before this one */
    _Atomic uint64_t bytes_done;
};

/* Open the next file, as files[next_file - 1]. */
enum doppel_status reader_open_next(struct reader *reader, struct doppel_error *error);
void reader_end_file(struct reader *reader);
void reader_count_bytes(struct reader *reader);
/* Lines of a stream may be paths: of those nothing is a mark. */
bool reader_may_meet_archive(const struct reader *reader);

/* The next block of the open file; without lines and damage where it is at its end. */
enum doppel_status reader_next_of_file(struct reader *reader, struct line_block *block,
                                       struct doppel_error *error);

#endif
