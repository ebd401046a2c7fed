/* JSON appended to text that grows. */
#include "core/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>

#include "core/text/utf8.h"

void doppel_json_free(struct doppel_json *json)
{
    free(json->bytes);
    *json = (struct doppel_json){0};
}

void doppel_json_clear(struct doppel_json *json)
{
    json->size = 0;
    json->failed = false;
    if (json->bytes)
        json->bytes[0] = 0;
}

enum doppel_status doppel_json_status(const struct doppel_json *json, struct doppel_error *error)
{
    return json->failed ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for JSON") : DOPPEL_OK;
}

/* ---- text that grows ---- */

/* @return where `size` bytes and a NUL can be written; NULL: without memory */
static char *reserve_bytes(struct doppel_json *json, size_t size)
{
    size_t wanted;
    if (!json->failed && json->capacity - json->size > size)
        return json->bytes + json->size;
    if (json->failed || __builtin_add_overflow(json->size, size, &wanted) ||
        __builtin_mul_overflow(wanted + 32, 2, &wanted)) {
        json->failed = true;
        return NULL;
    }
    char *bytes = realloc(json->bytes, wanted);
    if (!bytes) {
        json->failed = true;
        return NULL;
    }
    json->bytes = bytes;
    json->capacity = wanted;
    return bytes + json->size;
}

static void end_at(struct doppel_json *json, const char *end)
{
    json->size = (size_t)(end - json->bytes);
    json->bytes[json->size] = 0;
}

void doppel_json_append(struct doppel_json *json, const char *bytes, size_t size)
{
    char *to = reserve_bytes(json, size);
    if (!to)
        return;
    if (size)
        memcpy(to, bytes, size);
    end_at(json, to + size);
}

static void append_byte(struct doppel_json *json, char byte)
{
    doppel_json_append(json, &byte, 1);
}

void doppel_json_end_line(struct doppel_json *json)
{
    append_byte(json, '\n');
}

/* ---- strings ---- */

/* In pairs of surrogates beyond U+FFFF. */
static void append_point(struct doppel_json *json, uint32_t point)
{
    char escape[16];
    int length = point < 0x10000 ? snprintf(escape, sizeof escape, "\\u%04X", (unsigned)point)
                                 : snprintf(escape, sizeof escape, "\\u%04X\\u%04X",
                                            0xd800 + (unsigned)((point - 0x10000) >> 10),
                                            0xdc00 + (unsigned)(point & 0x3ff));
    doppel_json_append(json, escape, (size_t)length);
}

