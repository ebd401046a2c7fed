/*
 * Records of corpora: JSON Lines, CSV or TSV, plain or compressed, cut into blocks of whole lines
 * by one thread and parsed by any.
 */
#ifndef DOPPEL_CORPUS_READ_READER_H
#define DOPPEL_CORPUS_READ_READER_H

#include <stdatomic.h>
#include <sys/stat.h>

#include <doppel/corpus.h>

#include "corpus/read/csv.h"
#include "corpus/read/parse.h"
#include "corpus/read/reread.h"

struct reader; /* of one thread */

/* Whole lines of one file. */
struct line_block {
    const char *bytes; /* readable PARSE_SLACK beyond `size`, as the parser wants it */
    size_t size;
    uint32_t file;                   /* number in the reader's list of files */
    uint64_t offset;                 /* of the first line, in the file as decompressed */
    uint64_t line;                   /* number of the first line, from 1; 0: no line was reached */
    uint64_t max_line_bytes;         /* longer ones are unreadable */
    const struct row_layout *layout; /* of rows (row.h for an archive's); NULL: lines are JSON */
    bool with_blanks;                /* blank lines are unreadable records; else none */
    struct doppel_error damage; /* status != OK: after these lines comes one that cannot be read (a
                                   file that cannot be opened or ends in damage, an endless line) */
    uint64_t damage_size;       /* bytes of that line; 0: not known */
    void *memory;               /* what line_block_free frees */
    size_t capacity;            /* of it, without PARSE_SLACK */
};

/** Begin: folders stand for all files in them whose names are those of a format that is read, by
 * byte order of names; "-" is standard input. @param paths borrowed until reader_free */
enum doppel_status reader_new(const struct doppel_corpus_files *files, struct reader **out,
                              struct doppel_error *error);
void reader_free(struct reader *reader);

/** Look at a flag while pipes give nothing: once it is true, the next block has the damage
 * DOPPEL_E_CANCELLED. To be called before the first block. @param stop borrowed until reader_free
 */
void reader_stop_by(struct reader *reader, const atomic_bool *stop);

/** End, with DOPPEL_E_ARGUMENT and the names of the fields that are there, where no record has a
 * text: none of a whole input of files, none of the first 10 000, or of the first 1000 that come
 * through a pipe. After reader_take_paths. False: no memory */
bool reader_check_fields(struct reader *reader, const struct doppel_corpus_fields *fields);

/** Lines may be paths: what the first one begins with tells nothing of the file. */
void reader_take_paths(struct reader *reader);

/** Columns of archives that are no fields (reader_check_fields) are not read. Before the first
 * block. */
void reader_take_only_fields(struct reader *reader);

/** The next block. @param out given (line_block_free), may be freed by another thread.
 * DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end; DOPPEL_E_MEMORY */
enum doppel_status reader_next(struct reader *reader, struct line_block *out,
                               struct doppel_error *error);
void line_block_free(struct line_block *block);
/** Instead of line_block_free: later blocks are read into its memory, in which the kernel has put
 * pages already. On the reader's thread. */
void reader_take_back(struct reader *reader, struct line_block *block);

size_t reader_file_count(const struct reader *reader);
const char *reader_file_path(const struct reader *reader, uint32_t file);
/** How lines of a file are read that come from it once more; NULL: as JSON, as are rows of
 * archives when they were made lines. */
const struct row_layout *reader_file_layout(const struct reader *reader, uint32_t file);
/** How the rows of an archive are read whose blocks were; NULL: it is none. */
const struct row_layout *reader_archive_layout(const struct reader *reader, uint32_t file);
/** What is known of a file whose blocks were read. */
struct doppel_corpus_input reader_file_input(const struct reader *reader, uint32_t file);
/** Whether it can be read again: no pipe, and not standard input. */
bool reader_file_is_regular(const struct reader *reader, uint32_t file);
/** Whether lines can be read again by their offset: a regular file that is not compressed. */
bool reader_file_is_plain(const struct reader *reader, uint32_t file);
/** Begin to read one regular file again; DOPPEL_E_CHANGED in its first block's damage: it is not
 * what it was. @param reader borrowed until reader_free(*out) */
enum doppel_status reader_again(const struct reader *reader, uint32_t file, struct reader **out,
                                struct doppel_error *error);
/** As it was opened. */
const struct stat *reader_file_stat(const struct reader *reader, uint32_t file);
/** How many newlines of it were read. */
uint64_t reader_file_lines(const struct reader *reader, uint32_t file);
/** Open all files, before the first block, so that what reader_file_… tells of them is known, but
 * for `head` and columns. The first that cannot be opened ends it, with its path. */
enum doppel_status reader_survey(struct reader *reader, struct doppel_error *error);

/* Bytes of a file; of nothing both are the same. */
struct reader_range {
    uint64_t from, to; /* the beginnings of two lines, or 0 and UINT64_MAX: all of it */
};

/** Read no more than these, before the first block: lines are counted from where they begin, while
 * offsets stay those of the file. @param ranges of each file; others than all are of plain ones */
void reader_take_ranges(struct reader *reader, const struct reader_range *ranges);
/** Bytes read and in all, of the files as they lie on the disk; 0 in all: not known. */
void reader_progress(const struct reader *reader, uint64_t *out_done, uint64_t *out_total);

/** Read a part of a plain file once more. Thread-safe. DOPPEL_OK; DOPPEL_E_CHANGED; DOPPEL_E_IO */
enum doppel_status reader_rewind(const struct reader *reader, uint32_t file,
                                 const struct reread_part *part, struct doppel_error *error);

/** The sentence for a line over the limit. @param line its beginning, `size` its whole size */
enum doppel_status line_too_long(const char *line, uint64_t size, uint64_t limit,
                                 struct doppel_error *error);

/* ---- from lines to records (simdjson behind parse.cpp) ---- */

struct parser; /* of one thread */
struct parser *parser_new(const struct doppel_corpus_fields *fields);
void parser_free(struct parser *parser);

/** From now on a line that begins with no brace is the path of a file, as it stands there. */
void parser_take_paths(struct parser *parser);

/** From now on what records say of themselves is read too, but for fields that are called otherwise
 * here. False: no memory. */
bool parser_take_metadata(struct parser *parser);

/** What the record that was parsed last says of itself: given (record_metadata_free); NULL:
 * nothing. */
struct doppel_metadata *parser_give_metadata(struct parser *parser);

/** The lines that follow are rows of such a file; NULL: JSON. @param layout borrowed until the next
 * call */
void parser_take_rows(struct parser *parser, const struct row_layout *layout);

/** Parse one line. Strings of the record are borrowed until the next call; a record with
 * error.status != OK has what could be read before. @param line readable PARSE_SLACK beyond size */
void parser_line(struct parser *parser, const char *line, size_t size,
                 struct doppel_corpus_record *out);

/** Where the text of the record that was parsed last stands in its line, quotes and all; NULL: it
 * has none there. */
const char *parser_text_token(const struct parser *parser, size_t *out_size);

/** False ends it. */
typedef bool record_visitor(void *context, const struct doppel_corpus_record *record);

/** Parse all lines of a block, in order; blank ones as it says. The damage of the block, if
 * any, comes as a last record. @return false when the visitor ended it */
bool parser_block(struct parser *parser, const struct line_block *block, record_visitor *visitor,
                  void *context);

#endif
