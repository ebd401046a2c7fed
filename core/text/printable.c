/* What is shown to people: UTF-8 checked, control characters made visible; times as clocks. */
#include "core/text/printable.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/utf8.h"

/* Source: Unicode 15, table 3-7, well-formed UTF-8. */
size_t utf8_decode(const char *text, uint32_t *out_point)
{
    const unsigned char *byte = (const unsigned char *)text;
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = byte[0] < 0x80             ? 1
                    : (byte[0] & 0xe0) == 0xc0 ? 2
                    : (byte[0] & 0xf0) == 0xe0 ? 3
                    : (byte[0] & 0xf8) == 0xf0 ? 4
                                               : 0;
    if (length == 0)
        return 0;
    uint32_t point = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (byte[i] & 0x3fu);
    }
    if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    if (out_point)
        *out_point = point;
    return length;
}

bool utf8_valid(const char *text)
{
    while (*text) {
        size_t length = utf8_decode(text, NULL);
        if (length == 0)
            return false;
        text += length;
    }
    return true;
}

char *utf8_repaired(const char *text)
{
    char *repaired = malloc(3 * strlen(text) + 1), *out = repaired;
    while (repaired && *text) {
        size_t length = utf8_decode(text, NULL);
        if (length) {
            memcpy(out, text, length);
            out += length;
            text += length;
        } else {
            memcpy(out, "\xef\xbf\xbd", 3);
            out += 3;
            text++;
        }
    }
    if (out)
        *out = 0;
    return repaired;
}

char *name_for_id(const char *name)
{
    enum { MOST_BYTES = 512 };
    char *whole = utf8_repaired(name);
    if (!whole)
        return NULL;
    size_t size = strlen(whole);
    const char *from = size > MOST_BYTES ? whole + size - MOST_BYTES : whole;
    while ((*from & 0xc0) == 0x80) /* within a character */
        from++;
    memmove(whole, from, strlen(from) + 1);
    for (char *at = whole; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    return whole;
}

static void print_escape(FILE *stream, uint32_t point)
{
    if (point == '\n')
        fputs("\\n", stream);
    else if (point == '\t')
        fputs("\\t", stream);
    else if (point == '\r')
        fputs("\\r", stream);
    else
        fprintf(stream,
                point < 0x100     ? "\\x%02x"
                : point < 0x10000 ? "\\u%04x"
                                  : "\\U%08x",
                (unsigned)point);
}

void print_printable(FILE *stream, const char *text, bool bytes_too)
{
    while (*text) {
        uint32_t point = (unsigned char)*text;
        size_t length = utf8_decode(text, &point);
        if (length ? utf8_is_hidden(point) : bytes_too)
            print_escape(stream, point);
        else
            fwrite(text, 1, length ? length : 1, stream);
        text += length ? length : 1;
    }
}

char *printable(const char *text, bool bytes_too)
{
    char *copy = NULL;
    size_t size;
    FILE *stream = open_memstream(&copy, &size);
    if (stream) {
        print_printable(stream, text, bytes_too);
        if (fclose(stream) == 0)
            return copy;
        free(copy);
    }
    return NULL;
}

/* Ranges two columns wide: Hangul, CJK, full-width forms, emoji. Source: Unicode 15,
 * EastAsianWidth, W and F, in coarse blocks. */
static bool is_wide(uint32_t point)
{
    return (point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) ||
           (point >= 0xac00 && point <= 0xd7a3) || (point >= 0xf900 && point <= 0xfaff) ||
           (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
           (point >= 0xffe0 && point <= 0xffe6) || (point >= 0x1f300 && point <= 0x1f64f) ||
           (point >= 0x1f900 && point <= 0x1f9ff) || (point >= 0x20000 && point <= 0x3fffd);
}

static bool is_combining(uint32_t point)
{
    return (point >= 0x300 && point <= 0x36f) || (point >= 0x1ab0 && point <= 0x1aff) ||
           (point >= 0x20d0 && point <= 0x20ff) || (point >= 0xfe20 && point <= 0xfe2f) ||
           point == 0x200b || point == 0x200d || (point >= 0xfe00 && point <= 0xfe0f);
}

size_t display_width(const char *text)
{
    size_t width = 0;
    while (*text) {
        uint32_t point = 0;
        size_t length = utf8_decode(text, &point);
        if (!is_combining(point))
            width += 1 + is_wide(point);
        text += length ? length : 1;
    }
    return width;
}

void human_clock(double seconds, int decimals, char *out, size_t size)
{
    static const unsigned long powers[] = {1, 10, 100};
    const double most = 1e15; /* which a number of units can have */
    unsigned long power = powers[decimals];
    seconds = seconds > most ? most : seconds > 0 ? seconds : 0;
    unsigned long units = (unsigned long)(seconds * (double)power + 0.5), whole = units / power;
    int used = 0;
    if (whole >= 3600)
        used = snprintf(out, size, "%lu:%02lu", whole / 3600, whole / 60 % 60);
    else
        used = snprintf(out, size, "%lu", whole / 60);
    used += snprintf(out + used, size - (size_t)used, ":%02lu", whole % 60);
    if (decimals)
        snprintf(out + used, size - (size_t)used, ".%0*lu", decimals, units % power);
}

const char *kind_noun(enum doppel_kind kind)
{
    static const char *const nouns[] = {"other file", "text", "picture", "recording", "video"};
    size_t index = (size_t)kind;
    return nouns[index < sizeof nouns / sizeof *nouns ? index : 0];
}
