/* A library from the inside: shared by its files. */
#ifndef DOPPEL_LIBRARY_CATALOGUE_H
#define DOPPEL_LIBRARY_CATALOGUE_H

#include "library/checksum.h"
#include "library/memory.h"
#include "library/items/record.h"

/** What the checksum of an item covers, and the SQL for whether an item and its fingerprint are as
 * they were written. Of scheme 0, an item has none. */
#define ITEM_COLUMNS "path, settled, added_ns, " STAMP_COLUMNS ", " RECORD_COLUMNS
#define COMPUTED_COLUMNS(table) table ".item, " table ".data"
#define ROW_IS_WHOLE "item." IS_WHOLE(ITEM_COLUMNS)
#define ITEM_IS_WHOLE                                                                              \
    ROW_IS_WHOLE                                                                                   \
    " AND (item.scheme = 0 OR fingerprint." IS_WHOLE(COMPUTED_COLUMNS("fingerprint")) ")"

/** The same of what is said of an item. */
#define ABOUT_COLUMNS "item, source, date, external_id, meta"

/** The path of an item that has no file: a zero byte, and its id, big-endian. */
enum { NO_FILE_BYTES = 9 };
#define HAS_NO_FILE "(length(item.path) = 9 AND substr(item.path, 1, 1) = x'00')"

/** Each item is in the one or the other index by scheme, version and kind; and a query of items of
 * a scheme, which ends in a condition, of both. */
#define WITH_FILE "item.path >= x'01'"
#define WITHOUT_FILE "item.path < x'01'"
#define OF_BOTH(query) query " AND " WITH_FILE " UNION ALL " query " AND " WITHOUT_FILE
#define IS_TEXT_SCHEME "item.scheme BETWEEN 5 AND 9"

/** How people know an item: by its path, else by what they call it; NULL when by nothing. */
#define NAME_OF_ITEM                                                                               \
    "CASE WHEN " HAS_NO_FILE " THEN CAST((SELECT external_id FROM about WHERE about.item ="        \
    " item.id) AS BLOB) ELSE item.path END"

/* Indexes that are derived from items: derived.h. */
enum derived_index { DERIVED_AUDIO, DERIVED_VIDEOS, DERIVED_PARTS, DERIVATIONS };

struct derived {
    const struct derivation *derivation;
    struct doppel_store *store;
    struct doppel_store_index *index; /* open to write; NULL: not yet */
    struct derived_reader *reader;    /* NULL: never asked for */
    bool was_incomplete; /* segment files were missing when the library was opened to write */
};

/* Indexes of codes: derived/codes.h. */
enum code_table {
    CODES_PHASH64,
    CODES_PHASH64_FULL,
    CODES_PHASH256,
    CODES_IMAGEHASH,
    CODES_PDQ,
    CODES_MINHASH128, /* behind each of those who lead, that of those who follow */
    CODES_MINHASH128_FOLLOWERS,
    CODES_MINHASH256,
    CODES_MINHASH256_FOLLOWERS,
    CODES_SIMHASH64,
    CODES_WINNOW32,
    CODES_WINNOW32_FOLLOWERS,
    CODES_CONTENTS,
    CODES_CHROMAPRINT,
    CODES_SHINGLES128, /* of files: their lowest ones */
    CODES_SHINGLES256,
    CODE_TABLES
};

struct code_spool;
struct code_index {
    struct doppel_store_index *kept; /* NULL: not open */
    uint64_t put;                    /* codes, while it is open */
    struct doppel_index *private;    /* in its place where nothing can be written */
    int64_t private_version;         /* of the database that it was made of */
    uint32_t bands, rows;            /* that it is to have; 0: those it was made with */
    uint64_t scanned;                /* signatures, for other bands than it has */
    bool put_off, owed;              /* not put into in this transaction; to be made */
    struct code_spool *spool;        /* all that came in since it is put off; NULL: not known */
    int64_t spool_version;           /* of the database when that began */
};

/* The farthest of what lists say, to one that others change alone. */
struct farthest_limits {
    bool known, any;
    int64_t version; /* of the database then */
    int64_t distance;
    double similarity;
};