static void append_escape(struct doppel_json *json, unsigned char byte)
{
    static const char named[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    const char escape[2] = {'\\', byte < 0x20 ? named[byte] : (char)byte};
    if (escape[1])
        doppel_json_append(json, escape, sizeof escape);
    else
        append_point(json, byte);
}

/* Length of a character from 0x7f on that is written as it is; 0: it is none, or is escaped, and
 * then `out_point` is what it is, else 0. */
static size_t shown_length(const char *at, size_t size, uint32_t *out_point)
{
    const uint8_t *byte = (const uint8_t *)at;
    size_t length = utf8_length(at, size);
    uint32_t point = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        point = point << 6 | (byte[i] & 0x3fu);
    *out_point = length && utf8_is_hidden(point) ? point : 0;
    return *out_point ? 0 : length;
}

/* Bytes from 0x7f on: one character, or what stands for it. @return how many were read */
static size_t append_high(struct doppel_json *json, const char *at, size_t size)
{
    uint32_t point;
    size_t length = shown_length(at, size, &point);
    if (length)
        doppel_json_append(json, at, length);
    else if (point)
        append_point(json, point);
    else
        doppel_json_append(json, "\xef\xbf\xbd", 3);
    return length ? length : point ? utf8_length(at, size) : 1;
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void append_string(struct doppel_json *json, const char *text, size_t size)
{
    const char *from = text, *end = text + size;
    append_byte(json, '"');
    while (from < end) {
        const char *to = from;
        uint32_t point;
        size_t length = 1;
        while (to < end && (is_plain((unsigned char)*to) ||
                            ((unsigned char)*to >= 0x80 &&
                             (length = shown_length(to, (size_t)(end - to), &point)) > 1))) {
            to += length;
            length = 1;
        }
        doppel_json_append(json, from, (size_t)(to - from));
        from = to;
        if (to < end && (unsigned char)*to >= 0x7f)
            from += append_high(json, to, (size_t)(end - to));
        else if (to < end)
            append_escape(json, (unsigned char)*from++);
    }
    append_byte(json, '"');
}

static bool is_text_utf8(const char *text, size_t size)
{
    for (size_t i = 0, length; i < size; i += length)
        if (!(length = utf8_length(text + i, size - i)))
            return false;
    return true;
}

/* ---- members and elements ---- */

/* The comma after what stands before, and the key. */
static void begin_value(struct doppel_json *json, const char *key)
{
    char last = json->size ? json->bytes[json->size - 1] : '\n';
    if (last != '{' && last != '[' && last != ':' && last != '\n')
        append_byte(json, ',');
    if (!key)
        return;
    append_string(json, key, strlen(key));
    append_byte(json, ':');
}

void doppel_json_object_begin(struct doppel_json *json, const char *key)
{
    begin_value(json, key);
    append_byte(json, '{');
}

void doppel_json_object_end(struct doppel_json *json)
{
    append_byte(json, '}');
}

void doppel_json_array_begin(struct doppel_json *json, const char *key)
{
    begin_value(json, key);
    append_byte(json, '[');
}

void doppel_json_array_end(struct doppel_json *json)
{
    append_byte(json, ']');
}

void doppel_json_texts(struct doppel_json *json, const char *key, const char *const *texts,
                       size_t count)
{
    if (!count)
        return;
    doppel_json_array_begin(json, key);
    for (size_t i = 0; i < count; i++)
        doppel_json_text(json, NULL, texts[i]);
    doppel_json_array_end(json);
}

void doppel_json_codes(struct doppel_json *json, const char *key,
                       const struct doppel_fingerprint *fingerprint)
{
    char hex[65];
    doppel_json_array_begin(json, key);
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        doppel_code_to_hex(&fingerprint->codes[i], fingerprint->code_bits, hex);
        doppel_json_array_begin(json, NULL);
        doppel_json_text(json, NULL, hex);
        doppel_json_integer(json, NULL, fingerprint->positions[i]);
        doppel_json_array_end(json);
    }
    doppel_json_array_end(json);
}

void doppel_json_text(struct doppel_json *json, const char *key, const char *text)
{
    if (text)
        doppel_json_text_of(json, key, text, strlen(text));
}

void doppel_json_text_of(struct doppel_json *json, const char *key, const char *text, size_t size)
{
    begin_value(json, key);
    append_string(json, text, size);
}

void doppel_json_path(struct doppel_json *json, const char *key, const char *path)
{
    char name[64];
    size_t size = path ? strlen(path) : 0;
    if (!path)
        return;
    doppel_json_text_of(json, key, path, size);
    if (is_text_utf8(path, size))
        return;
    snprintf(name, sizeof name, "%s_base64", key);
    doppel_json_base64(json, name, path, size);
}

void doppel_json_base64(struct doppel_json *json, const char *key, const void *bytes, size_t size)
{
    size_t length = BASE64_ENCODE_RAW_LENGTH(size);
    begin_value(json, key);
    append_byte(json, '"');
    char *to = reserve_bytes(json, length);
    if (to) {
        base64_encode_raw(to, size, bytes);
        end_at(json, to + length);
    }
    append_byte(json, '"');
}

void doppel_json_boolean(struct doppel_json *json, const char *key, bool value)
{
    begin_value(json, key);
    doppel_json_append(json, value ? "true" : "false", value ? 4 : 5);
}

void doppel_json_null(struct doppel_json *json, const char *key)
{
    begin_value(json, key);
    doppel_json_append(json, "null", 4);
}

void doppel_json_raw(struct doppel_json *json, const char *key, const char *value, size_t size)
{
    begin_value(json, key);
    for (size_t at = 0, from = 0; from < size; from = at) {
        while (at < size && (unsigned char)value[at] < 0x7f)
            at++;
        doppel_json_append(json, value + from, at - from);
        if (at < size) /* within a string */
            at += append_high(json, value + at, size - at);
    }
}

/* ---- numbers ---- */

enum { NUMBER_BYTES = 400 /* the largest double has 309 digits before the point */ };

/* The digits end where `end` points. @return where they begin */
static char *print_digits(char *end, uint64_t value)
{
    do
        *--end = (char)('0' + value % 10);
    while (value /= 10);
    return end;
}

void doppel_json_integer(struct doppel_json *json, const char *key, uint64_t value)
{
    char text[24], *end = text + sizeof text, *begin = print_digits(end, value);
    begin_value(json, key);
    doppel_json_append(json, begin, (size_t)(end - begin));
}

void doppel_json_signed(struct doppel_json *json, const char *key, int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char text[24], *end = text + sizeof text, *begin = print_digits(end, size);
    if (value < 0)
        *--begin = '-';
    begin_value(json, key);
    doppel_json_append(json, begin, (size_t)(end - begin));
}

/* Most numbers are small and have few decimals: as integers, ten times as fast as printf.
 * @return false when this may round otherwise than printf, which rounds the exact binary value */
static bool append_small(struct doppel_json *json, const char *key, double value, int decimals)
{
    static const double powers[] = {1, 10, 100, 1000, 10000};
    if (decimals < 0 || decimals > 4 || !(fabs(value) < 1e8))
        return false;
    double scaled = fabs(value) * powers[decimals], whole = floor(scaled);
    if (fabs(scaled - whole - 0.5) < 1e-3)
        return false;
    uint64_t units = (uint64_t)whole + (scaled - whole > 0.5);
    char text[32], *end = text + sizeof text, *begin = end;
    bool negative = units && value < 0;
    if (!decimals)
        *--begin = '0';
    for (int i = 0; i < decimals; i++, units /= 10)
        *--begin = (char)('0' + units % 10);
    *--begin = '.';
    begin = print_digits(begin, units);
    if (negative)
        *--begin = '-';
    while (end[-1] == '0' && end[-2] != '.')
        end--;
    begin_value(json, key);
    doppel_json_append(json, begin, (size_t)(end - begin));
    return true;
}

/* "1e-06" becomes "1e-6", "1e+20" "1e20", "3" "3.0"; the locale's decimal point a point. */
static void append_printed(struct doppel_json *json, const char *text)
{
    const char *point = text + strspn(text, "-0123456789"), *exponent = text + strcspn(text, "e");
    doppel_json_append(json, text, (size_t)(point - text));
    if (point < exponent) {
        const char *after = point + strcspn(point, "0123456789");
        append_byte(json, '.');
        doppel_json_append(json, after, (size_t)(exponent - after));
    } else if (!*exponent) {
        doppel_json_append(json, ".0", 2);
    }
    if (!*exponent)
        return;
    doppel_json_append(json, "e-", exponent[1] == '-' ? 2 : 1);
    const char *digits = exponent + strspn(exponent, "e+-0");
    doppel_json_append(json, digits, strlen(digits));
}

void doppel_json_real(struct doppel_json *json, const char *key, double value)
{
    char text[64];
    if (!isfinite(value))
        return;
    snprintf(text, sizeof text, "%.15g", value + 0.0); /* -0 becomes 0 */
    begin_value(json, key);
    append_printed(json, text);
}

void doppel_json_number(struct doppel_json *json, const char *key, double value, int decimals)
{
    char text[NUMBER_BYTES];
    if (append_small(json, key, value, decimals) || !isfinite(value))
        return;
    snprintf(text, sizeof text, "%.*f", decimals, value);
    doppel_json_real(json, key, strtod(text, NULL));
}

void doppel_json_rate(struct doppel_json *json, const char *key, double rate)
{
    char text[64];
    if (!isfinite(rate))
        return;
    snprintf(text, sizeof text, "%.3g", rate);
    doppel_json_real(json, key, strtod(text, NULL));
}
