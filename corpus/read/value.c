/* The values of fields: strings and numbers. */
#include "corpus/read/value.h"

#include <stdlib.h>
#include <string.h>

#include "corpus/read/unescape.h"
#include "core/text/utf8.h"

/* Larger buffers are given back when less is wanted. */
static const size_t keep_bytes = (size_t)16 << 20;

void value_free(struct value *value)
{
    free(value->bytes);
    *value = (struct value){0};
}

bool value_make_room(struct value *value, size_t size)
{
    bool is_too_large = value->capacity > keep_bytes && size <= keep_bytes;
    if (value->bytes && size <= value->capacity && !is_too_large)
        return true;
    size_t wanted = size < 4096 ? 4096 : size + size / 4;
    free(value->bytes);
    value->bytes = malloc(wanted);
    value->capacity = value->bytes ? wanted : 0;
    return value->bytes != NULL;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* Whether a token is a number as JSON writes them. */
static bool is_number(const char *at, const char *end)
{
    at += at < end && *at == '-';
    const char *whole = at;
    at = skip_digits(at, end);
    if (at == whole || (*whole == '0' && at > whole + 1))
        return false;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = skip_digits(at, end);
        if (at == fraction)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        const char *exponent = at;
        at = skip_digits(at, end);
        if (at == exponent)
            return false;
    }
    return at == end;
}

/* @param end behind the last byte of the token */
static enum value_kind decode_string(struct value *value, const char *token, const char *end)
{
    if (end - token < 2 || end[-1] != '"')
        return VALUE_BROKEN;
    size_t size = (size_t)(end - token) - 2;
    if (!value_make_room(value, size + 1))
        return VALUE_NO_MEMORY;
    if (!json_unescape(token + 1, size, value->bytes, &value->size))
        return VALUE_BROKEN;
    value->bytes[value->size] = '\0';
    return VALUE_STRING;
}

enum value_kind value_decode(struct value *value, const char *token, size_t size)
{
    if (!token)
        return VALUE_ABSENT;
    while (size && (token[size - 1] == ' ' || token[size - 1] == '\t' || token[size - 1] == '\r'))
        size--;
    const char *end = token + size;
    if (*token == '"')
        return decode_string(value, token, end);
    if (size == 4 && memcmp(token, "null", 4) == 0)
        return VALUE_ABSENT;
    if (!is_number(token, end))
        return VALUE_OTHER;
    if (!value_make_room(value, size + 1))
        return VALUE_NO_MEMORY;
    memcpy(value->bytes, token, size);
    value->bytes[value->size = size] = '\0';
    return VALUE_NUMBER;
}

bool value_clean(struct value *value)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t i = 0;
    for (size_t length; i < value->size; i += length)
        if (!(length = utf8_length(value->bytes + i, value->size - i)))
            break;
    if (i == value->size)
        return true;
    struct value clean = {0};
    if (!value_make_room(&clean, 3 * value->size + 1))
        return false;
    for (i = 0; i < value->size;) {
        size_t length = utf8_length(value->bytes + i, value->size - i);
        size_t size = length ? length : 3;
        memcpy(clean.bytes + clean.size, length ? value->bytes + i : replacement, size);
        clean.size += size;
        i += length ? length : 1;
    }
    clean.bytes[clean.size] = '\0';
    value_free(value);
    *value = clean;
    return true;
}
