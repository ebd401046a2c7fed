/* Ids of vectors, in the database beside their codes. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "embed/index/vector_index.h"

/* A statement that is left open would keep the database as it was at that moment. */
static enum doppel_status keep_vector_id(struct doppel_vector_index *index, sqlite3_stmt *statement,
                                         struct doppel_error *error)
{
    const char *id = (const char *)sqlite3_column_text(statement, 0);
    const size_t room = id ? strlen(id) + 1 : 0;
    if (room > index->id_room) {
        char *grown = realloc(index->id, room);
        if (!grown)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the id of a vector");
        index->id = grown;
        index->id_room = room;
    }
    if (room)
        memcpy(index->id, id, room);
    return room ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_CORRUPT, "a vector has no id");
}

enum doppel_status vector_id_of(struct doppel_vector_index *index, uint64_t number,
                                const char **out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store, "SELECT id FROM vector_id WHERE number=?1", &statement,
                               error));
    sqlite3_bind_int64(statement, 1, (int64_t)number);
    TRY(doppel_store_step(index->store, statement, &row, error));
    if (row)
        status = keep_vector_id(index, statement, error);
    sqlite3_reset(statement);
    *out = row && !status ? index->id : NULL;
done:
    return status;
}

enum doppel_status vector_number_of_id(struct doppel_vector_index *index, const char *id,
                                       uint64_t *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store, "SELECT number FROM vector_id WHERE id=?1", &statement,
                               error));
    sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);
    TRY(doppel_store_step(index->store, statement, &row, error));
    *out = row ? (uint64_t)sqlite3_column_int64(statement, 0) : UINT64_MAX;
    sqlite3_reset(statement);
done:
    return status;
}

enum doppel_status vector_put_id(struct doppel_vector_index *index, uint64_t number, const char *id,
                                 struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store, "INSERT INTO vector_id(number, id) VALUES(?1, ?2)",
                               &statement, error));
    sqlite3_bind_int64(statement, 1, (int64_t)number);
    sqlite3_bind_text(statement, 2, id, -1, SQLITE_STATIC);
    TRY(doppel_store_step(index->store, statement, &row, error));
done:
    return status;
}

enum doppel_status doppel_vector_index_count(struct doppel_vector_index *index, uint64_t *out,
                                             struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = DOPPEL_OK;
    if (!index->named) {
        *out = doppel_index_count(doppel_store_index_get(index->codes));
        return DOPPEL_OK;
    }
    TRY(doppel_store_statement(index->store, "SELECT count(*) FROM vector_id", &statement, error));
    TRY(doppel_store_step(index->store, statement, &row, error));
    *out = row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
done:
    return status;
}

/* @param sql of one number, and no row */
static enum doppel_status change_by_number(struct doppel_vector_index *index, const char *sql,
                                           uint64_t number, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store, sql, &statement, error));
    sqlite3_bind_int64(statement, 1, (int64_t)number);
    TRY(doppel_store_step(index->store, statement, &row, error));
done:
    return status;
}

enum doppel_status vector_drop_id(struct doppel_vector_index *index, uint64_t number,
                                  struct doppel_error *error)
{
    return change_by_number(index, "DELETE FROM vector_id WHERE number=?1", number, error);
}

enum doppel_status vector_index_unnamed(struct doppel_vector_index *index, uint64_t *out,
                                        struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store, "SELECT min(number) FROM vector_unnamed", &statement,
                               error));
    TRY(doppel_store_step(index->store, statement, &row, error));
    *out = row && sqlite3_column_type(statement, 0) == SQLITE_INTEGER
               ? (uint64_t)sqlite3_column_int64(statement, 0)
               : UINT64_MAX;
    sqlite3_reset(statement);
done:
    return status;
}

enum doppel_status vector_set_unnamed(struct doppel_vector_index *index, uint64_t number,
                                      struct doppel_error *error)
{
    return change_by_number(index, "INSERT INTO vector_unnamed VALUES(?1)", number, error);
}

enum doppel_status vector_all_named(struct doppel_vector_index *index, struct doppel_error *error)
{
    return change_by_number(index, "DELETE FROM vector_unnamed WHERE number>=?1", 0, error);
}
