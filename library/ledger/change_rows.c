/* The rows of an item, as they are found, put in and changed. */
#include "library/ledger/change.h"
#include "core/try.h"
#include "library/derived/derived.h"
#include "library/ledger/ledger.h"
#include "core/digest.h"

bool is_bytes_alone(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_NONE && record->kind == DOPPEL_KIND_UNKNOWN &&
           !record->fingerprint.count && !record->attachment_size;
}

/* ---- what is there ---- */

enum doppel_status present_by_path(struct doppel_library *library, const char *path,
                                   const struct doppel_record *record, struct present *out,
                                   struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        library->store,
        "SELECT id, settled, digest = ?2 OR NOT coalesce(" ROW_IS_WHOLE
        ", 0), scheme = ?3 AND version = ?4"
        " AND (?5 IS NULL OR fingerprint.data = ?5) AND (?6 IS NULL OR " HAS_TRACK(
            "?6") ")"
                  " AND (?7 = 0 OR item.pixels IS NOT NULL)"
                  " AND (?8 IS NULL OR item.simhash IS ?8) AND (?9 IS NULL OR item.words IS ?9)"
                  " AND " ITEM_IS_WHOLE " AND " KEPT_IS_WHOLE ", " STAMP_COLUMNS
                  " FROM item LEFT JOIN fingerprint ON fingerprint.item = item.id WHERE path = ?1",
        &statement, error);
    if (status)
        return status;
    path_bind(statement, 1, path);
    sqlite3_bind_blob(statement, 2, record->digest.bytes, sizeof record->digest.bytes,
                      SQLITE_STATIC);
    sqlite3_bind_int(statement, 3, (int)record->scheme);
    sqlite3_bind_int(statement, 4, record->version);
    sqlite3_bind_null(statement, 5);
    sqlite3_bind_null(statement, 6);
    /* Of the columns that repeat what was computed, older versions had fewer. */
    const struct doppel_digest pixels = record_pixels(record);
    const struct bound_value simhash = item_simhash(record), words = item_words(record);
    sqlite3_bind_int(statement, 7, !digest_is_none(&pixels));
    value_bind(statement, 8, &simhash);
    value_bind(statement, 9, &words);
    if (record->fingerprint.count)
        status = fingerprint_bind(statement, 5, &record->fingerprint, error);
    else if (record->attachment)
        sqlite3_bind_blob64(statement, 6, record->attachment, record->attachment_size,
                            SQLITE_STATIC);
    if (status)
        return status;
    bool row;
    status = doppel_store_step(library->store, statement, &row, error);
    *out = (struct present){0};
    if (status || !row)
        return status;
    out->id = (uint64_t)sqlite3_column_int64(statement, 0);
    out->settled = sqlite3_column_int(statement, 1) != 0;
    out->same_bytes = sqlite3_column_int(statement, 2) != 0;
    out->same_scheme = sqlite3_column_int(statement, 3) != 0;
    stamp_read(statement, 4, &out->stamp);
    sqlite3_reset(statement);
    return DOPPEL_OK;
}

/* ---- rows ---- */

/* ITEM_COLUMNS as parameters. */
#define ITEM_VALUES(added_ns)                                                                      \
    "?1, ?2, " added_ns ", ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14"
#define PUT_COMPUTED(how, table)                                                                   \
    how " INTO " table "(item, data, checksum) VALUES(?1, ?2, " CHECKSUM_OF("?1, ?2") ")"

void item_no_path(uint64_t id, uint8_t out[NO_FILE_BYTES])
{
    out[0] = 0;
    for (int i = 1; i < NO_FILE_BYTES; i++)
        out[i] = (uint8_t)(id >> 8 * (NO_FILE_BYTES - 1 - i));
}

static void item_path_bind(sqlite3_stmt *statement, const char *path, uint64_t id)
{
    uint8_t none[NO_FILE_BYTES];
    if (*path) {
        path_bind(statement, 1, path);
        return;
    }
    item_no_path(id, none);
    sqlite3_bind_blob(statement, 1, none, sizeof none, SQLITE_TRANSIENT);
}

