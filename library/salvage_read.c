/* The rows of a table whose pages are damaged: those before the damage, those behind it, and what
 * lies between damages, found by halving what is left. */
#include "library/salvage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

enum {
    MAX_PROBES = 50000,
    ROWS_PER_COMMIT = 100000,
    /* Where the end of a table cannot be read, ids up to so many further are looked for. */
    REACH = 1 << 20
};

struct range {
    int64_t first, last;
};

struct reading {
    struct salvage *salvage;
    const struct salvage_table *table;
    sqlite3_stmt *up, *down; /* with the row id first; of a table without, all rows */
    sqlite3_stmt *insert;
    ARRAY(struct range) ranges; /* not read yet */
    size_t probes;
};

/* ---- statements ---- */

/* Only damage is gone round. */
static bool is_failure(int code)
{
    code &= 0xff;
    return code == SQLITE_NOMEM || code == SQLITE_FULL || code == SQLITE_INTERRUPT;
}

static enum doppel_status fail(struct reading *reading, sqlite3 *database,
                               struct doppel_error *error)
{
    int code = sqlite3_errcode(database) & 0xff;
    return doppel_fail(error, code == SQLITE_NOMEM ? DOPPEL_E_MEMORY : DOPPEL_E_IO, "%s: %s",
                       reading->salvage->directory, sqlite3_errmsg(database));
}

static sqlite3_stmt *prepare(sqlite3 *database, char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sql && sqlite3_prepare_v2(database, sql, -1, &statement, NULL))
        statement = NULL;
    sqlite3_free(sql);
    return statement;
}

/* For the columns that the old table has. */
static sqlite3_stmt *prepare_insert(const struct reading *reading, sqlite3 *fresh, int first)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    int count = sqlite3_column_count(reading->up);
    sqlite3_str_appendf(sql, "INSERT OR %s INTO \"%w\"(", reading->table->key ? "IGNORE" : "ABORT",
                        reading->table->name);
    for (int i = first; i < count; i++)
        sqlite3_str_appendf(sql, "%s\"%w\"", i > first ? "," : "",
                            sqlite3_column_name(reading->up, i));
    sqlite3_str_appendall(sql, ") VALUES(");
    for (int i = first; i < count; i++)
        sqlite3_str_appendf(sql, "%s?%d", i > first ? "," : "", i - first + 1);
    sqlite3_str_appendall(sql, ")");
    return prepare(fresh, sqlite3_str_finish(sql));
}

