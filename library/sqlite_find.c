/* doppel_find(code, radius[, scheme]): the items of the library whose catalogue is open that have a
 * code within a radius, as a table of SQLite. The library is opened a second time, to be read, when
 * it is first asked, and stays open as long as the connection. */
#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

#include <doppel/library.h>

#include "library/hamming_sql.h"
#include "library/sqlite_find.h"

enum find_column { FIND_ID, FIND_DISTANCE, FIND_CODE, FIND_RADIUS, FIND_SCHEME };

struct find_table {
    sqlite3_vtab base; /* first, as SQLite wants it */
    sqlite3 *database;
    struct doppel_library *library; /* NULL: not opened yet */
};

struct find_cursor {
    sqlite3_vtab_cursor base;
    struct doppel_index_hit *hits;
    size_t count, at;
};

/* ---- the table ---- */

static int connect_find(sqlite3 *database, void *context, int count, const char *const *arguments,
                        sqlite3_vtab **out, char **message)
{
    (void)context, (void)count, (void)arguments, (void)message;
    int code =
        sqlite3_declare_vtab(database, "CREATE TABLE doppel_find(id INTEGER, distance INTEGER,"
                                       " code HIDDEN, radius HIDDEN, scheme HIDDEN)");
    if (code != SQLITE_OK)
        return code;
    struct find_table *table = sqlite3_malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct find_table){.database = database};
    sqlite3_vtab_config(database, SQLITE_VTAB_DIRECTONLY); /* it opens files */
    *out = &table->base;
    return SQLITE_OK;
}

static int disconnect_find(sqlite3_vtab *base)
{
    struct find_table *table = (struct find_table *)base;
    doppel_library_close(table->library);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int refuse_find(sqlite3_vtab *base, const char *why)
{
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = sqlite3_mprintf("doppel_find: %s", why);
    return SQLITE_ERROR;
}

static int plan_find(sqlite3_vtab *base, sqlite3_index_info *info)
{
    bool given[FIND_SCHEME + 1] = {false};
    int at[FIND_SCHEME + 1], used = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const int column = info->aConstraint[i].iColumn;
        if (column < FIND_CODE || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable) /* another order of the join has it */
            return SQLITE_CONSTRAINT;
        given[column] = true;
        at[column] = i;
    }
    if (!given[FIND_CODE] || !given[FIND_RADIUS])
        return refuse_find(base, "a code and a radius are wanted: doppel_find('d1c8…', 8)");
    for (int column = FIND_CODE; column <= FIND_SCHEME; column++)
        if (given[column]) {
            info->aConstraintUsage[at[column]].argvIndex = ++used;
            info->aConstraintUsage[at[column]].omit = 1;
        }
    info->estimatedCost = 1000;
    info->estimatedRows = 10;
    return SQLITE_OK;
}

/* ---- what is asked ---- */

/* Whether the library's SQLite is the one that has the catalogue open. Two in one process would
 * take each other's locks away. */
static bool has_same_sqlite(void)
{
    const char *theirs = sqlite3_sourceid();
#undef sqlite3_sourceid
    return theirs == sqlite3_sourceid();
}

static int open_find_library(struct find_table *table)
{
    static const char name[] = "/catalogue.db";
    const struct doppel_library_options options = {.read_only = true};
    const char *path = sqlite3_db_filename(table->database, "main");
    const size_t length = path ? strlen(path) : 0, tail = sizeof name - 1;
    struct doppel_error error;
    if (table->library)
        return SQLITE_OK;
    if (length <= tail || strcmp(path + length - tail, name) != 0)
        return refuse_find(&table->base, "the open database is not the catalogue of a library");
    if (!has_same_sqlite())
        return refuse_find(&table->base,
                           "this program has an SQLite of its own; hamming() is there");
    char *directory = sqlite3_mprintf("%.*s", (int)(length - tail), path);
    if (!directory)
        return SQLITE_NOMEM;
    const bool failed = doppel_library_open(directory, &options, &table->library, &error);
    sqlite3_free(directory);
    return failed ? refuse_find(&table->base, error.message) : SQLITE_OK;
}

