/* Which texts have vectors: the vectors lie elsewhere, and may be lost there. */
#include "library/ledger/ledger.h"

#include <stdio.h>

#include "core/try.h"
#include "library/sums.h"

enum doppel_status doppel_library_note_vectors(struct doppel_library *library,
                                               const struct doppel_library_vectors *vectors,
                                               struct doppel_error *error)
{
    enum doppel_status status;
    TRY(library_begin(library, error));
    TRY(library_end(
        library, rows_run(library,
                          "INSERT OR REPLACE INTO text_vectors(" TEXT_VECTORS_SUM
                          ", checksum) VALUES(?1, ?2, ?3, ?4, " CHECKSUM_OF("?1, ?2, ?3, ?4") ")",
                          VALUES(ID(vectors->number), ID(vectors->item), ID(vectors->chunks),
                                 value_text(vectors->model)),
                          error)));
done:
    return status;
}

enum doppel_status doppel_library_forget_vectors(struct doppel_library *library, uint64_t number,
                                                 struct doppel_error *error)
{
    enum doppel_status status;
    TRY(library_begin(library, error));
    TRY(library_end(library,
                    rows_run(library, "DELETE FROM text_vectors WHERE number = ?1 OR ?1 = 0",
                             VALUES(ID(number)), error)));
done:
    return status;
}

enum doppel_status doppel_library_vectors_of(struct doppel_library *library, uint64_t number,
                                             uint64_t *out_item, struct doppel_error *error)
{
    int64_t item = (int64_t)number;
    enum doppel_status status =
        rows_number(library, "SELECT item FROM text_vectors WHERE number = ?1", VALUES(ID(number)),
                    &item, &(bool){false}, error);
    if (!status)
        *out_item = (uint64_t)item;
    return status;
}

enum doppel_status doppel_library_lacks_vectors(struct doppel_library *library, uint64_t item,
                                                uint32_t min_words, bool *out,
                                                struct doppel_error *error)
{
    uint64_t leader = item;
    int64_t lacks = 0;
    enum doppel_status status = doppel_library_leader(library, item, &leader, error);
    if (status == DOPPEL_E_CORRUPT)
        status = DOPPEL_OK;
    if (!status)
        status = rows_number(library,
                             "SELECT NOT EXISTS(SELECT 1 FROM text_vectors WHERE item IN (?1, ?2))"
                             " AND coalesce((SELECT words >= ?3 FROM item WHERE id = ?1),"
                             " (SELECT too_short = 0 FROM text WHERE id = ?1), 0)",
                             VALUES(ID(item), ID(leader), ID(min_words)), &lacks, NULL, error);
    if (!status)
        *out = lacks != 0;
    return status;
}

enum doppel_status doppel_library_next_lost_vectors(struct doppel_library *library,
                                                    uint64_t *out_number,
                                                    struct doppel_error *error)
{
    int64_t number = 0;
    bool found = false;
    enum doppel_status status =
        rows_number(library, "SELECT number FROM text_vectors WHERE item = 0 LIMIT 1", NO_VALUES,
                    &number, &found, error);
    if (!status && !found)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "no vectors are those of none");
    if (!status)
        *out_number = (uint64_t)number;
    return status;
}

enum doppel_status doppel_library_count_vectors(struct doppel_library *library,
                                                struct doppel_library_vectors_count *out,
                                                struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(library,
                                           "SELECT count(*), total(chunks), max(model)"
                                           " FROM text_vectors WHERE item != 0",
                                           NO_VALUES, &row, error);
    if (status)
        return status;
    const char *model = (const char *)sqlite3_column_text(row, 2);
    *out = (struct doppel_library_vectors_count){.texts = (uint64_t)sqlite3_column_int64(row, 0),
                                                 .chunks = (uint64_t)sqlite3_column_int64(row, 1)};
    if (model)
        snprintf(out->model, sizeof out->model, "%s", model);
    sqlite3_reset(row);
    return DOPPEL_OK;
}

enum doppel_status doppel_library_each_vectors(struct doppel_library *library,
                                               doppel_library_vectors_visitor *visitor,
                                               void *context, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        rows_prepare(library, "SELECT " TEXT_VECTORS_SUM " FROM text_vectors ORDER BY number",
                     NO_VALUES, &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        const struct doppel_library_vectors vectors = {
            .number = (uint64_t)sqlite3_column_int64(statement, 0),
            .item = (uint64_t)sqlite3_column_int64(statement, 1),
            .chunks = (uint64_t)sqlite3_column_int64(statement, 2),
            .model = (const char *)sqlite3_column_text(statement, 3)};
        if (!visitor(context, &vectors)) {
            sqlite3_reset(statement);
            status = visit_ended(error);
        }
    }
    return status;
}

/* Of the same bytes or content, where it is one of the group. */
#define EQUAL_TEXT                                                                                 \
    "coalesce((SELECT min(other.id) FROM item JOIN item AS other ON other.digest = item.digest"    \
    " WHERE item.id = ?1 AND other.id != ?1),"                                                     \
    " (SELECT min(other.id) FROM text JOIN text AS other"                                          \
    " ON other.leader IN (text.id, nullif(text.leader, 0))"                                        \
    " AND other.content = text.content WHERE text.id = ?1 AND other.id != ?1), 0)"

enum doppel_status text_vectors_hand_on(struct doppel_library *library, uint64_t id,
                                        struct doppel_error *error)
{
    int64_t any = 0, heir = 0;
    enum doppel_status status;
    TRY(rows_number(library, "SELECT count(*) FROM text_vectors WHERE item = ?1", VALUES(ID(id)),
                    &any, NULL, error));
    if (!any)
        return DOPPEL_OK;
    TRY(rows_number(library, "SELECT " EQUAL_TEXT, VALUES(ID(id)), &heir, NULL, error));
    TRY(rows_run(library,
                 "UPDATE text_vectors SET item = ?2,"
                 " checksum = " CHECKSUM_OF("number, ?2, chunks, model") " WHERE item = ?1",
                 VALUES(ID(id), ID(heir)), error));
done:
    return status;
}
