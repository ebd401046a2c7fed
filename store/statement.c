/* Statements that are prepared once and used again. */
#include "store/handle.h"

#include <errno.h>
#include <string.h>

static sqlite3_stmt *find_prepared(const struct doppel_store *store, const char *sql)
{
    for (size_t i = 0; i < store->prepared.count; i++) {
        const struct prepared *entry = &store->prepared.items[i];
        if (entry->sql == sql || strcmp(entry->sql, sql) == 0)
            return entry->statement;
    }
    return NULL;
}

/* ---- what could not be read ---- */

/* The first such failure is kept. */
static bool is_to_be_noted(const struct doppel_store *store, enum doppel_status status)
{
    return !store->unread.status &&
           (status == DOPPEL_E_MEMORY || status == DOPPEL_E_IO || status == DOPPEL_E_NO_SPACE);
}

enum doppel_status doppel_store_note_failure(struct doppel_store *store, enum doppel_status status)
{
    if (is_to_be_noted(store, status))
        doppel_fail(&store->unread, status, "%s: %s", store->path,
                    status == DOPPEL_E_MEMORY ? "no memory" : "cannot be read");
    return status;
}

enum doppel_status doppel_store_read_failure(struct doppel_store *store, struct doppel_error *error)
{
    struct doppel_error unread = store->unread;
    store->unread.status = DOPPEL_OK;
    return unread.status ? doppel_fail(error, unread.status, "%s", unread.message) : DOPPEL_OK;
}

static enum doppel_status statement_failed(struct doppel_store *store, int code,
                                           struct doppel_error *error)
{
    struct doppel_error reason = {0};
    store_fail(store, code, &reason);
    if (is_to_be_noted(store, reason.status))
        store->unread = reason;
    return doppel_fail(error, reason.status, "%s", reason.message);
}

/* ---- statements ---- */

enum doppel_status doppel_store_statement(struct doppel_store *store, const char *sql,
                                          sqlite3_stmt **out, struct doppel_error *error)
{
    if (store->reading == READING_LATER)
        store_read_first(store);
    sqlite3_stmt *statement = find_prepared(store, sql);
    if (statement) {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
        *out = statement;
        return DOPPEL_OK;
    }
    errno = 0;
    int code =
        sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    if (code != SQLITE_OK)
        return statement_failed(store, code, error);
    if (!array_push(&store->prepared, ((struct prepared){sql, statement}))) {
        sqlite3_finalize(statement);
        return statement_failed(store, SQLITE_NOMEM, error);
    }
    *out = statement;
    return DOPPEL_OK;
}

enum doppel_status doppel_store_step(struct doppel_store *store, sqlite3_stmt *statement,
                                     bool *out_row, struct doppel_error *error)
{
    errno = 0;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        enum doppel_status status = statement_failed(store, code, error);
        sqlite3_reset(statement);
        return status;
    }
    if (code == SQLITE_DONE)
        sqlite3_reset(statement);
    *out_row = code == SQLITE_ROW;
    return DOPPEL_OK;
}

enum doppel_status store_check_pages(struct doppel_store *store, const char *pragma,
                                     struct doppel_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    enum doppel_status status = doppel_store_statement(store, pragma, &statement, error);
    if (!status)
        status = doppel_store_step(store, statement, &row, error);
    if (status)
        return status;
    const int reason = errno;
    const char *found = row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    const bool whole = found && strcmp(found, "ok") == 0;
    if (!whole && reason == EIO) /* that is a finding, too */
        status = store_fail(store, SQLITE_IOERR, error);
    else if (!whole)
        status =
            doppel_fail(error, DOPPEL_E_CORRUPT,
                        "%s: the database is damaged: %s; put a copy in its place, or rebuild it",
                        store->path, found ? found : "it cannot be checked");
    sqlite3_reset(statement);
    return status;
}

void store_forget_statements(struct doppel_store *store)
{
    for (size_t i = 0; i < store->prepared.count; i++)
        sqlite3_finalize(store->prepared.items[i].statement);
    array_free(&store->prepared);
}
