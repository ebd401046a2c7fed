/* RTF: the words between control words. Source: Microsoft, Rich Text Format Specification 1.9.1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "documents/charset.h"
#include "documents/formats.h"
#include "documents/mapped.h"

enum { MOST_GROUPS = 256, NAME_BYTES = 32 };

struct rtf_group {
    bool left_out, in_note;
    uint8_t fallbacks; /* characters that stand in for one of Unicode (\uc) */
};

struct rtf_reading {
    const char *at, *end;
    struct document_writer *out, notes;
    struct rtf_group groups[MOST_GROUPS];
    size_t depth;
    unsigned skipped; /* characters that are still to be skipped, after one of Unicode */
    uint32_t high;    /* the first half of a pair of surrogates; 0: none */
    bool starred;     /* the group began with \*: who does not know it leaves it out */
    const uint16_t *charset;
};

static struct rtf_group *rtf_group(struct rtf_reading *reading)
{
    return &reading->groups[reading->depth];
}

/* Where text goes; NULL: nowhere. */
static struct document_writer *rtf_writer(struct rtf_reading *reading)
{
    const struct rtf_group *group = rtf_group(reading);
    return group->left_out ? NULL : group->in_note ? &reading->notes : reading->out;
}

/* ---- control words ---- */

struct control {
    char name[NAME_BYTES];
    bool has_number;
    long number;
};

static void read_control(struct rtf_reading *reading, struct control *out)
{
    size_t size = 0;
    char digits[12];
    *out = (struct control){0};
    while (reading->at < reading->end && ((*reading->at | 32) >= 'a' && (*reading->at | 32) <= 'z'))
        if (size < NAME_BYTES - 1)
            out->name[size++] = *reading->at++;
        else
            reading->at++;
    size = 0;
    while (reading->at < reading->end && size < sizeof digits - 1 &&
           ((*reading->at >= '0' && *reading->at <= '9') || (!size && *reading->at == '-')))
        digits[size++] = *reading->at++;
    digits[size] = '\0';
    out->has_number = size;
    out->number = strtol(digits, NULL, 10);
    if (reading->at < reading->end && *reading->at == ' ')
        reading->at++;
}

