/* Blocks of lines on their way into a library: read by one thread at a time, parsed and signed by
 * several, taken in order of input. */
#ifndef DOPPEL_DECIDE_RECORDS_BATCH_H
#define DOPPEL_DECIDE_RECORDS_BATCH_H

#include "core/array.h"
#include <doppel/text.h>

#include "corpus/read/reader.h"

/* Bytes that grow; strings in them are named by their offset. */
struct bytes_pool {
    char *items;
    size_t count, capacity;
};

/** @return the offset of the copy; SIZE_MAX without memory */
size_t pool_add(struct bytes_pool *pool, const void *bytes, size_t size);
/** Likewise with its NUL; SIZE_MAX - 1 for NULL. */
size_t pool_add_string(struct bytes_pool *pool, const char *string);
const char *pool_string(const struct bytes_pool *pool, size_t at);

/* A record, without its text: that is in the block. */
struct prepared_record {
    uint64_t line, offset; /* in its file */
    size_t size;
    size_t id, source, date, problem; /* strings of the batch; `problem`: why it is unreadable */
    size_t client;                    /* likewise: who sent it; set of what was pushed */
    size_t lanes;                     /* offset in the batch's */
    size_t path;                      /* likewise, of a file; else none */
    size_t text, text_size;           /* a string of the batch, where the text is in no block */
    struct doppel_metadata *said; /* given (record_metadata_free): with the batch; NULL: nothing */
    struct doppel_record *read;   /* likewise (doppel_record_free): of a file that is nowhere, or of
                                     a code; NULL: it is a file or a text */
    struct doppel_exact_digests *exact;  /* likewise (free): of what was read; NULL: none */
    bool unreadable, too_short, is_file; /* is_file: or what was read of one */
    struct doppel_digest content;
    uint64_t words, simhash;
};

struct ingest_batch {
    struct line_block block;
    ARRAY(struct prepared_record) records;
    struct bytes_pool strings, lanes;
    struct doppel_text_looks looks;
    struct doppel_error error; /* status != OK: the run ends here */
};

/* What to decide about, in no line of a corpus. Borrowed. */
struct pushed {
    uint64_t number;                             /* from 1 */
    const char *path;                            /* of a file; else NULL, and: */
    const struct doppel_record *record;          /* what was read of one; else NULL, and: */
    const struct doppel_exact_digests *exact;    /* of what was read; NULL: not known */
    const struct doppel_library_text *signature; /* of a text that is elsewhere; else NULL, and: */
    const char *text;
    size_t text_size;
    const char *id, *source, *date; /* NULL: none */
    const struct doppel_metadata *metadata;
    const char *client;
};

/** Sign a text, or note a file or what was read of one, behind the others of a batch that no reader
 * fills. @param lanes of its texts. DOPPEL_OK, also when it cannot be read; DOPPEL_E_MEMORY: it is
 * not added. */
enum doppel_status ingest_batch_push(struct ingest_batch *batch, struct doppel_text *text,
                                     uint32_t lanes, const struct pushed *pushed,
                                     struct doppel_error *error);
/** It is empty then, but keeps its memory. */
void ingest_batch_clear(struct ingest_batch *batch);
void ingest_batch_free(struct ingest_batch *batch);

struct batches;

/** Begin to read. @param options,reader borrowed. @param with_files records without a text, and
 * lines that begin with no brace, name files. DOPPEL_OK; DOPPEL_E_MEMORY. */
enum doppel_status batches_new(const struct doppel_ingest_options *options, struct reader *reader,
                               bool with_files, struct batches **out, struct doppel_error *error);

/** Stop reading, wait for the threads, and free. */
void batches_free(struct batches *batches);

/** The next batch of a group, in order of input: of those that were ready when its first was asked
 * for, at most half of all; `*out` is NULL behind the last, and when none is ready after `wait_ms`
 * yet. Borrowed until batches_give_back. DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end. */
enum doppel_status batches_next(struct batches *batches, unsigned wait_ms,
                                struct ingest_batch **out);

/** End the group: its batches are filled again. */
void batches_give_back(struct batches *batches);

#endif