static bool prepare_all(struct reading *reading, sqlite3 *fresh)
{
    sqlite3 *old = reading->salvage->old;
    const struct salvage_table *table = reading->table;
    static const char by_id[] = "SELECT rowid, * FROM \"%w\" NOT INDEXED WHERE rowid BETWEEN ?1 AND"
                                " ?2 ORDER BY rowid %s";
    if (table->key) {
        reading->up = prepare(old, sqlite3_mprintf("SELECT * FROM \"%w\"", table->name));
        reading->down = prepare(
            old, sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY %s", table->name, table->key));
    } else {
        reading->up = prepare(old, sqlite3_mprintf(by_id, table->name, "ASC"));
        reading->down = prepare(old, sqlite3_mprintf(by_id, table->name, "DESC"));
    }
    reading->insert = reading->up ? prepare_insert(reading, fresh, table->key ? 0 : 1) : NULL;
    return reading->up && reading->down && reading->insert;
}

/* ---- rows ---- */

static enum doppel_status tell(struct reading *reading, uint64_t id, const char *detail,
                               bool repaired)
{
    const struct doppel_problem problem = {
        .problem = reading->table->name, .id = id, .detail = detail, .repaired = repaired};
    return reading->salvage->visitor(reading->salvage->context, &problem) ? DOPPEL_OK
                                                                          : DOPPEL_E_CANCELLED;
}

static enum doppel_status commit_some(struct salvage *salvage, struct doppel_error *error)
{
    if (++salvage->uncommitted < ROWS_PER_COMMIT)
        return DOPPEL_OK;
    salvage->uncommitted = 0;
    enum doppel_status status = doppel_store_commit(salvage->fresh, error);
    return status ? status : doppel_store_begin(salvage->fresh, error);
}

/* What the new table does not take is set aside. */
static enum doppel_status copy_row(struct reading *reading, sqlite3_stmt *row, int first,
                                   struct doppel_error *error)
{
    struct salvage *salvage = reading->salvage;
    for (int i = first; i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(reading->insert, i - first + 1, sqlite3_column_value(row, i));
    int code = sqlite3_step(reading->insert);
    sqlite3_reset(reading->insert);
    if (code == SQLITE_DONE)
        return commit_some(salvage, error);
    code &= 0xff;
    if (code != SQLITE_CONSTRAINT && code != SQLITE_MISMATCH && code != SQLITE_TOOBIG)
        return fail(reading, sqlite3_db_handle(reading->insert), error);
    enum doppel_status status =
        aside_write(&salvage->aside, salvage->directory, reading->table->name, row, first, error);
    uint64_t id = first ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    return status ? status : tell(reading, id, "the row makes no sense", true);
}

/* Rows up to the first that cannot be read. @param up ascending @param range what is left of it,
 * afterwards; @param out_done all was read */
static enum doppel_status read_part(struct reading *reading, bool up, struct range *range,
                                    bool *out_done, struct doppel_error *error)
{
    sqlite3_stmt *statement = up ? reading->up : reading->down;
    enum doppel_status status = DOPPEL_OK;
    int code;
    sqlite3_bind_int64(statement, 1, range->first);
    sqlite3_bind_int64(statement, 2, range->last);
    reading->probes++;
    *out_done = false;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(statement, 0);
        if (id < range->first || id > range->last)
            break; /* out of order: the page lies */
        status = copy_row(reading, statement, 1, error);
        *out_done = up ? id == INT64_MAX : id == INT64_MIN;
        if (*out_done)
            break;
        *(up ? &range->first : &range->last) = up ? id + 1 : id - 1;
    }
    if (!status && is_failure(code))
        status = fail(reading, reading->salvage->old, error);
    *out_done |= !status && (code == SQLITE_DONE || range->first > range->last);
    sqlite3_reset(statement);
    return status;
}

/* ---- ranges ---- */

static enum doppel_status tell_lost(struct reading *reading, const struct range *range)
{
    char detail[128];
    if (range->first == range->last)
        snprintf(detail, sizeof detail, "the row %" PRId64 " cannot be read", range->first);
    else
        snprintf(detail, sizeof detail,
                 "rows cannot be read: those there were from %" PRId64 " to %" PRId64, range->first,
                 range->last);
    return tell(reading, (uint64_t)range->first, detail, false);
}

static enum doppel_status halve(struct reading *reading, const struct range *range,
                                struct doppel_error *error)
{
    int64_t middle = range->first + (int64_t)(((uint64_t)range->last - (uint64_t)range->first) / 2);
    if (!array_push(&reading->ranges, ((struct range){middle + 1, range->last})) ||
        !array_push(&reading->ranges, ((struct range){range->first, middle})))
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", reading->salvage->directory);
    return DOPPEL_OK;
}

static enum doppel_status read_range(struct reading *reading, struct range range,
                                     struct range *lost, struct doppel_error *error)
{
    bool done = false;
    enum doppel_status status = read_part(reading, true, &range, &done, error);
    if (!status && !done)
        status = read_part(reading, false, &range, &done, error);
    if (status || done)
        return status;
    if (range.last == INT64_MAX) /* of the end nothing can be read */
        range.last = range.first > INT64_MAX - REACH ? INT64_MAX : range.first + REACH;
    if (range.first == INT64_MIN)
        range.first = range.last < INT64_MIN + REACH ? INT64_MIN : range.last - REACH;
    if (range.first < range.last && reading->probes < MAX_PROBES)
        return halve(reading, &range, error);
    /* Ranges come in order: what joins the last one is told together with it. */
    if (lost->first <= lost->last && lost->last + 1 == range.first) {
        lost->last = range.last;
        return DOPPEL_OK;
    }
    if (lost->first <= lost->last)
        status = tell_lost(reading, lost);
    *lost = range;
    return status;
}

static enum doppel_status read_by_id(struct reading *reading, struct doppel_error *error)
{
    struct range lost = {0, -1};
    enum doppel_status status =
        array_push(&reading->ranges, ((struct range){INT64_MIN, INT64_MAX}))
            ? DOPPEL_OK
            : doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", reading->salvage->directory);
    while (!status && reading->ranges.count)
        status = read_range(reading, reading->ranges.items[--reading->ranges.count], &lost, error);
    return status || lost.first > lost.last ? status : tell_lost(reading, &lost);
}

static enum doppel_status read_all(struct reading *reading, sqlite3_stmt *statement, bool *out_done,
                                   struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    int code = SQLITE_DONE;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW)
        status = copy_row(reading, statement, 0, error);
    if (!status && is_failure(code))
        status = fail(reading, reading->salvage->old, error);
    *out_done = code == SQLITE_DONE;
    sqlite3_reset(statement);
    return status;
}

static enum doppel_status read_by_key(struct reading *reading, struct doppel_error *error)
{
    bool done = false;
    enum doppel_status status = read_all(reading, reading->up, &done, error);
    if (status || done)
        return status;
    status = read_all(reading, reading->down, &done, error);
    return status ? status : tell(reading, 0, "some rows cannot be read", false);
}

enum doppel_status salvage_copy(struct salvage *salvage, const struct salvage_table *table,
                                struct doppel_error *error)
{
    struct reading reading = {.salvage = salvage, .table = table};
    sqlite3_stmt *any;
    enum doppel_status status = doppel_store_statement(salvage->fresh, "SELECT 1", &any, error);
    if (status)
        return status;
    if (!prepare_all(&reading, sqlite3_db_handle(any)))
        status = tell(&reading, 0, "the table cannot be read", false);
    else
        status = table->key ? read_by_key(&reading, error) : read_by_id(&reading, error);
    sqlite3_finalize(reading.up);
    sqlite3_finalize(reading.down);
    sqlite3_finalize(reading.insert);
    array_free(&reading.ranges);
    return status;
}
