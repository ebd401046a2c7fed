/* Rows of small tables: binding, running and reading them. */
#include "library/items/rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/text/utf8.h"

enum { MAX_NAME_BYTES = 1000 };

/* ---- values ---- */

struct bound_value value_integer(int64_t integer)
{
    return (struct bound_value){.type = VALUE_INTEGER, .integer = integer};
}

struct bound_value value_real(double real)
{
    return (struct bound_value){.type = VALUE_REAL, .real = real};
}

static struct bound_value value_of(int type, const char *string)
{
    return string ? (struct bound_value){.type = type, .bytes = string, .size = strlen(string)}
                  : (struct bound_value){0};
}

struct bound_value value_text(const char *text)
{
    return value_of(VALUE_TEXT, text);
}

struct bound_value value_string(const char *string)
{
    return value_of(VALUE_BYTES, string);
}

struct bound_value value_digest(const struct doppel_digest *digest)
{
    return (struct bound_value){
        .type = VALUE_BYTES, .bytes = digest->bytes, .size = sizeof digest->bytes};
}

struct bound_value value_if(bool known, struct bound_value value)
{
    return known ? value : (struct bound_value){0};
}

static void put_checksum_part(uint8_t *part, const struct bound_value *value)
{
    static const int types[] = {[VALUE_NULL] = SQLITE_NULL,
                                [VALUE_INTEGER] = SQLITE_INTEGER,
                                [VALUE_REAL] = SQLITE_FLOAT,
                                [VALUE_TEXT] = SQLITE_TEXT,
                                [VALUE_BYTES] = SQLITE_BLOB};
    uint64_t bits = (uint64_t)value->integer;
    if (value->type == VALUE_REAL)
        memcpy(&bits, &value->real, sizeof bits);
    if (value->type == VALUE_TEXT || value->type == VALUE_BYTES)
        checksum_put(part, types[value->type], value->bytes, value->size);
    else
        checksum_put_number(part, types[value->type], bits);
}

struct bound_value values_checksum(struct values values)
{
    uint8_t parts[CHECKSUM_MAX_VALUES * CHECKSUM_PART_BYTES];
    for (size_t i = 0; i < values.count; i++)
        put_checksum_part(parts + i * CHECKSUM_PART_BYTES, &values.items[i]);
    return ID(checksum64(parts, values.count * CHECKSUM_PART_BYTES));
}

/* ---- statements ---- */

void value_bind(sqlite3_stmt *statement, int parameter, const struct bound_value *value)
{
    switch (value->type) {
    case VALUE_INTEGER:
        sqlite3_bind_int64(statement, parameter, value->integer);
        break;
    case VALUE_REAL:
        sqlite3_bind_double(statement, parameter, value->real);
        break;
    case VALUE_TEXT:
        sqlite3_bind_text64(statement, parameter, value->bytes, value->size, SQLITE_STATIC,
                            SQLITE_UTF8);
        break;
    case VALUE_BYTES:
        sqlite3_bind_blob64(statement, parameter, value->bytes, value->size, SQLITE_STATIC);
        break;
    case VALUE_NULL:
        sqlite3_bind_null(statement, parameter);
        break;
    }
}

enum doppel_status rows_prepare(struct doppel_library *library, const char *sql,
                                struct values values, sqlite3_stmt **out,
                                struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(library->store, sql, &statement, error);
    if (status)
        return status;
    for (size_t i = 0; i < values.count; i++)
        value_bind(statement, (int)i + 1, &values.items[i]);
    *out = statement;
    return DOPPEL_OK;
}

enum doppel_status rows_first(struct doppel_library *library, const char *sql, struct values values,
                              sqlite3_stmt **out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row = false;
    enum doppel_status status = rows_prepare(library, sql, values, &statement, error);
    if (!status)
        status = doppel_store_step(library->store, statement, &row, error);
    if (!status)
        *out = row ? statement : NULL;
    return status;
}

enum doppel_status rows_run(struct doppel_library *library, const char *sql, struct values values,
                            struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = rows_prepare(library, sql, values, &statement, error);
    return status ? status : library_run(library, statement, error);
}

enum doppel_status rows_number(struct doppel_library *library, const char *sql,
                               struct values values, int64_t *out, bool *out_found,
                               struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(library, sql, values, &row, error);
    if (status)
        return status;
    if (row)
        *out = sqlite3_column_int64(row, 0);
    if (out_found)
        *out_found = row;
    sqlite3_reset(row);
    return DOPPEL_OK;
}

int rows_changed(struct doppel_library *library)
{
    sqlite3_stmt *statement;
    if (doppel_store_statement(library->store, "SELECT 1", &statement, NULL))
        return 0;
    return sqlite3_changes(sqlite3_db_handle(statement));
}

/* ---- reading ---- */

enum doppel_status string_read(sqlite3_stmt *statement, int column, char **out)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
        *out = NULL;
        return DOPPEL_OK;
    }
    const void *bytes = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    if (size && (!bytes || memchr(bytes, '\0', size)))
        return DOPPEL_E_CORRUPT;
    char *string = malloc(size + 1);
    if (!string)
        return DOPPEL_E_MEMORY;
    if (size)
        memcpy(string, bytes, size);
    string[size] = '\0';
    *out = string;
    return DOPPEL_OK;
}

/* ---- names ---- */

bool is_utf8(const char *text)
{
    size_t size = strlen(text), length = 1;
    for (size_t at = 0; at < size && length; at += length)
        length = utf8_length(text + at, size - at);
    return length != 0;
}

enum doppel_status name_check(const char *name, const char *what, struct doppel_error *error)
{
    size_t size = strlen(name);
    if (!size)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s must not be empty", what);
    if (size > MAX_NAME_BYTES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s must not be longer than %d bytes", what,
                           MAX_NAME_BYTES);
    if (!is_utf8(name))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s must be UTF-8", what);
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s must not hold control characters",
                               what);
    return DOPPEL_OK;
}