/* What is no text of the document, and what is on every page. */
static bool is_rtf_left_out(const char *name)
{
    static const char *const names[] = {
        "fonttbl", "colortbl",   "stylesheet", "info",     "pict",      "object",  "header",
        "headerl", "headerr",    "headerf",    "footer",   "footerl",   "footerr", "footerf",
        "fldinst", "annotation", "atnid",      "listtext", "pntext",    "ftnsep",  "ftnsepc",
        "ftncn",   "aftnsep",    "aftnsepc",   "aftncn",   "tc",        "xe",      "bkmkstart",
        "bkmkend", "template",   "filetbl",    "revtbl",   "listtable", "deleted"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* @return 0: it stands for no character */
static uint32_t point_of_control(const char *name)
{
    static const struct {
        const char *name;
        uint32_t point;
    } points[] = {{"emdash", 0x2014}, {"endash", 0x2013},    {"lquote", 0x2018},
                  {"rquote", 0x2019}, {"ldblquote", 0x201c}, {"rdblquote", 0x201d},
                  {"bullet", 0x2022}, {"tab", ' '},          {"cell", ' '},
                  {"nestcell", ' '},  {"emspace", ' '},      {"enspace", ' '}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        if (strcmp(name, points[i].name) == 0)
            return points[i].point;
    return 0;
}

static bool is_line_end(const char *name)
{
    static const char *const names[] = {"par", "line", "sect", "row", "nestrow", "page"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* ---- text ---- */

static void add_rtf_point(struct rtf_reading *reading, uint32_t point)
{
    struct document_writer *out = rtf_writer(reading);
    if (reading->skipped)
        reading->skipped--;
    else if (out)
        charset_add_point(point, out);
}

static void add_rtf_byte(struct rtf_reading *reading, char byte)
{
    struct document_writer *out = rtf_writer(reading);
    if (reading->skipped)
        reading->skipped--;
    else if (out)
        charset_add(reading->charset, &byte, 1, out);
}

/* Numbers of 16 bits, with a sign, of UTF-16. */
static void add_rtf_unicode(struct rtf_reading *reading, long number)
{
    uint32_t unit = (uint32_t)(number < 0 ? number + 65536 : number) & 0xffff;
    bool low = unit >= 0xdc00 && unit < 0xe000;
    reading->skipped = 0;
    if (unit >= 0xd800 && unit < 0xdc00)
        reading->high = unit;
    else {
        add_rtf_point(reading, low && reading->high
                                   ? 0x10000 + ((reading->high - 0xd800) << 10) + (unit - 0xdc00)
                                   : unit);
        reading->high = 0;
    }
    reading->skipped = rtf_group(reading)->fallbacks;
}

static void skip_binary(struct rtf_reading *reading, const struct control *control)
{
    long left = reading->end - reading->at;
    if (control->number > 0)
        reading->at += control->number < left ? control->number : left;
}

static void obey_control(struct rtf_reading *reading, const struct control *control)
{
    struct rtf_group *group = rtf_group(reading);
    struct document_writer *out = rtf_writer(reading);
    uint32_t point = point_of_control(control->name);
    char name[16];
    if (strcmp(control->name, "bin") == 0)
        skip_binary(reading, control);
    else if (is_rtf_left_out(control->name) || reading->starred)
        group->left_out = true;
    else if (strcmp(control->name, "footnote") == 0)
        group->in_note = true;
    else if (strcmp(control->name, "u") == 0 && control->has_number)
        add_rtf_unicode(reading, control->number);
    else if (strcmp(control->name, "uc") == 0)
        group->fallbacks = (uint8_t)(control->number & 0xff);
    else if (strcmp(control->name, "ansicpg") == 0) {
        snprintf(name, sizeof name, "cp%ld", control->number);
        reading->charset = charset_find(name);
    } else if (point)
        add_rtf_point(reading, point);
    else if (out && is_line_end(control->name)) {
        writer_line(out);
        if (strcmp(control->name, "page") == 0 && out == reading->out)
            writer_page(out);
    }
    reading->starred = false;
}

static int rtf_hex_value(char digit)
{
    const char *const digits = "0123456789abcdef";
    const char *found = digit ? strchr(digits, digit | 32) : NULL;
    return found && digit > ' ' ? (int)(found - digits) : -1;
}

/* Behind a backslash. */
static void read_escape(struct rtf_reading *reading)
{
    struct control control;
    char sign = *reading->at;
    if ((sign | 32) >= 'a' && (sign | 32) <= 'z') {
        read_control(reading, &control);
        obey_control(reading, &control);
        return;
    }
    reading->at++;
    if (sign == '\'' && reading->end - reading->at >= 2) {
        int high = rtf_hex_value(reading->at[0]), low = rtf_hex_value(reading->at[1]);
        reading->at += 2;
        if (high >= 0 && low >= 0)
            add_rtf_byte(reading, (char)(high << 4 | low));
    } else if (sign == '*')
        reading->starred = true;
    else if (sign == '\\' || sign == '{' || sign == '}')
        add_rtf_byte(reading, sign);
    else if (sign == '~')
        add_rtf_point(reading, ' ');
    else if (sign == '_')
        add_rtf_point(reading, '-');
    else if ((sign == '\n' || sign == '\r') && rtf_writer(reading))
        writer_line(rtf_writer(reading));
}

/* ---- groups ---- */

/* @return false when the text is over: the first group is, or they are nested too deeply */
static bool read_rtf_sign(struct rtf_reading *reading)
{
    char sign = *reading->at++;
    if (sign == '{') {
        if (reading->depth + 1 == MOST_GROUPS)
            return false;
        reading->groups[reading->depth + 1] = reading->groups[reading->depth];
        reading->depth++;
        reading->skipped = 0;
    } else if (sign == '}') {
        if (reading->depth && rtf_group(reading)->in_note &&
            !reading->groups[reading->depth - 1].in_note)
            writer_line(&reading->notes);
        reading->skipped = 0;
        return reading->depth && --reading->depth;
    } else if (sign == '\\') {
        if (reading->at < reading->end)
            read_escape(reading);
    } else if (sign != '\r' && sign != '\n' && sign != '\0')
        add_rtf_byte(reading, sign);
    return true;
}

static void read_rtf_bytes(const char *bytes, size_t size, struct document_writer *out,
                           bool *out_too_deep)
{
    struct rtf_reading reading = {.at = bytes,
                                  .end = bytes + size,
                                  .out = out,
                                  .notes = {.max_bytes = out->max_bytes},
                                  .groups = {{.fallbacks = 1}},
                                  .charset = charset_find("cp1252")};
    writer_page(out);
    while (reading.at < reading.end && !out->status && read_rtf_sign(&reading))
        ;
    *out_too_deep = reading.depth + 1 == MOST_GROUPS;
    writer_line(out);
    writer_append(out, &reading.notes);
}

enum doppel_status read_rtf(const struct document_input *input, struct document_writer *out,
                            struct doppel_error *error)
{
    struct mapped_document file = {0};
    bool too_deep;
    enum doppel_status status = map_document(input->fd, &file, error);
    if (status)
        return status;
    read_rtf_bytes(file.bytes, file.size, out, &too_deep);
    unmap_document(&file);
    return too_deep ? doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: nested too deeply")
                    : DOPPEL_OK;
}
