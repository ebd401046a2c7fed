/* The SQL function row_checksum(). */
#include "library/checksum.h"

#include <string.h>

#include "core/bytes.h"
#include "core/digest.h"

enum { MAX_VALUES = 24, VALUE_BYTES = 9 };

static uint64_t checksum_of_value(sqlite3_value *value)
{
    uint8_t number[8];
    double real;
    uint64_t bits = 0;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        bits = (uint64_t)sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(value);
        memcpy(&bits, &real, sizeof bits);
        break;
    case SQLITE_NULL:
        break;
    default: { /* the bytes are asked for first: to do so may move them */
        const void *bytes = sqlite3_value_blob(value);
        return checksum64(bytes ? bytes : "", (size_t)sqlite3_value_bytes(value));
    }
    }
    put_u64(number, bits);
    return checksum64(number, sizeof number);
}

static void row_checksum(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint8_t parts[MAX_VALUES * VALUE_BYTES];
    if (count > MAX_VALUES) {
        sqlite3_result_error(context, "row_checksum: too many values", -1);
        return;
    }
    for (int i = 0; i < count; i++) {
        parts[i * VALUE_BYTES] = (uint8_t)sqlite3_value_type(values[i]);
        put_u64(parts + i * VALUE_BYTES + 1, checksum_of_value(values[i]));
    }
    sqlite3_result_int64(context, (int64_t)checksum64(parts, (size_t)count * VALUE_BYTES));
}

int checksum_define(sqlite3 *database)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    return sqlite3_create_function_v2(database, "row_checksum", -1, flags, NULL, row_checksum, NULL,
                                      NULL, NULL);
}

enum doppel_status checksum_install(struct doppel_store *store, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(store, "SELECT 1", &statement, error);
    if (!status && checksum_define(sqlite3_db_handle(statement)))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", doppel_store_path(store));
    return status;
}
