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

/* @param sql of one text, and a number */
static enum doppel_status number_of_text(struct doppel_vector_index *index, const char *sql,
                                         const char *text, uint64_t *out,
                                         struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store, sql, &statement, error));
    sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    TRY(doppel_store_step(index->store, statement, &row, error));
    *out = row ? (uint64_t)sqlite3_column_int64(statement, 0) : UINT64_MAX;
    sqlite3_reset(statement);
done:
    return status;
}

enum doppel_status vector_number_of_id(struct doppel_vector_index *index, const char *id,
                                       uint64_t *out, struct doppel_error *error)
{
    return number_of_text(index, "SELECT number FROM vector_id WHERE id=?1", id, out, error);
}

enum doppel_status vector_number_of_prefix(struct doppel_vector_index *index, const char *prefix,
                                           uint64_t *out, struct doppel_error *error)
{
    return number_of_text(index,
                          "SELECT number FROM vector_id"
                          " WHERE id BETWEEN ?1 AND ?1 || char(1114111) ORDER BY id LIMIT 1",
                          prefix, out, error);
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

/* ---- all of them ---- */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The numbers of what is there, in order. @param out given (free) */
static enum doppel_status numbers_there(struct doppel_vector_index *index, uint64_t **out,
                                        size_t *out_count, struct doppel_error *error)
{
    const struct doppel_index *codes = doppel_store_index_get(index->codes);
    const size_t most = (size_t)doppel_index_count(codes);
    uint64_t *numbers = malloc((most + 1) * sizeof *numbers);
    enum doppel_status status = DOPPEL_OK;
    if (!numbers)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the numbers of vectors"));
    TRY(doppel_index_sample(codes, most, NULL, numbers, out_count, error));
    qsort(numbers, *out_count, sizeof *numbers, compare_numbers);
    *out = numbers;
    numbers = NULL;
done:
    free(numbers);
    return status;
}

enum doppel_status doppel_vector_index_each_id(struct doppel_vector_index *index,
                                               doppel_vector_id_visitor *visit, void *context,
                                               struct doppel_error *error)
{
    uint64_t *numbers = NULL;
    size_t count = 0, at = 0;
    sqlite3_stmt *statement;
    bool row, more = true;
    enum doppel_status status = DOPPEL_OK;
    if (!index->named)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "the vectors have no ids"));
    TRY(numbers_there(index, &numbers, &count, error));
    TRY(doppel_store_statement(index->store, "SELECT id, number FROM vector_id ORDER BY number",
                               &statement, error));
    while (more && !(status = doppel_store_step(index->store, statement, &row, error)) && row) {
        const uint64_t number = (uint64_t)sqlite3_column_int64(statement, 1);
        while (at < count && numbers[at] < number)
            at++;
        status = keep_vector_id(index, statement, error);
        more = !status && visit(context, index->id, at < count && numbers[at] == number);
    }
    sqlite3_reset(statement);
    if (!status && !more)
        status = DOPPEL_E_CANCELLED;
done:
    free(numbers);
    return status;
}
