/* Mail: the subject and the text of each message, without what it quotes, its signature and what is
 * attached. Sources: RFC 5322, 2046, 4155. */
#include "documents/mail.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <doppel/text.h>

#include "core/try.h"
#include "documents/charset.h"
#include "documents/formats.h"
#include "documents/mapped.h"

enum { FIELD_BYTES = 1024, BOUNDARY_BYTES = 80, MOST_DEPTH = 8, MOST_PARTS = 1000 };

struct mail_reading {
    struct document_writer *out;
    struct doppel_text *html;
    struct doppel_error *error;
    unsigned parts; /* of this message, so far */
};

/* ---- messages ---- */

static bool line_begins_with(struct mail_span line, const char *text)
{
    size_t size = strlen(text);
    return line.size >= size && memcmp(line.at, text, size) == 0;
}

/* A message ends before an empty line and a line that begins with "From ". */
bool next_message(struct mail_span *box, struct mail_span *out)
{
    struct mail_span line, rest = *box;
    bool empty = false;
    if (!next_mail_line(&rest, &line))
        return false;
    if (line_begins_with(line, "From "))
        *box = rest;
    *out = *box;
    rest = *box;
    while (next_mail_line(&rest, &line)) {
        if (empty && line_begins_with(line, "From ")) {
            out->size = (size_t)(line.at - out->at);
            *box = (struct mail_span){line.at, box->size - out->size};
            return true;
        }
        empty = !line.size;
    }
    *box = (struct mail_span){box->at + box->size, 0};
    return true;
}

/* ---- the text of a part ---- */

/* Whether it says who wrote what is quoted next: "On Monday Alice wrote:". */
static bool is_attribution(struct mail_span line, struct mail_span rest)
{
    struct mail_span next;
    return line.size && line.at[line.size - 1] == ':' && next_mail_line(&rest, &next) &&
           line_begins_with(next, ">");
}

static void add_plain_mail(struct mail_span text, struct document_writer *out)
{
    struct mail_span line;
    while (next_mail_line(&text, &line)) {
        if (line_begins_with(line, "-- ") && line.size == 3)
            return;
        if (line_begins_with(line, ">From "))
            line = (struct mail_span){line.at + 1, line.size - 1};
        if (line_begins_with(line, ">") || is_attribution(line, text))
            continue;
        writer_add(out, line.at, line.size);
        writer_add(out, "\n", 1);
    }
}

static enum doppel_status add_html_mail(struct mail_reading *reading, struct mail_span html)
{
    struct doppel_text_options options = doppel_text_options_default();
    const char *plain;
    size_t size;
    enum doppel_status status = DOPPEL_OK;
    options.format = DOPPEL_TEXT_HTML;
    if (!reading->html)
        status = doppel_text_new(&options, &reading->html, reading->error);
    if (!status)
        status =
            doppel_text_plain(reading->html, html.at, html.size, &plain, &size, reading->error);
    if (!status)
        add_plain_mail((struct mail_span){plain, size}, reading->out);
    return status;
}

static enum doppel_status add_text_part(struct mail_reading *reading, const char *type,
                                        const struct mime_part *part)
{
    char encoding[32] = "", charset[32] = "";
    struct document_writer text = {.max_bytes = reading->out->max_bytes};
    enum doppel_status status = DOPPEL_OK;
    char *bytes = malloc(part->body.size + 1);
    if (!bytes)
        return doppel_fail(reading->error, DOPPEL_E_MEMORY, "no memory for a message");
    mime_field(part->head, "Content-Transfer-Encoding", encoding, sizeof encoding);
    mime_parameter(type, "charset", charset, sizeof charset);
    size_t size = mime_decode(encoding, part->body, bytes);
    charset_add(charset_find(charset), bytes, size, &text);
    free(bytes);
    struct mail_span plain = {text.text, text.size};
    if (text.status)
        reading->out->status = text.status;
    else if (strncasecmp(type, "text/html", 9) == 0)
        status = add_html_mail(reading, plain);
    else
        add_plain_mail(plain, reading->out);
    writer_free(&text);
    return status;
}

/* ---- parts of parts ---- */

static enum doppel_status add_mail_part(struct mail_reading *reading, struct mail_span message,
                                        unsigned depth);

