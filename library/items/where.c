/* Asking for items by an expression of SQL, which may come from anybody: on a connection that reads
 * this library alone, with few functions, small strings, and an end. */
#include "library/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/try.h"
#include "library/hamming_sql.h"
#include "library/views.h"

enum {
    MAX_EXPRESSION_BYTES = 10000,
    MAX_VALUE_BYTES = 2 << 20, /* a row's meta may have half of it */
    MAX_PATTERN_BYTES = 500,
    MAX_DEPTH = 100,
    STEPS_PER_LOOK = 2000
};

/* ---- one expression ---- */

/* Behind a string, a name in quotes or a comment that begins at `at`; NULL: it does not end. */
static const char *skip_quoted(const char *at)
{
    const char *end;
    switch (*at) {
    case '\'':
    case '"':
    case '`': /* one doubled is two that touch */
        end = strchr(at + 1, *at);
        return end ? end + 1 : NULL;
    case '[':
        end = strchr(at, ']');
        return end ? end + 1 : NULL;
    case '-':
        return at[1] == '-' ? at + strcspn(at, "\n") : at + 1;
    case '/':
        if (at[1] != '*')
            return at + 1;
        end = strstr(at + 2, "*/");
        return end ? end + 2 : NULL;
    default:
        return at + 1;
    }
}

/* Whether the text stays one expression between brackets: none of its own closes the first one, and
 * nothing is left open. */
static bool is_one_expression(const char *text)
{
    int depth = 0;
    bool any = false;
    while (text && *text && depth >= 0 && *text != ';') {
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
        any |= !strchr(" \t\r\n", *text);
        text = skip_quoted(text);
    }
    return text && !*text && depth == 0 && any;
}

static enum doppel_status check(const char *expression, struct doppel_error *error)
{
    if (strlen(expression) > MAX_EXPRESSION_BYTES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the expression is longer than %d bytes",
                           MAX_EXPRESSION_BYTES);
    if (!is_one_expression(expression))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%.200s' is not one expression: brackets, quotes and comments must "
                           "close, and nothing may follow a ';'",
                           expression);
    return DOPPEL_OK;
}

/* ---- what it may do ---- */

static bool is_among_names(const char *name, const char *const *names)
{
    while (*names && sqlite3_stricmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

/* Functions whose time grows with the product of two strings are not among them. */
static const char *const functions[] = {"->",
                                        "->>",
                                        "abs",
                                        "avg",
                                        "ceil",
                                        "coalesce",
                                        "count",
                                        "date",
                                        "datetime",
                                        "floor",
                                        "glob",
                                        "hamming",
                                        "hex",
                                        "ifnull",
                                        "iif",
                                        "json",
                                        "json_array_length",
                                        "json_each",
                                        "json_extract",
                                        "json_group_array",
                                        "json_type",
                                        "json_valid",
                                        "julianday",
                                        "length",
                                        "like",
                                        "lower",
                                        "max",
                                        "min",
                                        "nullif",
                                        "round",
                                        "sign",
                                        "strftime",
                                        "substr",
                                        "substring",
                                        "sum",
                                        "time",
                                        "total",
                                        "typeof",
                                        "unicode",
                                        "unixepoch",
                                        "upper",
                                        NULL};
static const char *const tables[] = {"items", "item",         "text",       "corpus",
                                     "about", "label",        "list",       "list_item",
                                     "link",  "canonical",    "json_each",  "json_tree",
                                     "log",   "list_matches", "list_match", NULL};

static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    (void)context;
    (void)database;
    (void)trigger;
    bool allowed = action == SQLITE_SELECT ||
                   (action == SQLITE_READ && first && (!*first || is_among_names(first, tables))) ||
                   (action == SQLITE_FUNCTION && second && is_among_names(second, functions));
    return allowed ? SQLITE_OK : SQLITE_DENY;
}

/* When it is to end. */
struct deadline {
    struct timespec at;
    const struct doppel_library *library;
    bool passed, cancelled;
};

static int look_at_clock(void *context)
{
    struct deadline *deadline = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    deadline->passed = now.tv_sec > deadline->at.tv_sec ||
                       (now.tv_sec == deadline->at.tv_sec && now.tv_nsec >= deadline->at.tv_nsec);
    deadline->cancelled = deadline->library->cancelled &&
                          deadline->library->cancelled(deadline->library->cancel_context);
    return deadline->passed || deadline->cancelled;
}

static struct deadline deadline_in(uint32_t timeout_ms)
{
    struct deadline deadline = {0};
    clock_gettime(CLOCK_MONOTONIC, &deadline.at);
    deadline.at.tv_sec += timeout_ms / 1000;
    deadline.at.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (deadline.at.tv_nsec >= 1000000000L) {
        deadline.at.tv_nsec -= 1000000000L;
        deadline.at.tv_sec++;
    }
    return deadline;
}

static int confine_query(sqlite3 *database, struct deadline *deadline)
{
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, MAX_DEPTH);
    sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_limit(database, SQLITE_LIMIT_VARIABLE_NUMBER, 0);
    sqlite3_progress_handler(database, STEPS_PER_LOOK, look_at_clock, deadline);
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int code = sqlite3_exec(database, "SELECT 1 FROM json_each('[]')", NULL, NULL, NULL);
    if (code) /* its table is declared before declaring is forbidden */
        return code;
    code = sqlite3_create_function_v2(database, "hamming", 2, flags, NULL, sql_hamming, NULL, NULL,
                                      NULL);
    return code ? code : sqlite3_set_authorizer(database, authorize, NULL);
}

