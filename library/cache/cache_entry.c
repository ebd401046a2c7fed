/* What the cache knows: of files and of contents. */
#include "library/cache/cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

/* ---- files ---- */

#define FILE_VALUES "?1, ?2, ?3, ?4, ?5, ?6"

enum doppel_status doppel_cache_file(struct doppel_cache *cache, const char *path,
                                     const struct doppel_file_stamp *stamp,
                                     struct doppel_digest *out)
{
    sqlite3_stmt *statement =
        cache_reader(cache, SELECT_FROM_BOTH(STAMP_COLUMNS ", digest, " IS_WHOLE(FILE_COLUMNS),
                                             "file", "path = ?1"));
    if (!statement)
        return DOPPEL_E_NOT_FOUND;
    sqlite3_bind_blob(statement, 1, path, (int)strlen(path), SQLITE_STATIC);
    enum doppel_status status = cache_look_up(cache, statement);
    if (!status) {
        struct doppel_file_stamp known;
        stamp_read(statement, 0, &known);
        const void *digest = sqlite3_column_blob(statement, STAMP_COLUMN_COUNT);
        int size = sqlite3_column_bytes(statement, STAMP_COLUMN_COUNT);
        bool whole = sqlite3_column_int(statement, STAMP_COLUMN_COUNT + 1) == 1;
        if (whole && stamp_equal(&known, stamp) && digest && size == (int)sizeof out->bytes)
            memcpy(out->bytes, digest, sizeof out->bytes);
        else
            status = DOPPEL_E_NOT_FOUND;
    }
    sqlite3_reset(statement);
    return status;
}

