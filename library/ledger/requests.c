/* Requests that are done once. */
#include <doppel/library_requests.h>

#include <string.h>

#include "core/try.h"
#include "library/ledger/ledger.h"
#include "library/sums.h"

#define REQUEST_VALUES "?1, ?2, ?3, ?4, ?5"
#define ANSWER_VALUES "?1, ?2, ?3"

/* What began before it is forgotten. */
static int64_t oldest_ns(void)
{
    return now_ns() - DOPPEL_REQUEST_SECONDS * INT64_C(1000000000);
}

static enum doppel_status forget_old(struct doppel_library *library, struct doppel_error *error)
{
    return rows_run(library, "DELETE FROM request WHERE time_ns < ?1", VALUES(ID(oldest_ns())),
                    error);
}

/* @param out_id 0: there is none */
static enum doppel_status find_request(struct doppel_library *library,
                                       const struct doppel_library_request *request,
                                       uint64_t *out_id, struct doppel_error *error)
{
    sqlite3_stmt *row;
    *out_id = 0;
    enum doppel_status status =
        rows_first(library,
                   "SELECT id, body, " IS_WHOLE(REQUEST_SUM) " FROM request WHERE client = ?1 AND "
                                                             "key = ?2 AND time_ns >= ?3",
                   VALUES(value_text(request->client), value_text(request->key), ID(oldest_ns())),
                   &row, error);
    if (status || !row)
        return status;
    const struct doppel_digest *body = sqlite3_column_blob(row, 1);
    bool whole = sqlite3_column_int(row, 2) == 1;
    bool same = sqlite3_column_bytes(row, 1) == sizeof *body && body &&
                memcmp(body, &request->body, sizeof *body) == 0;
    *out_id = whole ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    sqlite3_reset(row);
    return same || !whole ? DOPPEL_OK
                          : doppel_fail(error, DOPPEL_E_ARGUMENT,
                                        "the key of this request came with another body before");
}

static enum doppel_status begin_request(struct doppel_library *library,
                                        const struct doppel_library_request *request, uint64_t *out,
                                        struct doppel_error *error)
{
    int64_t id = 0;
    enum doppel_status status;
    TRY(forget_old(library, error));
    TRY(find_request(library, request, out, error));
    if (*out)
        return DOPPEL_OK;
    TRY(rows_number(library, "SELECT coalesce(max(id), 0) + 1 FROM request", NO_VALUES, &id, NULL,
                    error));
    TRY(rows_run(library,
                 "INSERT OR REPLACE INTO request(" REQUEST_SUM ", checksum) VALUES(" REQUEST_VALUES
                 ", " CHECKSUM_OF(REQUEST_VALUES) ")",
                 VALUES(ID(id), value_text(request->client), value_text(request->key),
                        value_digest(&request->body), ID(now_ns())),
                 error));
    *out = (uint64_t)id;
done:
    return status;
}

enum doppel_status doppel_library_begin_request(struct doppel_library *library,
                                                const struct doppel_library_request *request,
                                                uint64_t *out, struct doppel_error *error)
{
    struct doppel_error refused;
    uint64_t known;
    enum doppel_status status = find_request(library, request, &known, &refused);
    if (status == DOPPEL_E_ARGUMENT) /* which takes nothing back */
        return doppel_fail(error, status, "%s", refused.message);
    status = library_begin(library, error);
    return status ? status : library_end(library, begin_request(library, request, out, error));
}

enum doppel_status doppel_library_keep_answer(struct doppel_library *library, uint64_t request,
                                              uint64_t number, const char *answer,
                                              struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status
               ? status
               : library_end(library,
                             rows_run(library,
                                      "INSERT OR REPLACE INTO answer(" ANSWER_SUM
                                      ", checksum) VALUES(" ANSWER_VALUES
                                      ", " CHECKSUM_OF(ANSWER_VALUES) ")",
                                      VALUES(ID(request), ID(number), value_text(answer)), error));
}

enum doppel_status doppel_library_each_answer(struct doppel_library *library, uint64_t request,
                                              doppel_answer_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row, damaged = false, goes_on = true;
    enum doppel_status status = rows_prepare(
        library,
        "SELECT number, decision, " IS_WHOLE(ANSWER_SUM) " FROM answer WHERE request = ?1"
                                                         " ORDER BY number",
        VALUES(ID(request)), &statement, error);
    if (status)
        return status;
    while (goes_on && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        if (sqlite3_column_int(statement, 2) == 1)
            goes_on = visitor(context, (uint64_t)sqlite3_column_int64(statement, 0),
                              (const char *)sqlite3_column_text(statement, 1));
        else
            damaged = true;
    }
    sqlite3_reset(statement);
    if (!status && !goes_on)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    return status || !damaged
               ? status
               : doppel_fail(error, DOPPEL_E_CORRUPT, "%s: an answer that was kept is damaged",
                             library->directory);
}
