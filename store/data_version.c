/* Whether others have written: by SQLite's word, and where that is not needed without asking. */
#include "store/handle.h"

#include <string.h>

/* The head of the index of a write-ahead log, which is memory that all who have the file open share
 * (https://sqlite.org/walformat.html, 2.1): each commit, and each time the log begins again,
 * changes it. */
enum { REGION_BYTES = 32768 };

/* It may be half written: then it is unlike any that was seen. Whoever writes holds no lock against
 * those who look. */
__attribute__((no_sanitize("thread"))) static void copy_head(const volatile void *from,
                                                             struct wal_head *out)
{
    const volatile uint32_t *words = from;
    for (size_t i = 0; i < WAL_HEAD_WORDS; i++)
        out->words[i] = words[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Once it is being read. */
static void note_wal(struct doppel_store *store)
{
    sqlite3_stmt *statement;
    if (doppel_store_statement(store, "PRAGMA journal_mode", &statement, NULL))
        return;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const char *mode = (const char *)sqlite3_column_text(statement, 0);
        store->has_wal = mode && strcmp(mode, "wal") == 0;
        store->wal_asked = true;
    }
    sqlite3_reset(statement);
    /* of the database, as long as it is open */
    if (store->has_wal && sqlite3_file_control(store->database, "main", SQLITE_FCNTL_FILE_POINTER,
                                               (void *)&store->file) != SQLITE_OK)
        store->has_wal = false;
}

/* @return false: it cannot be seen */
static bool read_wal_head(const struct doppel_store *store, struct wal_head *out)
{
    volatile void *region = NULL;
    const sqlite3_io_methods *methods = store->has_wal ? store->file->pMethods : NULL;
    if (!methods || methods->iVersion < 2 ||
        methods->xShmMap(store->file, 0, REGION_BYTES, 0, &region) != SQLITE_OK || !region)
        return false;
    copy_head(region, out);
    return true;
}

static enum doppel_status ask_data_version(struct doppel_store *store, int64_t *out,
                                           struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(store, "PRAGMA data_version", &statement, error);
    if (!status)
        status = doppel_store_step(store, statement, &row, error);
    if (status)
        return status;
    *out = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    if (!store->wal_asked)
        note_wal(store);
    return DOPPEL_OK;
}

enum doppel_status doppel_store_data_version(struct doppel_store *store, int64_t *out,
                                             struct doppel_error *error)
{
    struct wal_head head;
    bool seen = read_wal_head(store, &head);
    if (seen && store->version_known && memcmp(&head, &store->head, sizeof head) == 0) {
        *out = store->version;
        return DOPPEL_OK;
    }
    enum doppel_status status = ask_data_version(store, out, error);
    /* A transaction sees what was there when it began, and the head may be later. */
    if (status || store_in_transaction(store))
        return status;
    store->version_known = seen;
    store->version = *out;
    store->head = head;
    return DOPPEL_OK;
}
