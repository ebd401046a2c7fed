/* Texts in old character sets to UTF-8, by tables that are made of Python's. */
#include "documents/charset.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    char name[16];
    uint16_t points[128];
} charsets[] = {
#include "charsets.h"
};

/* What mail and RTF call what a table has under another name. */
static const char *const other_names[][2] = {{"iso88591", "cp1252"},    {"latin1", "cp1252"},
                                             {"usascii", "cp1252"},     {"ascii", "cp1252"},
                                             {"latin2", "iso88592"},    {"latin9", "iso885915"},
                                             {"macintosh", "macroman"}, {"cp10000", "macroman"}};

/* Letters and digits alone, in small letters. @return false when it is too long */
static bool simplify_name(const char *name, char out[16])
{
    size_t size = 0;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name))
            continue;
        if (size == 15)
            return false;
        out[size++] = (char)tolower((unsigned char)*name);
    }
    out[size] = '\0';
    return true;
}

const uint16_t *charset_find(const char *name)
{
    char simple[16];
    if (!simplify_name(name, simple))
        return NULL;
    if (strncmp(simple, "windows", 7) == 0)
        memmove(memcpy(simple, "cp", 2) + 2, simple + 7, strlen(simple + 7) + 1);
    const char *wanted = simple;
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(simple, other_names[i][0]) == 0)
            wanted = other_names[i][1];
    for (size_t i = 0; i < sizeof charsets / sizeof *charsets; i++)
        if (strcmp(wanted, charsets[i].name) == 0)
            return charsets[i].points;
    return NULL;
}

void charset_add_point(uint32_t point, struct document_writer *out)
{
    char bytes[4];
    size_t size = 0;
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        point = 0xfffd;
    if (point < 0x80)
        bytes[size++] = (char)point;
    else if (point < 0x800)
        bytes[size++] = (char)(0xc0 | point >> 6);
    else if (point < 0x10000)
        bytes[size++] = (char)(0xe0 | point >> 12);
    else
        bytes[size++] = (char)(0xf0 | point >> 18);
    for (int shift = point < 0x80      ? -6
                     : point < 0x800   ? 0
                     : point < 0x10000 ? 6
                                       : 12;
         shift >= 0; shift -= 6)
        bytes[size++] = (char)(0x80 | (point >> shift & 0x3f));
    writer_add(out, bytes, size);
}

void charset_add(const uint16_t *charset, const char *bytes, size_t size,
                 struct document_writer *out)
{
    size_t from = 0;
    if (!charset) {
        writer_add(out, bytes, size);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)bytes[i];
        if (byte < 0x80)
            continue;
        writer_add(out, bytes + from, i - from);
        uint32_t point = charset[byte - 0x80];
        charset_add_point(point ? point : 0xfffd, out);
        from = i + 1;
    }
    writer_add(out, bytes + from, size - from);
}
