/* Records, decided one after the other as they are asked for; files among them are handed out in
 * their place. */
#ifndef DOPPEL_DECIDE_RECORDS_INGEST_H
#define DOPPEL_DECIDE_RECORDS_INGEST_H

#include "decide/records/batch.h"

struct ingest;
struct upstream;

/* A file that a record names, or what was read of one that is nowhere. Strings are borrowed. */
struct record_file {
    uint64_t line;              /* of the record, from 1 */
    const char *path;           /* relative to the working folder, or absolute; of what is
                                   nowhere its id, or "" */
    struct doppel_record *read; /* may be taken: then it is empty; NULL: it is a file */
    const struct doppel_exact_digests *exact; /* of what was read; NULL: not known */
    const char *id;                           /* NULL: it has none */
    const char *source, *date;                /* NULL: not known */
    const char *client;                       /* who sent it; NULL: nobody with a name */
    const struct doppel_metadata *said;       /* what else the record says; NULL: nothing */
};

/* A decision about a record, which is kept; or files, which the caller is to decide about: all that
 * came before them is kept and reported, and no change of the library is in flight. Borrowed until
 * the next call. */
struct ingest_found {
    struct doppel_dedup_decision decision;
    const char *upstream;            /* as of struct doppel_decided */
    bool queued;                     /* likewise */
    const struct record_file *files; /* or what was read of some, not both; NULL: a decision */
    size_t file_count;
};

/**
 * @param library,options borrowed for its life
 * @param with_files records that name a file and have no text, and lines that begin with no brace,
 *        which are paths, are handed out; else the text of a record is what its file holds
 * @param upstream borrowed for its life; NULL: nobody is asked
 * @param out given (ingest_free)
 */
enum doppel_status ingest_new(struct doppel_library *library,
                              const struct doppel_ingest_options *options, bool with_files,
                              struct upstream *upstream, struct ingest **out,
                              struct doppel_error *error);
void ingest_free(struct ingest *ingest);

/* What else is written with each decision, in its transaction. Not of a check. */
typedef enum doppel_status ingest_on_keep(void *context,
                                          const struct doppel_dedup_decision *decision,
                                          struct doppel_error *error);
void ingest_set_on_keep(struct ingest *ingest, ingest_on_keep *on_keep, void *context);

/* What is to be decided about next, where the options name no files: copied; a file is handed out.
 * DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status ingest_push(struct ingest *ingest, struct pushed *pushed,
                               struct doppel_error *error);
size_t ingest_pushed(const struct ingest *ingest); /* how many are not decided about yet */

/* DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end, or where nothing was pushed; others as doppel_ingest */
enum doppel_status ingest_next(struct ingest *ingest, struct ingest_found *out,
                               struct doppel_error *error);

/* How many decisions the next calls give at once: they are kept. */
size_t ingest_waiting(const struct ingest *ingest);

#endif