/* ---- asking ---- */

static const char question[] = "WITH items AS (" VIEW_ITEMS ") SELECT id FROM items WHERE (";

/* The columns that there are, with commas between; "" where that cannot be known. */
static void list_columns(sqlite3 *database, char *out, size_t size)
{
    static const char all[] = "WITH items AS (" VIEW_ITEMS ") SELECT * FROM items";
    sqlite3_stmt *statement = NULL;
    size_t used = 0;
    if (sqlite3_prepare_v2(database, all, -1, &statement, NULL) == SQLITE_OK)
        for (int i = 0; i < sqlite3_column_count(statement) && used < size; i++)
            used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "",
                                     sqlite3_column_name(statement, i));
    sqlite3_finalize(statement);
}

/* What SQLite says of an expression is its author's to mend; what it says of the file is not. */
static enum doppel_status fail_query(sqlite3 *database, const struct deadline *deadline,
                                     const char *directory, struct doppel_error *error)
{
    int code = sqlite3_errcode(database) & 0xff;
    if (deadline->cancelled)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    if (deadline->passed)
        return doppel_fail(error, DOPPEL_E_TIMEOUT,
                           "%s: the expression took too long; ask for less", directory);
    enum doppel_status status = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? DOPPEL_E_CORRUPT
                                : code == SQLITE_NOMEM                          ? DOPPEL_E_MEMORY
                                : code == SQLITE_IOERR                          ? DOPPEL_E_IO
                                : code == SQLITE_BUSY                           ? DOPPEL_E_BUSY
                                                                                : DOPPEL_E_ARGUMENT;
    char columns[256] = "", message[200];
    snprintf(message, sizeof message, "%s", sqlite3_errmsg(database));
    if (strncmp(message, "no such column", 14) == 0)
        list_columns(database, columns, sizeof columns);
    const char *more = *columns ? "; there are "
                       : code == SQLITE_AUTH
                           ? "; it may read the columns of items and compute, no more"
                           : "";
    return doppel_fail(error, status, "%s: the expression cannot be answered: %s%s%s", directory,
                       message, more, columns);
}

static enum doppel_status visit_ids(sqlite3_stmt *statement, const struct deadline *deadline,
                                    const char *directory, doppel_id_visitor *visitor,
                                    void *context, struct doppel_error *error)
{
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (!visitor(context, (uint64_t)sqlite3_column_int64(statement, 0)))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    return code == SQLITE_DONE
               ? DOPPEL_OK
               : fail_query(sqlite3_db_handle(statement), deadline, directory, error);
}

static enum doppel_status ask(sqlite3 *database, const struct doppel_library *library,
                              const char *sql, uint32_t timeout_ms, doppel_id_visitor *visitor,
                              void *context, struct doppel_error *error)
{
    sqlite3_stmt *statement = NULL;
    struct deadline deadline = deadline_in(timeout_ms);
    deadline.library = library;
    const char *rest = "";
    enum doppel_status status = DOPPEL_OK;
    if (confine_query(database, &deadline) ||
        sqlite3_prepare_v2(database, sql, -1, &statement, &rest) || !statement)
        status = fail_query(database, &deadline, library->directory, error);
    else if (*rest || !sqlite3_stmt_readonly(statement))
        status = doppel_fail(error, DOPPEL_E_ARGUMENT, "more than one expression");
    else
        status = visit_ids(statement, &deadline, library->directory, visitor, context, error);
    sqlite3_finalize(statement);
    sqlite3_progress_handler(database, 0, NULL, NULL);
    return status;
}

void doppel_library_set_cancel(struct doppel_library *library, bool (*cancelled)(void *context),
                               void *context)
{
    library->cancelled = cancelled;
    library->cancel_context = context;
}

static bool call_stopped(void *context)
{
    return ((const struct doppel_library *)context)->stopped();
}

void doppel_library_stop_by(struct doppel_library *library, bool (*stopped)(void))
{
    library->stopped = stopped;
    doppel_library_set_cancel(library, stopped ? call_stopped : NULL, library);
}

enum doppel_status doppel_library_where(struct doppel_library *library, const char *expression,
                                        uint32_t timeout_ms, doppel_id_visitor *visitor,
                                        void *context, struct doppel_error *error)
{
    const struct doppel_library_options options = {.read_only = true};
    struct doppel_store *store = NULL;
    sqlite3_stmt *statement;
    char *sql = NULL;
    enum doppel_status status;
    TRY(check(expression, error));
    TRY(catalogue_open(library->directory, &options, &store, error));
    TRY(doppel_store_statement(store, "SELECT 1", &statement, error));
    sql = sqlite3_mprintf("%s%s\n) ORDER BY id", question, expression);
    if (!sql)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an expression"));
    TRY(ask(sqlite3_db_handle(statement), library, sql, timeout_ms, visitor, context, error));
done:
    sqlite3_free(sql);
    doppel_store_close(store);
    return status;
}