enum doppel_status doppel_cache_put_file(struct doppel_cache *cache, const char *path,
                                         const struct doppel_file_stamp *stamp,
                                         const struct doppel_digest *digest,
                                         struct doppel_error *error)
{
    if (!stamp_is_settled(stamp, cache->opened_ns))
        return DOPPEL_OK;
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(cache->store,
                               "INSERT OR REPLACE INTO temp.file(" FILE_STORED
                               ") VALUES(" FILE_VALUES ", " CHECKSUM_OF(FILE_VALUES) ")",
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_blob(statement, 1, path, (int)strlen(path), SQLITE_STATIC);
    sqlite3_bind_blob(statement, 2, digest->bytes, sizeof digest->bytes, SQLITE_STATIC);
    stamp_bind(statement, 3, stamp);
    return cache_put(cache, statement, error);
}

/* ---- records ---- */

/* After RECORD_COLUMNS. */
enum record_column {
    COLUMN_READING = RECORD_COLUMN_COUNT,
    COLUMN_STATUS,
    COLUMN_MESSAGE,
    COLUMN_PROGRAM,
    COLUMN_FINGERPRINT,
    COLUMN_ATTACHMENT,
    COLUMN_IS_WHOLE
};

#define DETAIL_VALUES "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12"
#define ATTACHMENT_CHECKSUM(key, attachment) CHECKSUM_OF(key ", " attachment)
#define VALUE_CHECKSUM ATTACHMENT_CHECKSUM("?1, ?3, ?4, ?8", "?13")

/* A failure that the bytes are to blame for, as far as this version of doppel can tell. */
static bool is_lasting(enum doppel_status status)
{
    return status == DOPPEL_E_EMPTY || status == DOPPEL_E_FORMAT || status == DOPPEL_E_CORRUPT ||
           status == DOPPEL_E_FLAT;
}

/* One that other limits could mend. */
static bool is_by_limits(enum doppel_status status)
{
    return status == DOPPEL_E_TIMEOUT || status == DOPPEL_E_CRASH || status == DOPPEL_E_MEMORY ||
           status == DOPPEL_E_LIMIT;
}

/* By whom a failure is found, and under which limits where they matter; NULL when it is not known
 * what to keep. */
static const char *finder_of(const struct doppel_cache *cache, enum doppel_status status)
{
    return is_by_limits(status) ? cache->limits : is_lasting(status) ? doppel_version() : NULL;
}

/* A newer doppel may read what this one could not. */
static bool read_cached_failure(const struct doppel_cache *cache, sqlite3_stmt *statement,
                                struct doppel_record *record)
{
    const char *message = (const char *)sqlite3_column_text(statement, COLUMN_MESSAGE);
    const char *program = (const char *)sqlite3_column_text(statement, COLUMN_PROGRAM);
    enum doppel_status status = (enum doppel_status)sqlite3_column_int(statement, COLUMN_STATUS);
    const char *finder = finder_of(cache, status);
    if (!message || !program || !finder || cache->retry || strcmp(program, finder) != 0)
        return false;
    record->error.status = status;
    snprintf(record->error.message, sizeof record->error.message, "%s", message);
    return true;
}

/* What is worth telling of a file that could be read: a video without its audio. */
static void read_remark(sqlite3_stmt *statement, struct doppel_record *record)
{
    const char *remark = (const char *)sqlite3_column_text(statement, COLUMN_MESSAGE);
    if (remark)
        snprintf(record->error.message, sizeof record->error.message, "%s", remark);
}

/* The attachment, or where it is not asked for what is wanted of it in any case. */
static bool read_entry_attachment(sqlite3_stmt *statement, bool whole, struct doppel_record *record)
{
    if (sqlite3_column_type(statement, COLUMN_ATTACHMENT) == SQLITE_NULL)
        return true;
    return whole ? attachment_read(statement, COLUMN_ATTACHMENT, record) == DOPPEL_OK
                 : digest_read(statement, COLUMN_ATTACHMENT, &record->pixels);
}

/* True when the record can be used. */
static bool read_entry_row(const struct doppel_cache *cache, sqlite3_stmt *statement,
                           bool with_attachment, struct doppel_record *record)
{
    if (sqlite3_column_int(statement, COLUMN_IS_WHOLE) != 1 || !record_read(statement, 0, record))
        return false;
    record->reading = (uint32_t)sqlite3_column_int64(statement, COLUMN_READING);
    if (sqlite3_column_int(statement, COLUMN_STATUS) != DOPPEL_OK)
        return read_cached_failure(cache, statement, record);
    read_remark(statement, record);
    return fingerprint_read(statement, COLUMN_FINGERPRINT, record) &&
           read_entry_attachment(statement, with_attachment, record);
}

#define SELECT_RECORD(attachment, and_it)                                                          \
    SELECT_FROM_BOTH(DETAIL_COLUMNS ", " attachment                                                \
                                    ", " IS_WHOLE(DETAIL_COLUMNS ", attachment_checksum") and_it,  \
                     "record", "digest = ?1 AND scheme = ?2 AND version = ?3 AND reading = ?4")
/* The first bytes of an attachment lie with its row. */
#define PIXELS "CASE WHEN kind = 2 AND length(attachment) = 4266 THEN substr(attachment, 1, 16) END"
static_assert(DOPPEL_IMAGE_ATTACHMENT_MOST == 4266 && DOPPEL_KIND_IMAGE == 2, "as in PIXELS");
#define AND_ATTACHMENT                                                                             \
    " AND attachment_checksum = " ATTACHMENT_CHECKSUM("digest, scheme, version, reading",          \
                                                      "attachment")

enum doppel_status doppel_cache_record(struct doppel_cache *cache,
                                       const struct doppel_record_key *key, bool with_attachment,
                                       struct doppel_record *out)
{
    const char *sql =
        with_attachment ? SELECT_RECORD("attachment", AND_ATTACHMENT) : SELECT_RECORD(PIXELS, "");
    sqlite3_stmt *statement = cache_reader(cache, sql);
    if (!statement)
        return DOPPEL_E_NOT_FOUND;
    sqlite3_bind_blob(statement, 1, key->digest->bytes, sizeof key->digest->bytes, SQLITE_STATIC);
    sqlite3_bind_int(statement, 2, (int)key->scheme);
    sqlite3_bind_int(statement, 3, key->version);
    sqlite3_bind_int64(statement, 4, key->reading);
    struct doppel_record record = {0};
    enum doppel_status status = cache_look_up(cache, statement);
    if (!status && !read_entry_row(cache, statement, with_attachment, &record))
        status = DOPPEL_E_NOT_FOUND;
    sqlite3_reset(statement);
    if (status)
        doppel_record_free(&record);
    else
        *out = record;
    return status;
}

enum doppel_status doppel_cache_put_record(struct doppel_cache *cache,
                                           const struct doppel_record *record,
                                           struct doppel_error *error)
{
    bool failed = record->error.status != DOPPEL_OK;
    const char *program = failed ? finder_of(cache, record->error.status) : doppel_version();
    if (!program)
        return DOPPEL_OK;
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        cache->store,
        "INSERT OR REPLACE INTO temp.record(" DETAIL_STORED ") VALUES(" DETAIL_VALUES
        ", " VALUE_CHECKSUM ", " CHECKSUM_OF(DETAIL_VALUES ", " VALUE_CHECKSUM) ", ?13)",
        &statement, error);
    if (!status && !failed)
        status = fingerprint_bind(statement, COLUMN_FINGERPRINT + 1, &record->fingerprint, error);
    if (status)
        return status;
    record_bind(statement, 1, record);
    sqlite3_bind_int64(statement, COLUMN_READING + 1, record->reading);
    sqlite3_bind_int(statement, COLUMN_STATUS + 1, (int)record->error.status);
    sqlite3_bind_text(statement, COLUMN_PROGRAM + 1, program, -1, SQLITE_STATIC);
    if (failed || record->error.message[0])
        sqlite3_bind_text(statement, COLUMN_MESSAGE + 1, record->error.message, -1, SQLITE_STATIC);
    if (!failed && record->attachment_size)
        sqlite3_bind_blob64(statement, COLUMN_ATTACHMENT + 1, record->attachment,
                            record->attachment_size, SQLITE_STATIC);
    return cache_put(cache, statement, error);
}
