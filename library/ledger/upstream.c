/* What is new here, and an upstream is to be asked about. */
#include "library/ledger/ledger.h"

#include <sys/random.h>

#include "core/try.h"
#include "library/items/text_internal.h"
#include "library/sums.h"

static enum doppel_status queue_item(struct doppel_library *library, uint64_t id,
                                     struct doppel_error *error)
{
    int64_t token = 0;
    if (getrandom(&token, sizeof token, 0) != sizeof token)
        return doppel_fail(error, DOPPEL_E_IO, "the system gives no random numbers");
    return rows_run(
        library,
        "INSERT OR IGNORE INTO upstream(item, token, checksum) VALUES(?1, ?2, " CHECKSUM_OF(
            "?1, ?2") ")",
        VALUES(ID(id), value_integer(token)), error);
}

enum doppel_status doppel_library_queue_upstream(struct doppel_library *library, uint64_t id,
                                                 struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, queue_item(library, id, error));
}

static enum doppel_status leave_queue(struct doppel_library *library, uint64_t id,
                                      enum doppel_decision decision, bool *out_waited,
                                      struct doppel_error *error)
{
    enum doppel_status status;
    TRY(rows_run(library, "DELETE FROM upstream WHERE item = ?1", VALUES(ID(id)), error));
    *out_waited = rows_changed(library) > 0;
    if (*out_waited && decision != DOPPEL_DECISION_NEW)
        TRY(rows_run(
            library,
            "UPDATE text SET decision = ?2, checksum = " CHECKSUM_OF(TEXT_BUT(
                "corpus", "?2", "leader", "leads")) " WHERE id = ?1 AND " IS_WHOLE(TEXT_COLUMNS),
            VALUES(ID(id), ID(decision)), error));
done:
    return status;
}

enum doppel_status doppel_library_leave_upstream(struct doppel_library *library, uint64_t id,
                                                 enum doppel_decision decision, bool *out_waited,
                                                 struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status
                  : library_end(library, leave_queue(library, id, decision, out_waited, error));
}

enum doppel_status doppel_library_waits_upstream(struct doppel_library *library, uint64_t id,
                                                 bool *out, struct doppel_error *error)
{
    int64_t one;
    return rows_number(library, "SELECT 1 FROM upstream WHERE item = ?1", VALUES(ID(id)), &one, out,
                       error);
}

/* One that is damaged has another token, with which what was asked before is not known again. */
enum doppel_status doppel_library_next_upstream(struct doppel_library *library, uint64_t after,
                                                struct doppel_queued *out,
                                                struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(
        library, "SELECT item, token FROM upstream WHERE item > ?1 ORDER BY item LIMIT 1",
        VALUES(ID(after)), &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "nothing waits for an upstream");
    out->id = (uint64_t)sqlite3_column_int64(row, 0);
    out->token = (uint64_t)sqlite3_column_int64(row, 1);
    sqlite3_reset(row);
    return DOPPEL_OK;
}