static bool is_settled(const struct doppel_library *library, const struct addition *addition)
{
    return !addition->unproven && stamp_is_settled(addition->stamp, library->opened_ns);
}

enum doppel_status item_insert(struct doppel_library *library, struct addition *addition,
                               struct doppel_error *error)
{
    uint64_t last = 0;
    sqlite3_stmt *statement;
    enum doppel_status status = DOPPEL_OK;
    if (!*addition->path)
        TRY(doppel_library_begin(library, &last, error));
    TRY(doppel_store_statement(library->store,
                               "INSERT INTO item(" ITEM_COLUMNS ", checksum) VALUES(" ITEM_VALUES(
                                   "?3") ", " CHECKSUM_OF(ITEM_VALUES("?3")) ")",
                               &statement, error));
    item_path_bind(statement, addition->path, last + 1);
    sqlite3_bind_int(statement, 2, is_settled(library, addition));
    sqlite3_bind_int64(statement, 3, past_ns(addition->added_ns));
    stamp_bind(statement, 4, addition->stamp);
    record_bind(statement, 4 + STAMP_COLUMN_COUNT, addition->record);
    TRY(library_run(library, statement, error));
    /* RETURNING would have SQLite note every page that is changed */
    addition->id = (uint64_t)sqlite3_last_insert_rowid(sqlite3_db_handle(statement));
done:
    return status;
}

enum doppel_status item_update(struct doppel_library *library, uint64_t id,
                               const struct addition *addition, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        library->store,
        "UPDATE item SET (" ITEM_COLUMNS ", checksum) = (" ITEM_VALUES("added_ns") ", " CHECKSUM_OF(
            ITEM_VALUES("added_ns")) ") WHERE id = ?15",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 15, (int64_t)id);
    item_path_bind(statement, addition->path, id);
    sqlite3_bind_int(statement, 2, is_settled(library, addition));
    stamp_bind(statement, 4, addition->stamp);
    record_bind(statement, 4 + STAMP_COLUMN_COUNT, addition->record);
    return library_run(library, statement, error);
}

static enum doppel_status put_fingerprint(struct doppel_library *library, uint64_t id,
                                          const struct doppel_record *record, bool fresh,
                                          struct doppel_error *error)
{
    const char *sql = record->scheme == DOPPEL_SCHEME_NONE
                          ? "DELETE FROM fingerprint WHERE item = ?1"
                      : fresh ? PUT_COMPUTED("INSERT", "fingerprint")
                              : PUT_COMPUTED("INSERT OR REPLACE", "fingerprint");
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(library->store, sql, &statement, error);
    if (!status && record->scheme != DOPPEL_SCHEME_NONE)
        status = fingerprint_bind(statement, 2, &record->fingerprint, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    return library_run(library, statement, error);
}

static enum doppel_status put_attachment(struct doppel_library *library, uint64_t id,
                                         const struct doppel_record *record,
                                         struct doppel_error *error)
{
    const char *sql = record->attachment_size ? PUT_COMPUTED("INSERT OR REPLACE", "attachment")
                                              : "DELETE FROM attachment WHERE item = ?1";
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(library->store, sql, &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    if (record->attachment_size)
        sqlite3_bind_blob64(statement, 2, record->attachment, record->attachment_size,
                            SQLITE_STATIC);
    return library_run(library, statement, error);
}

enum doppel_status item_put_computed(struct doppel_library *library, uint64_t id,
                                     const struct doppel_record *record, bool fresh,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!fresh || record->scheme != DOPPEL_SCHEME_NONE)
        TRY(put_fingerprint(library, id, record, fresh, error));
    if (!fresh || record->attachment_size)
        TRY(put_attachment(library, id, record, error));
    TRY(item_put_columns(library, id, record, fresh, error));
    TRY(derived_put(library, id, record, error));
done:
    return status;
}
