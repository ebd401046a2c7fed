/* What a library knows of a path and of bytes, before anything is read. */
#include "library/derived/derived.h"
#include "library/ledger/ledger.h"

#include <stdlib.h>

#include "core/files/path_is_gone.h"

/* So many items with the same bytes are looked at for one that has moved. */
enum { MAX_MOVE_CANDIDATES = 64 };

enum doppel_status doppel_library_get_by_path(struct doppel_library *library, const char *path,
                                              const struct doppel_file_stamp *stamp,
                                              struct doppel_known *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        library->store,
        "SELECT id, settled AND " ITEM_IS_WHOLE " AND " TRACK_IS_WHOLE ", " STAMP_COLUMNS
        ", " RECORD_COLUMNS
        " FROM item LEFT JOIN fingerprint ON fingerprint.item = item.id WHERE path = ?1",
        &statement, error);
    if (status)
        return status;
    path_bind(statement, 1, path);
    status = doppel_store_step(library->store, statement, &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no such item", library->directory);
    struct doppel_file_stamp kept;
    struct doppel_record record = {0};
    stamp_read(statement, 2, &kept);
    bool readable = record_read(statement, 2 + STAMP_COLUMN_COUNT, &record);
    *out = (struct doppel_known){.id = (uint64_t)sqlite3_column_int64(statement, 0),
                                 .unchanged = readable && stamp &&
                                              sqlite3_column_int(statement, 1) == 1 &&
                                              stamp_equal(&kept, stamp),
                                 .digest = record.digest,
                                 .kind = record.kind,
                                 .scheme = record.scheme,
                                 .version = record.version};
    sqlite3_reset(statement);
    return DOPPEL_OK;
}

enum doppel_status library_moved(struct doppel_library *library, const struct doppel_digest *digest,
                                 uint64_t *out_first, uint64_t *out_gone, char **out_path,
                                 struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        library->store, "SELECT id, path FROM item WHERE digest = ?1 ORDER BY id LIMIT ?2",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_blob(statement, 1, digest->bytes, sizeof digest->bytes, SQLITE_STATIC);
    sqlite3_bind_int(statement, 2, out_gone ? MAX_MOVE_CANDIDATES : 1);
    bool row;
    uint64_t first = 0, gone = 0;
    char *path = NULL;
    while (!gone && !(status = doppel_store_step(library->store, statement, &row, error)) && row) {
        uint64_t id = (uint64_t)sqlite3_column_int64(statement, 0);
        first = first ? first : id;
        if (!out_gone || path_read(statement, 1, &path))
            continue;
        if (*path == '/' && path_is_gone(path)) /* others never had a file */
            gone = id;
        else
            free(path);
    }
    sqlite3_reset(statement);
    if (status)
        return status;
    if (out_path)
        *out_path = gone ? path : NULL;
    else if (gone)
        free(path);
    *out_first = first;
    if (out_gone)
        *out_gone = gone;
    return DOPPEL_OK;
}

enum doppel_status doppel_library_by_bytes(struct doppel_library *library,
                                           const struct doppel_digest *digest, uint64_t *out_first,
                                           uint64_t *out_gone, struct doppel_error *error)
{
    return library_moved(library, digest, out_first, out_gone, NULL, error);
}

static enum doppel_status next_with(struct doppel_library *library, const char *sql,
                                    const struct doppel_digest *digest, uint64_t after,
                                    uint64_t *out, struct doppel_error *error)
{
    int64_t id = 0;
    bool found;
    enum doppel_status status =
        rows_number(library, sql, VALUES(value_digest(digest), ID(after)), &id, &found, error);
    if (!status)
        *out = found ? (uint64_t)id : 0;
    return status;
}

enum doppel_status doppel_library_next_by_bytes(struct doppel_library *library,
                                                const struct doppel_digest *digest, uint64_t after,
                                                uint64_t *out, struct doppel_error *error)
{
    return next_with(library,
                     "SELECT id FROM item WHERE digest = ?1 AND id > ?2 ORDER BY id LIMIT 1",
                     digest, after, out, error);
}

enum doppel_status doppel_library_by_pixels(struct doppel_library *library,
                                            const struct doppel_digest *pixels, uint64_t after,
                                            uint64_t *out, struct doppel_error *error)
{
    return next_with(library,
                     "SELECT id FROM item WHERE pixels = ?1 AND id > ?2 ORDER BY id LIMIT 1",
                     pixels, after, out, error);
}

