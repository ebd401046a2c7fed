/* What document is it? Told of a zip by the names of its members: those at the beginning of the
 * file, and those in the list at its end. */
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/bytes.h"
#include "core/files/read_at.h"
#include "media/images/tiff_pages.h"
#include "media/probe.h"

enum {
    LOCAL_NAME = 30, /* from a member's own header to its name */
    LISTED_NAME = 46 /* from a line of the list to the name */
};

#define IS_ZIP(head) head_has(head, 0, "PK\3\4", 4)

/* Whether a member's name begins so: it stands behind a header of either make. */
static bool has_member(const struct file_head *bytes, const char *name)
{
    size_t size = strlen(name);
    const uint8_t *at = bytes->data, *end = bytes->data + bytes->size;
    while ((at = memmem(at, (size_t)(end - at), name, size))) {
        size_t before = (size_t)(at - bytes->data);
        if ((before >= LOCAL_NAME && !memcmp(at - LOCAL_NAME, "PK\3\4", 4)) ||
            (before >= LISTED_NAME && !memcmp(at - LISTED_NAME, "PK\1\2", 4)))
            return true;
        at++;
    }
    return false;
}

/* OpenDocument and EPUB begin with a member that says what they are, as it is. Source: OASIS, Open
 * Document Format 1.3, part 2, 3.3; IDPF, EPUB OCF 3.2, 4.3. */
static enum doppel_format format_by_type(const struct file_head *head)
{
    static const struct {
        const char *type;
        enum doppel_format format;
    } types[] = {{"application/epub+zip", DOPPEL_FORMAT_EPUB},
                 {"application/vnd.oasis.opendocument.text", DOPPEL_FORMAT_ODT},
                 {"application/vnd.oasis.opendocument.presentation", DOPPEL_FORMAT_ODP},
                 {"application/vnd.oasis.opendocument.spreadsheet", DOPPEL_FORMAT_ODS}};
    if (!head_has(head, LOCAL_NAME, "mimetype", 8))
        return DOPPEL_FORMAT_UNKNOWN;
    size_t type = LOCAL_NAME + 8u + get_u16(head->data + LOCAL_NAME - 2);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (head_has(head, type, types[i].type, strlen(types[i].type)))
            return types[i].format;
    return DOPPEL_FORMAT_UNKNOWN;
}

static enum doppel_format format_by_members(const struct file_head *head,
                                            const struct file_head *tail)
{
    static const struct {
        const char *member;
        enum doppel_format format;
    } parts[] = {{"word/document", DOPPEL_FORMAT_DOCX},
                 {"ppt/presentation", DOPPEL_FORMAT_PPTX},
                 {"xl/workbook", DOPPEL_FORMAT_XLSX}};
    static const char types[] = "[Content_Types].xml";
    if (has_member(head, types) || has_member(tail, types))
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (has_member(head, parts[i].member) || has_member(tail, parts[i].member))
                return parts[i].format;
    static const char book[] = "META-INF/container.xml";
    return has_member(head, book) || has_member(tail, book) ? DOPPEL_FORMAT_EPUB
                                                            : DOPPEL_FORMAT_UNKNOWN;
}

static enum doppel_kind probe_members(const struct file_head *head, const struct file_head *tail,
                                      enum doppel_format *format)
{
    enum doppel_format found = format_by_type(head);
    if (!found)
        found = format_by_members(head, tail);
    if (!found)
        return DOPPEL_KIND_UNKNOWN;
    *format = found;
    return DOPPEL_KIND_TEXT;
}

enum doppel_kind probe_zip(const struct file_head *head, enum doppel_format *format)
{
    const struct file_head none = {head->data, 0};
    return IS_ZIP(head) ? probe_members(head, &none, format) : DOPPEL_KIND_UNKNOWN;
}

static bool has_pages(int fd)
{
    uint64_t pages[2];
    return tiff_find_pages(fd, pages, 2) == 2;
}

