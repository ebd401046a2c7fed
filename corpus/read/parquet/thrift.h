/* Thrift's compact protocol, as far as Parquet's footer and pages are written in it: without sets
 * and maps. */
#ifndef DOPPEL_CORPUS_READ_PARQUET_THRIFT_H
#define DOPPEL_CORPUS_READ_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is read, from `at` on. Once it is broken all reads give nothing. */
struct thrift {
    const uint8_t *at, *end;
    bool broken;
};

enum thrift_type {
    THRIFT_STOP = 0,
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_DOUBLE = 7,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

struct thrift_field {
    int id, type;
};

uint64_t thrift_varint(struct thrift *thrift);

/* The next field of a struct. @param field zero before the first. @return false: there is none */
bool thrift_next(struct thrift *thrift, struct thrift_field *field);

/* The value of a field; one of another type is broken. */
int64_t thrift_number(struct thrift *thrift, const struct thrift_field *field);
const char *thrift_bytes(struct thrift *thrift, const struct thrift_field *field, size_t *out_size);
/* How many elements of this type stand next: no more than there are bytes. */
size_t thrift_list(struct thrift *thrift, const struct thrift_field *field, int type);
/* Whether a struct stands next. */
bool thrift_struct(struct thrift *thrift, const struct thrift_field *field);
void thrift_skip(struct thrift *thrift, const struct thrift_field *field);

#endif
