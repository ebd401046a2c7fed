/* Rows of small tables: statements with their values, in one call. */
#ifndef DOPPEL_LIBRARY_ITEMS_ROWS_H
#define DOPPEL_LIBRARY_ITEMS_ROWS_H

#include "library/catalogue.h"

/** A value to bind; strings and bytes are borrowed until the statement is reset. */
struct bound_value {
    enum { VALUE_NULL, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BYTES } type;
    int64_t integer;
    double real;
    const void *bytes;
    size_t size;
};

struct bound_value value_integer(int64_t integer);
struct bound_value value_real(double real);
/** UTF-8; NULL: none. */
struct bound_value value_text(const char *text);
/** A string of any bytes; NULL: none. */
struct bound_value value_string(const char *string);
struct bound_value value_digest(const struct doppel_digest *digest);
/** None when `known` is false. */
struct bound_value value_if(bool known, struct bound_value value);

void value_bind(sqlite3_stmt *statement, int parameter, const struct bound_value *value);

/** What a statement binds to ?1, ?2, … */
struct values {
    const struct bound_value *items;
    size_t count;
};
#define VALUES(...)                                                                                \
    ((struct values){(const struct bound_value[]){__VA_ARGS__},                                    \
                     sizeof((const struct bound_value[]){__VA_ARGS__}) /                           \
                         sizeof(struct bound_value)})
#define NO_VALUES ((struct values){0})
#define ID(number) value_integer((int64_t)(number))

/** row_checksum() of CHECKSUM_MAX_VALUES at most: a statement of many rows that calls a function
 * has SQLite note each page that it changes, in case it fails. */
struct bound_value values_checksum(struct values values);

/** A statement with its values bound. @param sql a literal */
enum doppel_status rows_prepare(struct doppel_library *library, const char *sql,
                                struct values values, sqlite3_stmt **out,
                                struct doppel_error *error);

/** Likewise, and at its first row; `*out` is NULL where there is none. */
enum doppel_status rows_first(struct doppel_library *library, const char *sql, struct values values,
                              sqlite3_stmt **out, struct doppel_error *error);

/** Run a statement that gives no rows. */
enum doppel_status rows_run(struct doppel_library *library, const char *sql, struct values values,
                            struct doppel_error *error);

/** The number in the first row. @param out_found may be NULL: then there must be a row, or `*out`
 * stays */
enum doppel_status rows_number(struct doppel_library *library, const char *sql,
                               struct values values, int64_t *out, bool *out_found,
                               struct doppel_error *error);

/** How many rows were changed by the last statement that ran. */
int rows_changed(struct doppel_library *library);

/** A string of bytes; NULL for NULL. Given (free). DOPPEL_E_CORRUPT: it holds a NUL; _MEMORY */
enum doppel_status string_read(sqlite3_stmt *statement, int column, char **out);

bool is_utf8(const char *text);

/** Whether something people call something is fit to be kept: some UTF-8, 1000 bytes at most,
 * without control characters. DOPPEL_E_ARGUMENT with a sentence. @param what "a label" */
enum doppel_status name_check(const char *name, const char *what, struct doppel_error *error);

#endif