static void take_code_bytes(const struct sql_code *given, struct doppel_code *out)
{
    *out = (struct doppel_code){0};
    for (size_t i = 0; i < given->count; i++)
        out->word[i / 8] = out->word[i / 8] << 8 | sql_code_byte(given, i);
}

/* @param scheme NULL: the usual one of so many bits */
static const char *read_find_code(sqlite3_value *code, sqlite3_value *scheme,
                                  struct doppel_code_lookup *out)
{
    struct sql_code given;
    if (!sql_code_read(code, &given))
        return "a code is an integer, text in hex, or a blob";
    const char *name = given.count == 8 ? "phash64" : "phash256";
    if (scheme)
        name = (const char *)sqlite3_value_text(scheme);
    const struct doppel_scheme *known = name ? doppel_scheme_by_name(name) : NULL;
    if (!known)
        return "there is no such scheme";
    if (given.count > sizeof out->code || given.count * 8 != known->code_bits)
        return "the code has not as many bits as the scheme: 64 of phash64, 256 of phash256";
    take_code_bytes(&given, &out->code);
    out->scheme = known->id;
    return NULL;
}

static const char *read_find_radius(sqlite3_value *radius, struct doppel_code_lookup *out)
{
    const sqlite3_int64 number = sqlite3_value_int64(radius);
    if (sqlite3_value_numeric_type(radius) != SQLITE_INTEGER || number < 0)
        return "a radius is a whole number of bits, 0 or more";
    out->radius = number < 256 ? (uint32_t)number : 256;
    return NULL;
}

static int filter_find(sqlite3_vtab_cursor *base, int plan, const char *plan_name, int count,
                       sqlite3_value **values)
{
    struct find_cursor *cursor = (struct find_cursor *)base;
    struct find_table *table = (struct find_table *)base->pVtab;
    struct doppel_code_lookup lookup;
    struct doppel_error error;
    (void)plan, (void)plan_name;
    free(cursor->hits);
    cursor->hits = NULL;
    cursor->count = cursor->at = 0;
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            return SQLITE_OK; /* nothing is near NULL */
    const char *wrong = read_find_code(values[0], count > 2 ? values[2] : NULL, &lookup);
    if (!wrong)
        wrong = read_find_radius(values[1], &lookup);
    if (wrong)
        return refuse_find(base->pVtab, wrong);
    int code = open_find_library(table);
    if (code != SQLITE_OK)
        return code;
    if (doppel_library_find_codes(table->library, &lookup, &cursor->hits, &cursor->count, &error))
        return refuse_find(base->pVtab, error.message);
    return SQLITE_OK;
}

/* ---- rows ---- */

static int open_find_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct find_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct find_cursor){0};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_find_cursor(sqlite3_vtab_cursor *base)
{
    free(((struct find_cursor *)base)->hits);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int next_find_row(sqlite3_vtab_cursor *base)
{
    ((struct find_cursor *)base)->at++;
    return SQLITE_OK;
}

static int is_after_find_rows(sqlite3_vtab_cursor *base)
{
    const struct find_cursor *cursor = (const struct find_cursor *)base;
    return cursor->at >= cursor->count;
}

static int give_find_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct find_cursor *cursor = (const struct find_cursor *)base;
    const struct doppel_index_hit *hit = &cursor->hits[cursor->at];
    if (column == FIND_ID)
        sqlite3_result_int64(context, (sqlite3_int64)hit->payload);
    else if (column == FIND_DISTANCE)
        sqlite3_result_int64(context, hit->distance);
    return SQLITE_OK;
}

static int give_find_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((const struct find_cursor *)base)->at;
    return SQLITE_OK;
}

int create_find_table(sqlite3 *database)
{
    static const sqlite3_module module = {
        .xConnect = connect_find, /* and no xCreate: it is there without CREATE VIRTUAL TABLE */
        .xBestIndex = plan_find,
        .xDisconnect = disconnect_find,
        .xOpen = open_find_cursor,
        .xClose = close_find_cursor,
        .xFilter = filter_find,
        .xNext = next_find_row,
        .xEof = is_after_find_rows,
        .xColumn = give_find_column,
        .xRowid = give_find_rowid,
    };
    return sqlite3_create_module(database, "doppel_find", &module, NULL);
}
