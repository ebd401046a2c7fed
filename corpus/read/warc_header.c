/* What the header of a WARC record says, and which part of its content is a page. */
#include "corpus/read/warc_header.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The value of a field in a header, whose names are in any case; the last of equal ones counts. */
static struct byte_span header_value(struct byte_span header, const char *name)
{
    struct byte_span value = {0};
    size_t length = strlen(name);
    const char *end = header.bytes + header.size;
    for (const char *line = header.bytes, *next; line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline ? newline + 1 : end;
        if ((size_t)(next - line) <= length || line[length] != ':' ||
            strncasecmp(line, name, length) != 0)
            continue;
        const char *from = line + length + 1, *to = next;
        while (from < to && (*from == ' ' || *from == '\t'))
            from++;
        while (to > from && (to[-1] == '\n' || to[-1] == '\r' || to[-1] == ' '))
            to--;
        value = (struct byte_span){from, (size_t)(to - from)};
    }
    return value;
}

static bool part_begins_with(struct byte_span part, const char *word)
{
    size_t length = strlen(word);
    return part.size >= length && strncasecmp(part.bytes, word, length) == 0;
}

static bool part_is(struct byte_span part, const char *word)
{
    return part.size == strlen(word) && part_begins_with(part, word);
}

static bool number_of_part(struct byte_span part, uint64_t *out)
{
    uint64_t number = 0;
    for (size_t i = 0; i < part.size; i++) {
        if (part.bytes[i] < '0' || part.bytes[i] > '9' || number > UINT64_MAX / 16)
            return false;
        number = number * 10 + (uint64_t)(part.bytes[i] - '0');
    }
    *out = number;
    return part.size > 0;
}

/* Of <urn:uuid:X> X, of <X> X. */
static struct byte_span bare(struct byte_span part)
{
    static const char urn[] = "<urn:uuid:";
    size_t before = part_begins_with(part, urn) ? sizeof urn - 1 : part_begins_with(part, "<");
    bool closed = before && part.bytes[part.size - 1] == '>' && part.size > before;
    if (before)
        part.bytes += before;
    part.size -= before + closed;
    return part;
}

size_t warc_header_size(const char *bytes, size_t size)
{
    for (const char *at = bytes, *end = bytes + size;;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return 0;
        at = newline + 1;
        if (at < end && *at == '\n')
            return (size_t)(at + 1 - bytes);
        if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
            return (size_t)(at + 2 - bytes);
    }
}

bool warc_header_of(struct byte_span raw, struct warc_header *out)
{
    struct byte_span kind = header_value(raw, "WARC-Type");
    *out = (struct warc_header){
        .has_http = part_is(kind, "response"),
        .address = bare(header_value(raw, "WARC-Target-URI")),
        .record = bare(header_value(raw, "WARC-Record-ID")),
        .date = header_value(raw, "WARC-Date"),
        .type = header_value(raw, "Content-Type"),
    };
    out->is_page = out->has_http || part_is(kind, "conversion") || part_is(kind, "resource");
    return part_begins_with(raw, "WARC/") &&
           number_of_part(header_value(raw, "Content-Length"), &out->size);
}

struct byte_span warc_host(struct byte_span address)
{
    const char *slashes = address.size ? memmem(address.bytes, address.size, "://", 3) : NULL;
    if (!slashes)
        return (struct byte_span){0};
    const char *end = address.bytes + address.size, *from = slashes + 3, *to = from;
    while (to < end && *to != '/' && *to != '?' && *to != '#') {
        if (*to == '@')
            from = to + 1;
        to++;
    }
    const char *port = memchr(from, ':', (size_t)(to - from));
    return (struct byte_span){from, (size_t)((port ? port : to) - from)};
}

/* ---- pages ---- */

/* Put the pieces of a "chunked" body together. False: it is damaged */
static bool join_http_chunks(char *body, size_t size, size_t *out_size)
{
    size_t to = 0;
    for (size_t at = 0; at < size;) {
        char *newline = memchr(body + at, '\n', size - at);
        size_t digits = at, length = 0;
        for (; digits < size && digits - at < 8; digits++) {
            const char *hex = "0123456789abcdef", *digit = strchr(hex, body[digits] | 0x20);
            if (!body[digits] || !digit)
                break;
            length = length * 16 + (size_t)(digit - hex);
        }
        if (!newline || digits == at)
            return false;
        at = (size_t)(newline + 1 - body);
        if (!length)
            break;
        if (length > size - at)
            return false;
        memmove(body + to, body + at, length);
        to += length;
        at += length;
        while (at < size && (body[at] == '\r' || body[at] == '\n'))
            at++;
    }
    *out_size = to;
    return true;
}

bool warc_page_of(const struct warc_header *header, char *content, struct warc_page *out)
{
    size_t size = (size_t)header->size, head = 0;
    struct byte_span type = header->type, packing = {0}, coding = {0};
    if (header->has_http) {
        head = warc_header_size(content, size);
        const struct byte_span http = {content, head};
        type = header_value(http, "Content-Type");
        packing = header_value(http, "Content-Encoding");
        coding = header_value(http, "Transfer-Encoding");
    }
    size -= head;
    *out = (struct warc_page){.content = {content + head, size},
                              .is_html = part_begins_with(type, "text/html") ||
                                         part_begins_with(type, "application/xhtml+xml")};
    if (!out->is_html && !part_begins_with(type, "text/plain"))
        return false;
    if ((packing.size && !part_is(packing, "identity")) ||
        (part_is(coding, "chunked") && !join_http_chunks(content + head, size, &out->content.size)))
        out->content = (struct byte_span){0};
    return true;
}
