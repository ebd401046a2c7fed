/* An ingest from the inside: shared by its files. */
#ifndef DOPPEL_DECIDE_RECORDS_INGEST_INTERNAL_H
#define DOPPEL_DECIDE_RECORDS_INGEST_INTERNAL_H

#include "corpus/dedup/sieve.h"
#include "corpus/dedup/library_leaders.h"
#include "corpus/read/record_text.h"
#include "decide/records/batch.h"
#include "decide/records/decider.h"
#include "decide/records/earlier.h"
#include "decide/records/ingest.h"

/* What was decided of a record, until it is reported. */
struct told {
    const struct ingest_batch *batch;
    const struct prepared_record *record;
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    uint64_t item, of_item, same_id;
    size_t of, of_path; /* strings */
    uint64_t of_line;
    size_t replaces;      /* string */
    size_t why, upstream; /* strings, of what the upstream made of it */
    bool queued;          /* it is still to be asked */
    bool unique, has_match, replayed;
    struct doppel_match match;
};

/* How the text of a group that is to be kept is chosen. */
struct canonical {
    bool chooses; /* there are sources, or a policy */
    struct doppel_keep_policy policy;
};

struct ingest {
    struct doppel_library *library;
    struct upstream *upstream; /* NULL: nobody is asked */
    struct doppel_ingest_options options;
    bool with_files;               /* records may name some */
    struct reader *reader;         /* NULL: records are pushed */
    struct batches *batches;       /* likewise */
    struct ingest_batch pushed[2]; /* what waits, and what is decided about */
    uint64_t pushed_count;
    struct leaders *leaders;
    int64_t version; /* of the library that these are as of */
    uint32_t bands, rows;
    struct sieve sieve;

    /* how far it is */
    struct ingest_batch *batch;  /* NULL: none is at hand */
    size_t at;                   /* the next record of the batch */
    bool in_group;               /* batches are held */
    bool stopped;                /* by the caller's progress */
    struct doppel_error failure; /* status != OK: after what was decided before it, the end */

    /* the record that is being decided */
    const struct prepared_record *record;
    struct parser *parser;
    struct doppel_text *text;
    struct file_text file;
    const uint32_t *shingles; /* NULL: not asked for yet, or not to be had */
    size_t shingle_count;
    bool tried;

    /* what people said, as of the last begin */
    bool has_states, has_words;
    ARRAY(struct doppel_digest) marked;
    ARRAY(uint64_t) apart; /* representatives of what the record is said to be distinct from */
    ARRAY(struct near_text) near;
    uint64_t replaced;                /* by the record, while that is decided about; 0: none */
    struct doppel_error people_error; /* status != OK: it could not be looked up */
    struct canonical canonical;

    char *path; /* of the file of the batch, absolute; NULL: its lines cannot be read again */
    uint32_t path_file;
    bool path_known;

    ARRAY(struct told) told; /* since the last commit, and, once it is kept, until it is reported */
    size_t told_count;       /* of them */
    bool kept;
    struct bytes_pool strings;
    struct json_line line;           /* of a record that is an archive's row */
    struct bytes_pool name;          /* of the record at hand in the log */
    ARRAY(struct record_file) files; /* that were handed out */
    uint64_t count;                  /* records told */

    ingest_on_keep *on_keep; /* NULL: nothing */
    void *on_keep_context;
};

/** Decide about a record, which is at hand from now on; keep it, and add what is to be told of it
 * to ingest->told. DOPPEL_OK; those of the library, of the upstream, and _MEMORY */
enum doppel_status ingest_decide_record(struct ingest *ingest, const struct prepared_record *record,
                                        struct doppel_error *error);

/** The shingles of the record at hand, in ingest->shingles where they are to be had. DOPPEL_OK;
 * DOPPEL_E_MEMORY */
enum doppel_status ingest_load_shingles(struct ingest *ingest, struct doppel_error *error);

/** Of the file that a batch is of: "-" of what was pushed. */
const char *ingest_file_path(const struct ingest *ingest, uint32_t file);

/** The lanes of the record at hand. */
const uint16_t *ingest_lanes(const struct ingest *ingest);

/** Compare it with an earlier text; or with one that is near, unless their signatures make a match
 * all but impossible. @param out_matches as doppel_match_texts returns */
enum doppel_status match_earlier(struct ingest *ingest, uint64_t earlier, struct doppel_match *out,
                                 bool *out_matches, struct doppel_error *error);
enum doppel_status match_near(struct ingest *ingest, const struct near_text *near,
                              struct doppel_match *out, bool *out_matches,
                              struct doppel_error *error);

/** Where the record at hand comes from; borrowed from its batch. */
struct doppel_origin own_origin(const struct ingest *ingest);

/** A line of the log for what was decided of the record at hand. @param item in the library; 0: it
 * was not added. As doppel_library_log */
enum doppel_status ingest_log(struct ingest *ingest, const struct decider_answer *answer,
                              uint64_t item, struct doppel_error *error);

/** The source of the record at hand; NULL: none. */
const char *ingest_source(const struct ingest *ingest);

/** What lists make of an earlier text; whether it was decided to be nobody's duplicate on account
 * of one that is on a benign list. */
enum doppel_list_state people_state(struct ingest *ingest, uint64_t earlier);
bool people_were_benign(struct ingest *ingest, uint64_t earlier);

/** The contents of which somebody said this word and of the content of the record at hand, in
 * ingest->marked. */
void people_marked(struct ingest *ingest, enum doppel_manual_label word);

/** Look at what the record says of itself, before anything is decided: where the library would not
 * take it, the record is unreadable from now on. */
enum doppel_status people_check(struct ingest *ingest, struct prepared_record *record,
                                struct doppel_error *error);

/** What else is called as the record at hand, before it is reported; 0: nothing. A look at
 * the library, where records say so or come with files. */
enum doppel_status people_same_id(struct ingest *ingest, const struct decider_answer *answer,
                                  uint64_t *out, struct doppel_error *error);

/** Say of what was added what is to be said of all, and what the record says. */
enum doppel_status people_tell(struct ingest *ingest, uint64_t item, struct doppel_error *error);

/** See whether there is anything to choose by. */
enum doppel_status canonical_begin(struct ingest *ingest, struct doppel_error *error);

/** Whether the record at hand is to be kept rather than the one of its group that was so far.
 * @param item in the library; 0: it is only asked. @param out_replaced that one; 0: it stays */
enum doppel_status canonical_choose(struct ingest *ingest, const struct decider_answer *answer,
                                    uint64_t item, uint64_t *out_replaced,
                                    struct doppel_error *error);

/** Gather the records of the batch from `at` on that name files, which is behind them then.
 * DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status ingest_gather_files(struct ingest *ingest, struct doppel_error *error);

#endif