/* The list of a document's members is shorter, as a rule; else the first ones stand in the head. */
enum { TAIL_BYTES = 64 << 10 };

enum doppel_kind doppel_media_probe_file(int fd, const uint8_t *data, size_t size,
                                         enum doppel_format *out_format)
{
    uint8_t bytes[TAIL_BYTES];
    const struct file_head head = {data, size};
    enum doppel_format format = DOPPEL_FORMAT_UNKNOWN;
    enum doppel_kind kind = doppel_media_probe(data, size, &format);
    struct stat file;
    if (kind == DOPPEL_KIND_UNKNOWN && IS_ZIP(&head) && fstat(fd, &file) == 0) {
        uint64_t from = file.st_size > TAIL_BYTES ? (uint64_t)file.st_size - TAIL_BYTES : 0;
        ssize_t got = read_at(fd, bytes, sizeof bytes, from);
        const struct file_head tail = {bytes, got > 0 ? (size_t)got : 0};
        kind = probe_members(&head, &tail, &format);
    }
    if (format == DOPPEL_FORMAT_TIFF && has_pages(fd)) {
        kind = DOPPEL_KIND_TEXT;
        format = DOPPEL_FORMAT_TIFF_PAGES;
    }
    if (out_format)
        *out_format = format;
    return kind;
}

/* ---- mail ---- */

/* A line that begins at `*at`, which moves behind it. @return whether it is whole */
static bool take_head_line(const struct file_head *head, size_t *at, struct file_head *out)
{
    const uint8_t *from = head->data + *at;
    const uint8_t *end = memchr(from, '\n', head->size - *at);
    *out = (struct file_head){from, end ? (size_t)(end - from) : head->size - *at};
    *at += out->size + (end != NULL);
    out->size -= out->size && from[out->size - 1] == '\r';
    return end;
}

/* "Name: ", letters, digits and hyphens. @return the length of the name; 0: it is no field */
static size_t field_name_size(const struct file_head *line)
{
    size_t size = 0;
    while (size < line->size &&
           (line->data[size] == '-' ||
            ((line->data[size] | 32) >= 'a' && (line->data[size] | 32) <= 'z') ||
            (line->data[size] >= '0' && line->data[size] <= '9')))
        size++;
    return size < line->size && line->data[size] == ':' ? size : 0;
}

/* Fields that hardly anything but a message has: these bits, or-ed. */
static unsigned field_bit(const struct file_head *line)
{
    static const char *const names[] = {"from",       "received", "return-path", "date",
                                        "message-id", "subject",  "to",          "mime-version"};
    size_t size = field_name_size(line);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (size == strlen(names[i]) && strncasecmp((const char *)line->data, names[i], size) == 0)
            return 1u << i;
    return 0;
}

enum { SENDER_BITS = 7, LEAST_FIELDS = 3 };

/* Source: RFC 5322, 2.2; RFC 4155. Whoever it is from, and two more of the usual fields, before the
 * first empty line; nothing else stands there. */
enum doppel_kind probe_mail(const struct file_head *head, enum doppel_format *format)
{
    struct file_head line;
    size_t at = 0;
    unsigned found = 0;
    bool first = true;
    while (at < head->size && take_head_line(head, &at, &line) && line.size) {
        bool folded = line.data[0] == ' ' || line.data[0] == '\t';
        bool mbox = first && head_has(&line, 0, "From ", 5);
        if (!mbox && !field_name_size(&line) && (first || !folded))
            return DOPPEL_KIND_UNKNOWN;
        found |= field_bit(&line);
        first = false;
    }
    if (!(found & SENDER_BITS) || __builtin_popcount(found) < LEAST_FIELDS)
        return DOPPEL_KIND_UNKNOWN;
    *format = DOPPEL_FORMAT_MAIL;
    return DOPPEL_KIND_TEXT;
}
