/* The SQL function hamming(a, b): how many bits of two codes differ. Include sqlite3.h, or
 * sqlite3ext.h, first. */
#ifndef DOPPEL_LIBRARY_HAMMING_SQL_H
#define DOPPEL_LIBRARY_HAMMING_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A code as SQL has it: an integer of 64 bits, text in hex, or a blob. */
struct sql_code {
    const unsigned char *bytes; /* or hex digits */
    size_t count;               /* of bytes */
    bool hex;
    unsigned char number[8];
};

static inline int hex_digit(unsigned char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    unsigned char lower = digit | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static inline bool sql_code_read(sqlite3_value *value, struct sql_code *out)
{
    uint64_t number;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        number = (uint64_t)sqlite3_value_int64(value);
        for (int i = 0; i < 8; i++)
            out->number[i] = (unsigned char)(number >> (56 - 8 * i));
        out->bytes = out->number;
        out->count = sizeof out->number;
        out->hex = false;
        return true;
    case SQLITE_BLOB:
        out->bytes = sqlite3_value_blob(value);
        out->count = (size_t)sqlite3_value_bytes(value);
        out->hex = false;
        return true;
    case SQLITE_TEXT:
        out->bytes = sqlite3_value_text(value);
        out->count = (size_t)sqlite3_value_bytes(value) / 2;
        out->hex = true;
        for (size_t i = 0; i < 2 * out->count; i++)
            if (hex_digit(out->bytes[i]) < 0)
                return false;
        return sqlite3_value_bytes(value) % 2 == 0;
    default:
        return false;
    }
}

static inline unsigned sql_code_byte(const struct sql_code *code, size_t i)
{
    if (!code->hex)
        return code->bytes[i];
    return (unsigned)hex_digit(code->bytes[2 * i]) << 4 |
           (unsigned)hex_digit(code->bytes[2 * i + 1]);
}

/* NULL for NULL, as SQL has it. */
static inline void sql_hamming(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct sql_code a, b;
    sqlite3_int64 distance = 0;
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL ||
        sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    if (!sql_code_read(values[0], &a) || !sql_code_read(values[1], &b)) {
        sqlite3_result_error(context, "hamming: a code is an integer, text in hex, or a blob", -1);
        return;
    }
    if (a.count != b.count) {
        sqlite3_result_error(context, "hamming: codes of different lengths", -1);
        return;
    }
    for (size_t i = 0; i < a.count; i++)
        distance += __builtin_popcount(sql_code_byte(&a, i) ^ sql_code_byte(&b, i));
    sqlite3_result_int64(context, distance);
}

#endif