enum doppel_status doppel_library_prepare(struct doppel_library *library, const char *path,
                                          const struct doppel_record *record, bool *out_tracks,
                                          struct doppel_error *error)
{
    enum doppel_status status = derived_prepare(library, record, path, 0, error);
    *out_tracks = false;
    for (int i = 0; i < DERIVATIONS; i++)
        *out_tracks = *out_tracks || library->derived[i].index;
    return status;
}

enum doppel_status doppel_library_release(struct doppel_library *library,
                                          struct doppel_error *error)
{
    enum doppel_status status = doppel_library_commit(library, error);
    derived_close(library);
    return status;
}

/* ---- schemes ---- */

bool doppel_library_has_scheme(struct doppel_library *library, enum doppel_scheme_id scheme)
{
    int64_t one = 0;
    return !rows_number(library,
                        "SELECT EXISTS(" OF_BOTH("SELECT 1 FROM item WHERE scheme = ?1") ")",
                        VALUES(ID(scheme)), &one, NULL, NULL) &&
           one;
}

enum doppel_status doppel_library_count_scheme(struct doppel_library *library,
                                               const struct doppel_scheme *scheme,
                                               struct doppel_scheme_count *out,
                                               struct doppel_error *error)
{
    static const char *const ways[2] = {
        "SELECT count(*) FROM (SELECT 1 FROM item WHERE scheme = ?1 AND " WITH_FILE " LIMIT ?2)",
        "SELECT count(*) FROM (SELECT 1 FROM item WHERE scheme = ?1 AND " WITHOUT_FILE
        " LIMIT ?2)"};
    const uint64_t most = DOPPEL_SCHEME_COUNT_MAX + 1;
    int64_t counts[2] = {0};
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < 2 && !status; i++)
        status = rows_number(library, ways[i], VALUES(ID(scheme->id), ID(most)), &counts[i], NULL,
                             error);
    const uint64_t without_file = (uint64_t)counts[1], all = (uint64_t)counts[0] + without_file;
    *out = (struct doppel_scheme_count){all < most ? all : most, without_file};
    return status;
}

enum doppel_status doppel_library_count_versions(struct doppel_library *library,
                                                 const struct doppel_scheme *scheme, uint64_t *out,
                                                 struct doppel_error *error)
{
    int64_t count = 0;
    enum doppel_status status =
        rows_number(library,
                    "SELECT count(*) FROM (" OF_BOTH(
                        "SELECT 1 FROM item WHERE scheme = ?1 AND "
                        "version < ?2") " UNION ALL " OF_BOTH("SELECT 1 FROM item WHERE scheme = "
                                                              "?1 AND version > ?2") ")",
                    VALUES(ID(scheme->id), ID(scheme->version)), &count, NULL, error);
    *out = (uint64_t)count;
    return status;
}

/* ---- names ---- */

void doppel_name_free(struct doppel_name *name)
{
    if (!name)
        return;
    free(name->path);
    free(name->record_id);
    *name = (struct doppel_name){0};
}

enum doppel_status doppel_library_name(struct doppel_library *library, uint64_t id,
                                       struct doppel_name *out, struct doppel_error *error)
{
    sqlite3_stmt *row;
    struct doppel_name name = {0};
    enum doppel_status status =
        rows_first(library,
                   "SELECT CASE WHEN " HAS_NO_FILE " THEN NULL ELSE path END, NULL, 0, kind, digest"
                   " FROM item WHERE id = ?1 UNION ALL"
                   " SELECT corpus.path, record_id, line, 1, content FROM text"
                   " LEFT JOIN corpus ON corpus.id = text.corpus WHERE text.id = ?1",
                   VALUES(ID(id)), &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no item has the id %llu",
                           library->directory, (unsigned long long)id);
    status = string_read(row, 0, &name.path);
    if (!status)
        status = string_read(row, 1, &name.record_id);
    name.line = (uint64_t)sqlite3_column_int64(row, 2);
    name.kind = (enum doppel_kind)sqlite3_column_int(row, 3);
    if (!status && !digest_read(row, 4, &name.content))
        status = DOPPEL_E_CORRUPT;
    sqlite3_reset(row);
    if (status) {
        doppel_name_free(&name);
        return item_damaged(library, id, "its name cannot be read", error);
    }
    *out = name;
    return DOPPEL_OK;
}
