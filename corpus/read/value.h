/* The values of fields: strings and numbers. */
#ifndef DOPPEL_CORPUS_READ_VALUE_H
#define DOPPEL_CORPUS_READ_VALUE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes with a NUL behind; zero-initialised there is no room for any. */
struct value {
    char *bytes;
    size_t capacity, size;
};

enum value_kind {
    VALUE_ABSENT, /* no token, or null */
    VALUE_STRING,
    VALUE_NUMBER,
    VALUE_OTHER,
    VALUE_BROKEN,
    VALUE_NO_MEMORY
};

void value_free(struct value *value);

/** Room for `size` bytes; what was there is lost. Much more than is asked for is given back. */
bool value_make_room(struct value *value, size_t size);

/** Decode a token of JSON, maybe with white space behind; a number stays as it is written.
 * @param token NULL: absent */
enum value_kind value_decode(struct value *value, const char *token, size_t size);

/** Put U+FFFD for bytes that are no UTF-8; false: no memory. */
bool value_clean(struct value *value);

#endif
