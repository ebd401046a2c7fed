/* A line of JSON: an object with strings, of any bytes. */
#include "corpus/read/json_line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/utf8.h"
#include "corpus/read/parse.h"

enum { ESCAPED_MOST = 6 }; /* bytes that a byte becomes at most */

static bool json_line_reserve(struct json_line *line, size_t more)
{
    if (line->failed || line->capacity - line->size >= more)
        return !line->failed;
    size_t capacity = 2 * line->capacity + more;
    char *grown = realloc(line->bytes, capacity);
    line->failed = !grown;
    if (!grown)
        return false;
    line->bytes = grown;
    line->capacity = capacity;
    return true;
}

static void append_plain(struct json_line *line, const char *bytes, size_t size)
{
    if (!json_line_reserve(line, size))
        return;
    memcpy(line->bytes + line->size, bytes, size);
    line->size += size;
}

void json_line_begin(struct json_line *line)
{
    append_plain(line, "{", 1);
}

void json_line_end(struct json_line *line)
{
    append_plain(line, "}\n", 2);
    if (json_line_reserve(line, PARSE_SLACK))
        memset(line->bytes + line->size, 0, PARSE_SLACK);
}

void json_line_clear(struct json_line *line)
{
    line->size = 0;
}

void json_line_free(struct json_line *line)
{
    free(line->bytes);
    *line = (struct json_line){0};
}

static char *escape_byte(char *to, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    *to++ = '\\';
    switch (byte) {
    case '"':
    case '\\':
        *to++ = (char)byte;
        return to;
    case '\n':
        *to++ = 'n';
        return to;
    case '\t':
        *to++ = 't';
        return to;
    case '\r':
        *to++ = 'r';
        return to;
    default:
        memcpy(to, "u00", 3);
        to[3] = digits[byte >> 4];
        to[4] = digits[byte & 15];
        return to + 5;
    }
}

static inline bool stands_for_itself(unsigned char byte)
{
    return byte >= 0x20 && byte != '"' && byte != '\\';
}

/* Whether eight bytes stand for themselves; true is never wrong. */
static inline bool eight_stand(uint64_t eight)
{
    const uint64_t each = UINT64_C(0x0101010101010101), high = each << 7;
    uint64_t quote = eight ^ (each * '"'), slash = eight ^ (each * '\\');
    uint64_t special =
        ((quote - each) & ~quote) | ((slash - each) & ~slash) | ((eight - each * 0x20) & ~eight);
    return !(special & high);
}

/* Bytes that stand for themselves, eight by eight. @return how many */
static size_t copy_eights(char *to, const char *bytes, size_t size)
{
    size_t done = 0;
    for (uint64_t eight; size - done >= sizeof eight; done += sizeof eight) {
        memcpy(&eight, bytes + done, sizeof eight);
        if (!eight_stand(eight))
            break;
        memcpy(to + done, &eight, sizeof eight);
    }
    return done;
}

/* @param to room for ESCAPED_MOST bytes of each */
static char *escape_text(char *to, const char *bytes, size_t size, bool is_valid)
{
    const char *end = bytes + size;
    while (bytes < end) {
        size_t copied = is_valid ? copy_eights(to, bytes, (size_t)(end - bytes)) : 0;
        to += copied;
        bytes += copied;
        const char *run = bytes;
        while (bytes < end && stands_for_itself((unsigned char)*bytes) &&
               (is_valid || !(*bytes & 0x80)))
            bytes++;
        memcpy(to, run, (size_t)(bytes - run));
        to += bytes - run;
        if (bytes == end)
            break;
        size_t length = *bytes & 0x80 ? utf8_length(bytes, (size_t)(end - bytes)) : 0;
        if (length) {
            memcpy(to, bytes, length);
            to += length;
            bytes += length;
        } else if (*bytes & 0x80) {
            memcpy(to, "\xEF\xBF\xBD", 3);
            to += 3;
            bytes++;
        } else {
            to = escape_byte(to, (unsigned char)*bytes++);
        }
    }
    return to;
}

static void append_json_string(struct json_line *line, struct byte_span value)
{
    append_plain(line, "\"", 1);
    /* In pieces, so that what a byte may become at most is not reserved of all. */
    bool is_valid = json_is_utf8(value.bytes, value.size);
    enum { PIECE = 1 << 16 };
    for (size_t at = 0, some; at < value.size; at += some) {
        some = value.size - at < PIECE ? value.size - at : PIECE;
        while (at + some < value.size && some > 1 && (value.bytes[at + some] & 0xC0) == 0x80 &&
               some > PIECE - 4)
            some--; /* before a character, not within one */
        if (!json_line_reserve(line, some * ESCAPED_MOST))
            return;
        char *end = escape_text(line->bytes + line->size, value.bytes + at, some, is_valid);
        line->size = (size_t)(end - line->bytes);
    }
    append_plain(line, "\"", 1);
}

/* The name of a field, and what stands before and behind it. */
static void append_name(struct json_line *line, const char *name)
{
    if (line->size && line->bytes[line->size - 1] != '{')
        append_plain(line, ",", 1);
    append_json_string(line, (struct byte_span){name, strlen(name)});
    append_plain(line, ":", 1);
}

void json_line_field(struct json_line *line, const char *name, struct byte_span value)
{
    if (!value.bytes)
        return;
    append_name(line, name);
    append_json_string(line, value);
}

void json_line_literal(struct json_line *line, const char *name, struct byte_span value)
{
    append_name(line, name);
    append_plain(line, value.bytes, value.size);
}