/* The next part between lines with the boundary; it is taken off `body`. */
static bool next_part(struct mail_span *body, const char *boundary, struct mail_span *out)
{
    struct mail_span line;
    const char *from = NULL;
    size_t length = strlen(boundary);
    while (next_mail_line(body, &line)) {
        bool bounds = line_begins_with(line, "--") && line.size >= length + 2 &&
                      memcmp(line.at + 2, boundary, length) == 0;
        if (bounds && from) {
            *out = (struct mail_span){from, (size_t)(line.at - from)};
            *body = (struct mail_span){line.at, body->size + (size_t)(body->at - line.at)};
            return true;
        }
        if (bounds && line.size >= length + 4 && memcmp(line.at + 2 + length, "--", 2) == 0)
            return false;
        if (bounds)
            from = body->at;
    }
    if (!from)
        return false;
    *out = (struct mail_span){from, (size_t)(body->at - from)};
    return true;
}

static bool has_type(struct mail_span part, const char *type)
{
    char value[FIELD_BYTES];
    return mime_field(mime_split(part).head, "Content-Type", value, sizeof value) &&
           strncasecmp(value, type, strlen(type)) == 0;
}

/* Of alternatives the plain text is read, else the last, which is the best. */
static enum doppel_status add_alternative(struct mail_reading *reading, struct mail_span body,
                                          const char *boundary, unsigned depth)
{
    struct mail_span part, chosen = {0};
    while (next_part(&body, boundary, &part) && reading->parts++ < MOST_PARTS) {
        chosen = part;
        if (has_type(part, "text/plain"))
            break;
    }
    return chosen.size ? add_mail_part(reading, chosen, depth + 1) : DOPPEL_OK;
}

static enum doppel_status add_parts(struct mail_reading *reading, const char *type,
                                    struct mail_span body, unsigned depth)
{
    char boundary[BOUNDARY_BYTES];
    struct mail_span part;
    enum doppel_status status = DOPPEL_OK;
    if (depth == MOST_DEPTH || !mime_parameter(type, "boundary", boundary, sizeof boundary) ||
        !*boundary)
        return DOPPEL_OK;
    if (strncasecmp(type, "multipart/alternative", 21) == 0)
        return add_alternative(reading, body, boundary, depth);
    while (!status && next_part(&body, boundary, &part) && reading->parts++ < MOST_PARTS)
        status = add_mail_part(reading, part, depth + 1);
    return status;
}

static enum doppel_status add_mail_part(struct mail_reading *reading, struct mail_span message,
                                        unsigned depth)
{
    struct mime_part part = mime_split(message);
    char type[FIELD_BYTES] = "text/plain", disposition[32] = "";
    mime_field(part.head, "Content-Type", type, sizeof type);
    mime_field(part.head, "Content-Disposition", disposition, sizeof disposition);
    if (strncasecmp(disposition, "attachment", 10) == 0)
        return DOPPEL_OK;
    if (strncasecmp(type, "multipart/", 10) == 0)
        return add_parts(reading, type, part.body, depth);
    if (strncasecmp(type, "message/rfc822", 14) == 0 && depth < MOST_DEPTH)
        return add_mail_part(reading, part.body, depth + 1);
    return strncasecmp(type, "text/", 5) == 0 ? add_text_part(reading, type, &part) : DOPPEL_OK;
}

static enum doppel_status add_message(struct mail_reading *reading, struct mail_span message)
{
    char subject[FIELD_BYTES] = "";
    struct document_writer *out = reading->out;
    writer_line(out);
    writer_page(out);
    if (mime_field(mime_split(message).head, "Subject", subject, sizeof subject))
        mime_add_words(subject, out);
    writer_line(out);
    reading->parts = 0;
    return add_mail_part(reading, message, 0);
}

enum doppel_status read_mail(const struct document_input *input, struct document_writer *out,
                             struct doppel_error *error)
{
    struct mail_reading reading = {.out = out, .error = error};
    struct mapped_document file = {0};
    struct mail_span box, message;
    enum doppel_status status = map_document(input->fd, &file, error);
    if (status)
        return status;
    box = (struct mail_span){file.bytes, file.size};
    while (!status && !out->status && next_message(&box, &message))
        status = add_message(&reading, message);
    unmap_document(&file);
    doppel_text_free(reading.html);
    return status;
}
