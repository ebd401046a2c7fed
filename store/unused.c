/* A database that was made for something to come, which did not. */
#include <unistd.h>

#include "store/handle.h"

static bool table_is_empty(struct doppel_store *store, const unsigned char *table)
{
    int64_t rows = 1;
    char *sql = sqlite3_mprintf("SELECT EXISTS (SELECT 1 FROM \"%w\")", table);
    bool read = sql && !store_read_number(store, sql, &rows, NULL);
    sqlite3_free(sql);
    return read && !rows;
}

static bool is_unused(struct doppel_store *store)
{
    char *tables = sqlite3_mprintf("SELECT name FROM sqlite_schema WHERE type = 'table' AND name "
                                   "NOT IN ('sqlite_sequence',%s)",
                                   store->options.drop_but);
    sqlite3_stmt *statement = NULL;
    bool empty = true;
    int code = tables ? sqlite3_prepare_v2(store->database, tables, -1, &statement, NULL)
                      : SQLITE_NOMEM;
    while (code == SQLITE_OK && empty && sqlite3_step(statement) == SQLITE_ROW)
        empty = table_is_empty(store, sqlite3_column_text(statement, 0));
    bool ended = sqlite3_finalize(statement) == SQLITE_OK && code == SQLITE_OK;
    sqlite3_free(tables);
    return ended && empty;
}

/* To leave WAL mode wants a file that nobody else has open. From then on it is locked: who opens it
 * before it is gone waits, and finds that it has moved. */
void store_drop_unused(struct doppel_store *store)
{
    sqlite3 *database = store->database;
    if (!is_unused(store))
        return;
    sqlite3_busy_timeout(database, 0);
    if (sqlite3_exec(database, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) ||
        sqlite3_exec(database, "BEGIN EXCLUSIVE", NULL, NULL, NULL))
        return;
    if (is_unused(store))
        (void)unlink(store->path);
    (void)sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
}