struct doppel_library {
    struct doppel_store *store;
    bool read_only, no_rebuild;
    bool reading;        /* as of one moment */
    uint32_t processors; /* asked for once: the system opens a file to answer */
    bool may_go;         /* the folder, which this opening made, when it is empty at the end */
    char *directory;
    int64_t opened_ns;                /* stamps of files changed since then are not settled */
    bool writing;                     /* a transaction is open */
    bool (*cancelled)(void *context); /* whether to end what takes long; NULL: no */
    void *cancel_context;
    struct doppel_library_watch watch;
    bool (*stopped)(void); /* the same, as it was set before there was a context */
    bool visiting;         /* within doppel_library_each */
    bool visiting_texts, visiting_log;
    uint32_t text_lanes; /* of the signatures of its texts; 0: not looked up yet */
    char *corpus;        /* path of a row of `corpus`; NULL: none yet in this transaction */
    int64_t corpus_number;
    struct derived derived[DERIVATIONS];
    struct code_index codes[CODE_TABLES];
    struct memory memory; /* what is asked for each candidate */
    const char *client;   /* who has it changed; NULL: nobody who has a name */
    struct farthest_limits limits;
};

/** SQLite's cache. Ids in no order dirty a page of their index each: a writer keeps some of these.
 * More would cost more than they save: SQLite may look through all of them at a commit, of which
 * only those who write much at once have few. */
enum { WRITER_CACHE_KB = 16384 };
void library_set_cache(struct doppel_library *library, int kilobytes);

/** Open the catalogue of a library. @param out given (doppel_store_close) */
enum doppel_status catalogue_open(const char *directory,
                                  const struct doppel_library_options *options,
                                  struct doppel_store **out, struct doppel_error *error);

/** A visit of rows begins; and its visitor ended it: what the visitor said in the same `error`,
 * with a status, stays. @return DOPPEL_E_CANCELLED */
void visit_begin(struct doppel_error *error);
enum doppel_status visit_ended(struct doppel_error *error);

/** Begin the transaction that doppel_library_commit ends, unless there is one. */
enum doppel_status library_begin(struct doppel_library *library, struct doppel_error *error);

/** End one change; on failure all since the last commit is taken back. DOPPEL_E_ARGUMENT and
 * DOPPEL_E_NOT_FOUND are said before anything is changed, and take nothing back. */
enum doppel_status library_end(struct doppel_library *library, enum doppel_status status);

/** Step a statement that gives no row. */
enum doppel_status library_run(struct doppel_library *library, sqlite3_stmt *statement,
                               struct doppel_error *error);

void path_bind(sqlite3_stmt *statement, int parameter, const char *path);

/** A path from a row, as a string, "" of an item without a file; given (free). DOPPEL_E_CORRUPT for
 * what cannot be one, DOPPEL_E_MEMORY. */
enum doppel_status path_read(sqlite3_stmt *statement, int column, char **out);

/** Visit, as doppel_library_each does, the items of all schemes but none and another one; and one
 * item, if it is of one of these two. */
enum doppel_status items_each_but(struct doppel_library *library, enum doppel_scheme_id scheme,
                                  doppel_item_visitor *visitor, void *context,
                                  struct doppel_error *error);
enum doppel_status items_visit_one(struct doppel_library *library, int64_t id,
                                   enum doppel_scheme_id scheme, doppel_item_visitor *visitor,
                                   void *context, struct doppel_error *error);

/** The first item with these bytes, and the first of them whose file is gone, with its path, given
 * (free); 0 and NULL without one. @param out_gone, out_path NULL: not asked for */
enum doppel_status library_moved(struct doppel_library *library, const struct doppel_digest *digest,
                                 uint64_t *out_first, uint64_t *out_gone, char **out_path,
                                 struct doppel_error *error);

/** Forget what only holds as long as nothing is taken back. */
void texts_rolled_back(struct doppel_library *library);

/** doppel_library_log within a change that has begun; and of so many items with ids in a row, from
 * the entry's on, the same, in one row. Their names are those that they have. */
enum doppel_status log_append(struct doppel_library *library, const struct doppel_log_entry *entry,
                              struct doppel_error *error);
enum doppel_status log_append_many(struct doppel_library *library,
                                   const struct doppel_log_entry *entry, uint64_t items,
                                   struct doppel_error *error);

#endif
