/* What the cache keeps of the comparison of a collection: as it was given. */
#include "library/cache/cache.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DATA_BYTES = 512 << 20 };

#define JOINED_COLUMNS "collection, written_ns, data"
#define JOINED_VALUES "?1, ?2, ?3"

enum doppel_status doppel_cache_joined(struct doppel_cache *cache,
                                       const struct doppel_digest *collection, uint8_t **out,
                                       size_t *out_size)
{
    sqlite3_stmt *statement = cache_reader(
        cache, SELECT_FROM_BOTH("data, " IS_WHOLE(JOINED_COLUMNS), "joined", "collection = ?1"));
    if (!statement)
        return DOPPEL_E_NOT_FOUND;
    sqlite3_bind_blob(statement, 1, collection->bytes, sizeof collection->bytes, SQLITE_STATIC);
    enum doppel_status status = cache_look_up(cache, statement);
    if (!status && sqlite3_column_int(statement, 1) != 1)
        status = DOPPEL_E_NOT_FOUND;
    const void *data = status ? NULL : sqlite3_column_blob(statement, 0);
    size_t size = data ? (size_t)sqlite3_column_bytes(statement, 0) : 0;
    uint8_t *copy = size ? malloc(size) : NULL;
    if (copy) {
        memcpy(copy, data, size);
        *out = copy;
        *out_size = size;
    } else {
        status = DOPPEL_E_NOT_FOUND;
    }
    sqlite3_reset(statement);
    return status;
}

enum doppel_status doppel_cache_put_joined(struct doppel_cache *cache,
                                           const struct doppel_digest *collection,
                                           const uint8_t *data, size_t size,
                                           struct doppel_error *error)
{
    sqlite3_stmt *statement;
    if (size > MAX_DATA_BYTES)
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_store_statement(cache->store,
                               "INSERT OR REPLACE INTO temp.joined(" JOINED_STORED
                               ") VALUES(?1, ?2, " CHECKSUM_OF(JOINED_VALUES) ", ?3)",
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_blob(statement, 1, collection->bytes, sizeof collection->bytes, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, now_ns());
    sqlite3_bind_blob64(statement, 3, data, size, SQLITE_STATIC);
    return cache_put(cache, statement, error);
}
