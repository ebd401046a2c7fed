/* Vectors that were paid for, in a file of SQLite's. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/files/quarantine.h"
#include "embed/vector_cache_internal.h"

enum {
    VECTORS_APPLICATION_ID = 0x64706c56, /* "dplV" */
    VECTORS_VERSION = 1,
    BUSY_MS = 10000,
    GO_FOR_ONE = 4 /* vectors that go, where there is no room, for each that comes */
};

/* Of a model that was forgotten, another process may still put vectors: nothing refers to it. */
static const char vectors_schema[] =
    "CREATE TABLE model(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, prefix TEXT NOT "
    "NULL,"
    " revision TEXT NOT NULL, dimension INTEGER NOT NULL, checksum INTEGER NOT NULL,"
    " probe BLOB NOT NULL) STRICT;"
    "CREATE TABLE place(url TEXT NOT NULL, name TEXT NOT NULL, prefix TEXT NOT NULL,"
    " model INTEGER NOT NULL, PRIMARY KEY(url, name, prefix))"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE vector(number INTEGER PRIMARY KEY, model INTEGER NOT NULL,"
    " text BLOB NOT NULL, checksum INTEGER NOT NULL, vector BLOB NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX vector_by_text ON vector(model, text);"
    "CREATE INDEX vector_refused ON vector(model) WHERE " VECTOR_IS_ZERO ";";

/* ---- opening ---- */

static enum doppel_status open_vectors(struct vector_cache *cache, const char *path, bool create,
                                       struct doppel_error *error)
{
    const struct doppel_store_options options = {
        .application_id = VECTORS_APPLICATION_ID,
        .schema_version = VECTORS_VERSION,
        .schema = vectors_schema,
        .create = create,
        .busy_timeout_ms = BUSY_MS,
    };
    if (is_no_database(path))
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: no cache of vectors, left alone", path);
    return doppel_store_open(path, &options, &cache->store, error);
}

/* One process renews it, and the others find it new. */
static enum doppel_status renew_vectors(struct vector_cache *cache, const char *path,
                                        bool *out_renewed, struct doppel_error *error)
{
    int lock = lock_folder_of(path);
    enum doppel_status status = open_vectors(cache, path, true, error);
    if (status == DOPPEL_E_CORRUPT) {
        TRY(quarantine_database(path, "damaged", error));
        TRY(open_vectors(cache, path, true, error));
        *out_renewed = true;
    }
done:
    if (lock >= 0)
        close(lock);
    return status;
}

enum doppel_status vector_cache_open(const char *path, uint64_t most_bytes,
                                     struct vector_cache **out, bool *out_renewed,
                                     struct doppel_error *error)
{
    struct vector_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", path);
    cache->most_bytes = most_bytes;
    *out_renewed = false;
    enum doppel_status status = open_vectors(cache, path, true, error);
    if (status == DOPPEL_E_CORRUPT)
        status = renew_vectors(cache, path, out_renewed, error);
    if (status)
        vector_cache_close(cache);
    else
        *out = cache;
    return status;
}

enum doppel_status vector_cache_open_existing(const char *path, struct vector_cache **out,
                                              struct doppel_error *error)
{
    struct vector_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", path);
    enum doppel_status status = open_vectors(cache, path, false, error);
    if (status)
        vector_cache_close(cache);
    else
        *out = cache;
    return status;
}

static void quarantine_vectors(struct vector_cache *cache)
{
    const char *path = doppel_store_path(cache->store);
    int lock = lock_folder_of(path);
    if (!doppel_store_is_moved(cache->store))
        quarantine_database(path, "damaged", NULL);
    if (lock >= 0)
        close(lock);
}

void vector_cache_close(struct vector_cache *cache)
{
    if (!cache)
        return;
    if (cache->damaged)
        quarantine_vectors(cache);
    doppel_store_close(cache->store);
    free(cache->row);
    free(cache);
}

enum doppel_status vectors_note_damage(struct vector_cache *cache, enum doppel_status status)
{
    cache->damaged |= status == DOPPEL_E_CORRUPT;
    return status;
}

enum doppel_status vectors_check_usable(const struct vector_cache *cache,
                                        struct doppel_error *error)
{
    return cache->damaged ? doppel_fail(error, DOPPEL_E_CORRUPT, "%s: the cache is damaged",
                                        doppel_store_path(cache->store))
                          : DOPPEL_OK;
}

enum doppel_status vectors_run(struct vector_cache *cache, sqlite3_stmt *statement, int64_t *out,
                               struct doppel_error *error)
{
    bool row;
    enum doppel_status status = doppel_store_step(cache->store, statement, &row, error);
    if (!status && row && out)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return status;
}

/* ---- vectors ---- */

/* Of the digest and the vector, which lie in `row` then. */
static int64_t sum_of_row(struct vector_cache *cache, const struct doppel_digest *text)
{
    memcpy(cache->row, text->bytes, sizeof text->bytes);
    return (int64_t)checksum64(cache->row, sizeof text->bytes + 4 * (size_t)cache->dimension);
}

static uint8_t *floats_of_row(struct vector_cache *cache)
{
    return cache->row + sizeof(struct doppel_digest);
}

static bool take_cached_vector(struct vector_cache *cache, sqlite3_stmt *statement,
                               const struct doppel_digest *text, float *out_row)
{
    const size_t size = 4 * (size_t)cache->dimension;
    const void *blob = sqlite3_column_blob(statement, 1);
    if (!blob || (size_t)sqlite3_column_bytes(statement, 1) != size)
        return false;
    memcpy(floats_of_row(cache), blob, size);
    if (sum_of_row(cache, text) != sqlite3_column_int64(statement, 0))
        return false;
    if (out_row)
        vectors_read_floats(floats_of_row(cache), out_row, cache->dimension);
    return true;
}

enum doppel_status vector_cache_get(struct vector_cache *cache, const struct doppel_digest *text,
                                    float *out_row, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    bool row;
    TRY(vectors_check_usable(cache, error));
    TRY(doppel_store_statement(cache->store,
                               "SELECT checksum, vector FROM vector WHERE model = ? AND text = ?",
                               &statement, error));
    sqlite3_bind_int64(statement, 1, cache->model);
    sqlite3_bind_blob(statement, 2, text->bytes, sizeof text->bytes, SQLITE_STATIC);
    TRY(doppel_store_step(cache->store, statement, &row, error));
    if (!row || !take_cached_vector(cache, statement, text, out_row))
        status = DOPPEL_E_NOT_FOUND;
    sqlite3_reset(statement);
done:
    return vectors_note_damage(cache, status);
}

/* ---- keeping, within bounds ---- */

static enum doppel_status pragma_number(struct vector_cache *cache, const char *sql, int64_t *out,
                                        struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    *out = 0;
    TRY(doppel_store_statement(cache->store, sql, &statement, error));
    TRY(vectors_run(cache, statement, out, error));
done:
    return status;
}

/* Pages that become free are used again. */
static enum doppel_status make_room_for(struct vector_cache *cache, size_t count,
                                        struct doppel_error *error)
{
    int64_t pages, unused, page_size;
    sqlite3_stmt *statement;
    enum doppel_status status;
    TRY(pragma_number(cache, "PRAGMA page_count", &pages, error));
    TRY(pragma_number(cache, "PRAGMA freelist_count", &unused, error));
    TRY(pragma_number(cache, "PRAGMA page_size", &page_size, error));
    if ((uint64_t)((pages - unused) * page_size) <= cache->most_bytes)
        return DOPPEL_OK;
    TRY(doppel_store_statement(cache->store,
                               "DELETE FROM vector WHERE number IN"
                               " (SELECT number FROM vector ORDER BY number LIMIT ?)",
                               &statement, error));
    sqlite3_bind_int64(statement, 1, (int64_t)count * GO_FOR_ONE);
    TRY(vectors_run(cache, statement, NULL, error));
done:
    return status;
}

static enum doppel_status put_cached_vector(struct vector_cache *cache,
                                            const struct cached_vector *vector,
                                            struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    vectors_write_floats(floats_of_row(cache), vector->row, cache->dimension);
    int64_t sum = sum_of_row(cache, &vector->text);
    TRY(doppel_store_statement(cache->store,
                               "INSERT OR REPLACE INTO vector(model, text, checksum, vector)"
                               " VALUES(?, ?, ?, ?)",
                               &statement, error));
    sqlite3_bind_int64(statement, 1, cache->model);
    sqlite3_bind_blob(statement, 2, vector->text.bytes, sizeof vector->text.bytes, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, sum);
    sqlite3_bind_blob(statement, 4, floats_of_row(cache), (int)(4 * cache->dimension),
                      SQLITE_STATIC);
    TRY(vectors_run(cache, statement, NULL, error));
done:
    return status;
}

static enum doppel_status put_vectors(struct vector_cache *cache,
                                      const struct cached_vector *vectors, size_t count,
                                      struct doppel_error *error)
{
    enum doppel_status status;
    TRY(make_room_for(cache, count, error));
    for (size_t i = 0; i < count; i++)
        TRY(put_cached_vector(cache, &vectors[i], error));
done:
    return status;
}

enum doppel_status vector_cache_put(struct vector_cache *cache, const struct cached_vector *vectors,
                                    size_t count, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(vectors_check_usable(cache, error));
    TRY(doppel_store_begin(cache->store, error));
    status = put_vectors(cache, vectors, count, error);
    if (status)
        doppel_store_rollback(cache->store);
    else
        status = doppel_store_commit(cache->store, error);
done:
    return vectors_note_damage(cache, status);
}
