/* The SQL function row_checksum(). */
#include "library/checksum.h"

#include <string.h>

#include "core/bytes.h"
#include "core/digest.h"

void checksum_put(uint8_t *part, int type, const void *bytes, size_t size)
{
    *part = (uint8_t)type;
    put_u64(part + 1, checksum64(size ? bytes : "", size));
}

void checksum_put_number(uint8_t *part, int type, uint64_t bits)
{
    uint8_t number[8];
    put_u64(number, bits);
    checksum_put(part, type, number, sizeof number);
}

static void put_value(uint8_t *part, sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    double real;
    uint64_t bits = 0;
    const void *bytes;
    switch (type) {
    case SQLITE_INTEGER:
        bits = (uint64_t)sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(value);
        memcpy(&bits, &real, sizeof bits);
        break;
    case SQLITE_NULL:
        break;
    default: /* the bytes are asked for first: to do so may move them */
        bytes = sqlite3_value_blob(value);
        checksum_put(part, type, bytes, bytes ? (size_t)sqlite3_value_bytes(value) : 0);
        return;
    }
    checksum_put_number(part, type, bits);
}

static void row_checksum(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint8_t parts[CHECKSUM_MAX_VALUES * CHECKSUM_PART_BYTES];
    if (count > CHECKSUM_MAX_VALUES) {
        sqlite3_result_error(context, "row_checksum: too many values", -1);
        return;
    }
    for (int i = 0; i < count; i++)
        put_value(parts + i * CHECKSUM_PART_BYTES, values[i]);
    sqlite3_result_int64(context, (int64_t)checksum64(parts, (size_t)count * CHECKSUM_PART_BYTES));
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
