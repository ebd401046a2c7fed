/* Files that could not be read, and why: they are not tried again until they change. */
#include "library/ledger/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAILURE_COLUMNS                                                                            \
    "path, " STAMP_COLUMNS ", settled, time_ns, status, message, program, limits"
#define FAILURE_VALUES "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11"
#define SELECT_FAILURE "SELECT " FAILURE_COLUMNS ", " IS_WHOLE(FAILURE_COLUMNS) " FROM failure "

enum {
    COLUMN_PATH,
    COLUMN_STAMP,
    COLUMN_SETTLED = COLUMN_STAMP + STAMP_COLUMN_COUNT,
    COLUMN_TIME,
    COLUMN_STATUS,
    COLUMN_MESSAGE,
    COLUMN_PROGRAM,
    COLUMN_LIMITS,
    COLUMN_IS_WHOLE
};

/* ---- remembering ---- */

static enum doppel_status put_failure(struct doppel_library *library,
                                      const struct doppel_failure *failure,
                                      struct doppel_error *error)
{
    const struct doppel_file_stamp *stamp = failure->stamp;
    return rows_run(library,
                    "INSERT OR REPLACE INTO failure(" FAILURE_COLUMNS
                    ", checksum) VALUES(" FAILURE_VALUES ", " CHECKSUM_OF(FAILURE_VALUES) ")",
                    VALUES(value_string(failure->path), ID(stamp->device), ID(stamp->inode),
                           value_integer(stamp->size), value_integer(stamp->mtime_ns),
                           ID(stamp_is_settled(stamp, library->opened_ns)),
                           value_integer(failure->time_ns ? failure->time_ns : now_ns()),
                           ID(failure->error.status), value_text(failure->error.message),
                           value_text(doppel_version()),
                           value_text(failure->limits ? failure->limits : "")),
                    error);
}

enum doppel_status doppel_library_put_failure(struct doppel_library *library,
                                              const struct doppel_failure *failure,
                                              struct doppel_error *error)
{
    if (!*failure->path || !failure->error.status)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a failure has a path and a status");
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, put_failure(library, failure, error));
}

enum doppel_status doppel_library_forget_failure(struct doppel_library *library, const char *path,
                                                 struct doppel_error *error)
{
    int64_t one;
    bool found = false; /* mostly there is none: that is no reason to begin a change */
    enum doppel_status status = rows_number(library, "SELECT 1 FROM failure WHERE path = ?1",
                                            VALUES(value_string(path)), &one, &found, error);
    if (status || !found)
        return status;
    status = library_begin(library, error);
    return status ? status
                  : library_end(library, rows_run(library, "DELETE FROM failure WHERE path = ?1",
                                                  VALUES(value_string(path)), error));
}

/* ---- reading ---- */

/* A row; its path is given. DOPPEL_E_CORRUPT */
static enum doppel_status read_failure(sqlite3_stmt *statement, struct doppel_file_stamp *stamp,
                                       struct doppel_failure *out, char **out_path)
{
    int64_t reason = sqlite3_column_int64(statement, COLUMN_STATUS);
    const char *message = (const char *)sqlite3_column_text(statement, COLUMN_MESSAGE);
    const char *limits = (const char *)sqlite3_column_text(statement, COLUMN_LIMITS);
    if (sqlite3_column_int(statement, COLUMN_IS_WHOLE) != 1 || reason <= DOPPEL_OK ||
        reason > DOPPEL_E_NO_SPACE || !message || !limits)
        return DOPPEL_E_CORRUPT;
    char *path;
    enum doppel_status status = path_read(statement, COLUMN_PATH, &path);
    if (status)
        return status;
    stamp_read(statement, COLUMN_STAMP, stamp);
    *out = (struct doppel_failure){.path = path,
                                   .stamp = stamp,
                                   .time_ns = sqlite3_column_int64(statement, COLUMN_TIME),
                                   .limits = limits};
    doppel_fail(&out->error, (enum doppel_status)reason, "%s", message);
    *out_path = path;
    return DOPPEL_OK;
}

/* Whether what a row says still holds. */
static bool is_to_be_believed(sqlite3_stmt *statement, const struct doppel_failure *failure,
                              const struct doppel_file_stamp *stamp, const char *limits)
{
    const char *program = (const char *)sqlite3_column_text(statement, COLUMN_PROGRAM);
    return sqlite3_column_int(statement, COLUMN_SETTLED) && stamp_equal(failure->stamp, stamp) &&
           program && strcmp(program, doppel_version()) == 0 &&
           (!*failure->limits || strcmp(failure->limits, limits) == 0);
}

enum doppel_status doppel_library_failure(struct doppel_library *library, const char *path,
                                          const struct doppel_file_stamp *stamp, const char *limits,
                                          struct doppel_error *out)
{
    sqlite3_stmt *row;
    if (rows_first(library, SELECT_FAILURE "WHERE path = ?1", VALUES(value_string(path)), &row,
                   NULL) ||
        !row)
        return DOPPEL_E_NOT_FOUND;
    struct doppel_file_stamp its_stamp;
    struct doppel_failure failure;
    char *its_path = NULL;
    bool known = !read_failure(row, &its_stamp, &failure, &its_path) &&
                 is_to_be_believed(row, &failure, stamp, limits);
    sqlite3_reset(row);
    free(its_path);
    if (!known)
        return DOPPEL_E_NOT_FOUND;
    *out = failure.error;
    return DOPPEL_OK;
}

enum doppel_status doppel_library_each_failure(struct doppel_library *library,
                                               doppel_failure_visitor *visitor, void *context,
                                               struct doppel_error *error)
{
    uint64_t damaged = 0;
    bool row;
    sqlite3_stmt *statement;
    enum doppel_status status =
        rows_prepare(library, SELECT_FAILURE "ORDER BY path", NO_VALUES, &statement, error);
    if (status)
        return status;
    while (!(status = doppel_store_step(library->store, statement, &row, error)) && row) {
        struct doppel_file_stamp stamp;
        struct doppel_failure failure;
        char *path = NULL;
        bool whole = !read_failure(statement, &stamp, &failure, &path);
        damaged += !whole;
        bool go_on = !whole || visitor(context, &failure);
        free(path);
        if (!go_on) {
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
            break;
        }
    }
    sqlite3_reset(statement);
    if (!status && damaged)
        status = doppel_fail(error, DOPPEL_E_CORRUPT,
                             "%s: %" PRIu64 " of its failures %s damaged: these files are read "
                             "again",
                             library->directory, damaged, damaged == 1 ? "is" : "are");
    return status;
}
