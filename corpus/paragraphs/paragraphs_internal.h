/* Counting paragraphs from the inside: what the two passes share. */
#ifndef DOPPEL_CORPUS_PARAGRAPHS_PARAGRAPHS_INTERNAL_H
#define DOPPEL_CORPUS_PARAGRAPHS_PARAGRAPHS_INTERNAL_H

#include <string.h>

#include <doppel/corpus.h>

#include "core/array.h"
#include "corpus/dedup/key_counter.h"
#include "corpus/paragraphs/paragraph.h"
#include "corpus/read/reader.h"
#include "corpus/read/record_text.h"
#include "corpus/read/spool.h"
#include "corpus/paragraphs/strip.h"

struct keyed_paragraph {
    struct paragraph paragraph;
    uint64_t key;
    bool has_key;
};

/* What is reported in the second pass; strings are offsets in the slot's bytes. */
enum event_kind { EVENT_PARAGRAPH, EVENT_RECORD, EVENT_UNREADABLE };

struct event {
    enum event_kind kind;
    uint32_t file;
    uint64_t line;
    size_t id_at; /* SIZE_MAX: none */
    size_t bytes_at, size;
    size_t entry;    /* of the table */
    uint64_t number; /* of the paragraph; or how many paragraphs */
    uint64_t dropped;
};

/* Workspace and results of one block. */
struct paragraph_slot {
    struct parser *parser;
    struct doppel_text *source, *words; /* to plain text; to words */
    struct file_text file;
    const char *text; /* plain, of the record */
    size_t text_size;
    ARRAY(struct keyed_paragraph) paragraphs; /* of the record */
    struct doppel_error error;                /* what ends the run */

    ARRAY(uint64_t) keys; /* first pass: of the block, each once a record */
    ARRAY(bool) dropped;  /* second: of the record */
    ARRAY(struct event) events;
    struct buffer bytes, stripped;
    uint64_t records, unreadable;
};

struct counting {
    const struct doppel_paragraph_options *options;
    uint32_t threads;
    struct spool spool;
    struct reader *reader; /* of this pass */
    struct paragraph_slot *slots;
    bool second;
    struct key_counter *counter;
    struct key_table table;
    _Atomic unsigned char *seen; /* of entries of the table: visited */
    struct doppel_paragraph_counts counts;
};

/** Cut the text of a record. `reason` has a status where it is unreadable. @return false when the
 * run cannot go on: see slot->error */
bool paragraphs_read(struct paragraph_slot *slot, const struct counting *counting,
                     const struct doppel_corpus_record *record, struct doppel_error *reason);

const char *counting_path(const struct counting *counting, uint32_t file);
/** DOPPEL_OK or DOPPEL_E_CANCELLED. */
enum doppel_status counting_progress(const struct counting *counting);

/* The passes, as struct blocks_run wants them. */
void count_block(void *context, size_t slot, const struct line_block *block);
enum doppel_status count_deliver(void *context, size_t slot, struct doppel_error *error);
void show_block(void *context, size_t slot, const struct line_block *block);
enum doppel_status show_deliver(void *context, size_t slot, struct doppel_error *error);

#endif
