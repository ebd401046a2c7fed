/* A store from the inside: shared by the files of this room. */
#ifndef DOPPEL_STORE_HANDLE_H
#define DOPPEL_STORE_HANDLE_H

#include <doppel/store.h>
#include <sqlite3.h>

#include "core/array.h"

struct prepared {
    const char *sql;
    sqlite3_stmt *statement;
};

/* As of one moment, which is that of the first statement: there may be none. */
enum reading { READING_NOT, READING_LATER, READING_NOW };

enum { WAL_HEAD_WORDS = 24 };
struct wal_head {
    uint32_t words[WAL_HEAD_WORDS];
};

struct doppel_store {
    sqlite3 *database;
    char *path;
    struct doppel_store_options options; /* without the schema */
    struct doppel_store_index *indexes;  /* open ones, which follow its transactions */
    struct checkpointer *checkpointer;   /* NULL: SQLite's own way */
    bool made;                           /* by this opening */
    enum reading reading;                /* as of one moment */
    bool wal_asked, has_wal;             /* whether it is written by a log */
    sqlite3_file *file;                  /* where has_wal */
    bool version_known;                  /* and that of this head of the log's index: */
    int64_t version;
    struct wal_head head;
    struct doppel_error unread; /* doppel_store_read_failure */
    ARRAY(struct prepared) prepared;
};

/** The status and the sentence for an SQLite result code; `store->database` is where it came from.
 */
enum doppel_status store_fail(const struct doppel_store *store, int code,
                              struct doppel_error *error);

/** Finalize all prepared statements. */
void store_forget_statements(struct doppel_store *store);

/** The first statement while READING_LATER. */
void store_read_first(struct doppel_store *store);

/** Whether a transaction of the caller's is open. */
bool store_in_transaction(const struct doppel_store *store);

/** The one number that a query gives; through a statement that does not outlive it. */
enum doppel_status store_read_number(struct doppel_store *store, const char *sql, int64_t *out,
                                     struct doppel_error *error);

/** Remove the file, if there are no rows in it but those of options.drop_but, and
 * nobody else has it open. */
void store_drop_unused(struct doppel_store *store);

/** Run a PRAGMA that checks pages and gives "ok". @return also DOPPEL_E_CORRUPT, with its finding
 */
enum doppel_status store_check_pages(struct doppel_store *store, const char *pragma,
                                     struct doppel_error *error);

#endif
