/**
 * doppel/store.h: durability. A thin, checked use of SQLite (WAL): opening with a schema and its
 * version, transactions, statements that are prepared once. What the tables mean, the library says.
 *
 * A store belongs to one thread at a time. Any number of processes may read while one writes.
 */
#ifndef DOPPEL_STORE_H
#define DOPPEL_STORE_H

#include <stdbool.h>

#include <doppel/core.h>

struct sqlite3;
struct sqlite3_stmt;

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_store;

struct doppel_store_options {
    uint32_t application_id; /**< told apart from other people's databases by it (PRAGMA
                                application_id) */
    uint32_t schema_version; /**< PRAGMA user_version */
    const char *schema;      /**< SQL that makes all tables of this version; run on a new file */
    bool create;             /**< make the file when it is not there */
    bool read_only;
    bool durable; /**< survive power loss (synchronous=FULL); else SIGKILL only (NORMAL) */
    uint32_t busy_timeout_ms; /**< how long to wait for another writer */
};

/**
 * Open a database, or make it: in one transaction, whoever else does the same at that moment.
 *
 * A read-only one in a place where nothing can be written is read as it lies there, without locks.
 * Triggers and views that it may hold are not run.
 *
 * @param out given (doppel_store_close)
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND (no file, or a blank one); _CORRUPT (damaged, or no
 * database at all); _FORMAT (another program's database, or no regular file); _VERSION; _IO; _BUSY;
 * _MEMORY
 */
DOPPEL_API enum doppel_status doppel_store_open(const char *path,
                                                const struct doppel_store_options *options,
                                                struct doppel_store **out,
                                                struct doppel_error *error);
DOPPEL_API void doppel_store_close(struct doppel_store *store);

/** The path it was opened with; lives as long as the store. */
DOPPEL_API const char *doppel_store_path(const struct doppel_store *store);

/** Run statements, separated by semicolons, that give no rows and are run once. */
DOPPEL_API enum doppel_status doppel_store_execute(struct doppel_store *store, const char *sql,
                                                   struct doppel_error *error);

/** Begin a write transaction (BEGIN IMMEDIATE; DOPPEL_E_BUSY when another process has one for
 * longer than the timeout), end it, or take it back. A commit that fails takes back all. */
DOPPEL_API enum doppel_status doppel_store_begin(struct doppel_store *store,
                                                 struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_store_commit(struct doppel_store *store,
                                                  struct doppel_error *error);
DOPPEL_API void doppel_store_rollback(struct doppel_store *store);

/**
 * A statement, prepared once per text and reset; bind it with sqlite3_bind_*, step it with
 * doppel_store_step.
 * @param sql a string that lives as long as the store (a literal)
 * @param out borrowed until the next doppel_store_statement with the same text
 */
DOPPEL_API enum doppel_status doppel_store_statement(struct doppel_store *store, const char *sql,
                                                     struct sqlite3_stmt **out,
                                                     struct doppel_error *error);

/** Step; `*out_row` says whether there is a row to read with sqlite3_column_*. Resets the statement
 * at its end and on failure. */
DOPPEL_API enum doppel_status doppel_store_step(struct doppel_store *store,
                                                struct sqlite3_stmt *statement, bool *out_row,
                                                struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
