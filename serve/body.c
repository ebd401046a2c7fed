/* Bodies of requests. */
#include "serve/body.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <microhttpd.h>

#include "core/clock.h"
#include "core/newlines.h"
#include "serve/jobs/jobs.h"
#include "serve/reply.h"
#include "serve/routes.h"
#include "serve/service.h"

enum {
    FORM_BUFFER = 32 << 10,
    LARGEST_FIELD = 1 << 20,   /* of a form, beside its files */
    LARGEST_UNREAD = 16 << 20, /* of a request that is refused, until it is answered … */
    READ_ON_MS = 30000,        /* … and how long the rest is read and forgotten */
    MOST_PARTS = 4096,
    /* A part of lines ends with the first line behind so many bytes, which are in memory, or lines:
     * others wait while it is answered, and each may take milliseconds. */
    PART_BYTES = LARGE_BUFFER_MEMORY - (64 << 10),
    PART_LINES = 1000,
    /* A record of a text takes .05 ms, and to begin with some of them as long as a hundred. */
    RECORDS_BYTES = 16 << 20,
    RECORDS_LINES = 20000
};

/* Where what is too long for memory lies. */
static const char *folder_of_body(const struct exchange *exchange)
{
    const struct service *service = exchange->service;
    return route_keeps_files(exchange->route) ? jobs_folder(service->jobs)
                                              : service_temporary(service);
}

/* ---- forms ---- */

static struct form_part *begin_part(struct exchange *exchange, const char *field,
                                    const char *filename)
{
    struct form_part part = {.field = strdup(field ? field : ""),
                             .filename = filename ? strdup(filename) : NULL};
    bool named = part.field && (part.filename || !filename);
    if (named && exchange->parts.count < MOST_PARTS && array_push(&exchange->parts, part))
        return &exchange->parts.items[exchange->parts.count - 1];
    free(part.field);
    free(part.filename);
    if (!exchange->status)
        exchange_problem(exchange, HTTP_TOO_LARGE, "a form has at most %d parts", (int)MOST_PARTS);
    return NULL;
}

/* The part that a piece goes on; NULL: it begins one. libmicrohttpd may tell of a part before it
 * has a byte of it, and then again with the first: so an empty part, and one of the same names
 * behind it, are taken for one. */
static struct form_part *part_of_piece(struct exchange *exchange, const char *field,
                                       const char *filename, uint64_t offset)
{
    struct form_part *last =
        exchange->parts.count ? &exchange->parts.items[exchange->parts.count - 1] : NULL;
    bool same = last && strcmp(last->field, field ? field : "") == 0 &&
                !last->filename == !filename &&
                (!filename || strcmp(last->filename, filename) == 0);
    return offset || (same && !last->content.size) ? last : NULL;
}

/* A piece of a part of a form; the first one has the offset 0. */
static enum MHD_Result take_form_piece(void *context, enum MHD_ValueKind kind, const char *field,
                                       const char *filename, const char *type, const char *encoding,
                                       const char *data, uint64_t offset, size_t size)
{
    struct exchange *exchange = context;
    struct doppel_error error;
    (void)kind;
    (void)type;
    (void)encoding;
    struct form_part *part = part_of_piece(exchange, field, filename, offset);
    if (!part)
        part = begin_part(exchange, field, filename);
    if (!part)
        return MHD_NO;
    if (!part->filename && offset + size > LARGEST_FIELD) {
        exchange_problem(exchange, HTTP_TOO_LARGE, "the field '%s' has more than 1 MB",
                         part->field);
        return MHD_NO;
    }
    if (large_buffer_append(&part->content, data, size, folder_of_body(exchange), &error)) {
        exchange_fail(exchange, &error);
        return MHD_NO;
    }
    return MHD_YES;
}

static void end_form(struct exchange *exchange)
{
    if (!exchange->form_reader)
        return;
    bool whole = MHD_destroy_post_processor(exchange->form_reader) == MHD_YES;
    exchange->form_reader = NULL;
    if (!whole && !exchange->status)
        exchange_problem(exchange, HTTP_BAD_REQUEST, "the form ends too early");
}

/* ---- its form ---- */

static bool type_is(const char *type, const char *wanted)
{
    size_t size = strlen(wanted);
    return strncasecmp(type, wanted, size) == 0 && (!type[size] || strchr("; \t", type[size]));
}

static enum body_form form_of(const struct exchange *exchange)
{
    const char *type = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE);
    if (!type)
        return BODY_FILE;
    if (type_is(type, "application/json"))
        return BODY_JSON;
    if (type_is(type, "application/x-ndjson") || type_is(type, "application/jsonl"))
        return BODY_LINES;
    if (type_is(type, "multipart/form-data"))
        return BODY_FORM;
    if (type_is(type, "application/x-www-form-urlencoded"))
        return BODY_FIELDS;
    return BODY_FILE;
}

/* Of lines that are answered as they come, it is of a line. */
static uint64_t most_bytes(const struct exchange *exchange)
{
    return exchange->service->options->max_body;
}

static void refuse_size(struct exchange *exchange)
{
    exchange_problem(exchange, HTTP_TOO_LARGE, "a %s has at most %llu bytes (--max-body)",
                     exchange->line_parts.wanted ? "line" : "request",
                     (unsigned long long)most_bytes(exchange));
}

static uint64_t length_of_body(const struct exchange *exchange)
{
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length ? strtoull(length, NULL, 10) : 0;
}

/* That a request with a key is the same as before is known at its end. */
void body_begin(struct exchange *exchange)
{
    exchange->form = form_of(exchange);
    exchange->line_parts.wanted = exchange->form == BODY_LINES &&
                                  route_answers_parts(exchange->route) &&
                                  !exchange_header(exchange, "Idempotency-Key");
    if (!exchange->line_parts.wanted && length_of_body(exchange) > most_bytes(exchange))
        refuse_size(exchange);
    if (exchange->status || exchange->form != BODY_FORM)
        return;
    exchange->form_reader =
        MHD_create_post_processor(exchange->connection, FORM_BUFFER, take_form_piece, exchange);
    if (!exchange->form_reader)
        exchange_problem(exchange, HTTP_BAD_REQUEST, "a form whose parts have no boundary");
}

bool body_is_read_on(const struct exchange *exchange)
{
    return !exchange_header(exchange, MHD_HTTP_HEADER_EXPECT) &&
           (length_of_body(exchange) ||
            exchange_header(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING));
}

/* ---- lines ---- */

static bool is_more_than_blanks(const char *bytes, size_t size)
{
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", bytes[at]) && bytes[at])
        at++;
    return at < size;
}

/* @param newline the first one of a piece; NULL: it has none */
static uint64_t bytes_of_line(const struct line_parts *parts, const char *newline, const char *data,
                              size_t size)
{
    return parts->line_bytes + (newline ? (size_t)(newline - data) : size);
}

/* Up to the end of a line, where that makes a part whole; else all. @return how much of a piece */
static size_t part_of_lines(struct line_parts *parts, uint64_t held, uint64_t max_body,
                            const char *data, size_t size)
{
    const uint64_t bytes = parts->records ? RECORDS_BYTES : PART_BYTES;
    const uint64_t enough = max_body / 2 < bytes ? max_body / 2 : bytes;
    const char *newline = memrchr(data, '\n', size);
    const size_t ended = newline ? (size_t)(newline + 1 - data) : 0;
    parts->count += count_newlines(data, ended);
    const uint64_t lines = parts->records ? RECORDS_LINES : PART_LINES;
    parts->whole = ended && (held + size >= enough || parts->count >= lines) &&
                   (parts->begun || is_more_than_blanks(data, ended));
    parts->line_bytes = parts->whole ? 0 : ended ? size - ended : parts->line_bytes + size;
    parts->begun = parts->begun || is_more_than_blanks(data, size);
    return parts->whole ? ended : size;
}

/* Before a part there may be any number of them. */
static void pass_over_blanks(struct line_parts *parts)
{
    parts->before += parts->count;
    parts->count = 0;
    parts->line_bytes = 0;
}

void body_next_part(struct exchange *exchange)
{
    struct line_parts *parts = &exchange->line_parts;
    large_buffer_free(&exchange->body);
    parts->before += parts->count;
    parts->count = 0;
    parts->whole = parts->given = parts->begun = false;
    exchange->at_desk = false;
    if (exchange->status == HTTP_OK)
        exchange->status = 0;
}

/* ---- all of it ---- */

/* @return how much of it was taken */
static size_t append_piece(struct exchange *exchange, const char *data, size_t size)
{
    struct doppel_error error;
    struct line_parts *parts = &exchange->line_parts;
    const uint64_t max_body = most_bytes(exchange);
    if (parts->wanted && bytes_of_line(parts, memchr(data, '\n', size), data, size) > max_body) {
        refuse_size(exchange);
        return size;
    }
    if (parts->wanted)
        size = part_of_lines(parts, exchange->body.size, max_body, data, size);
    if (parts->wanted && !parts->begun)
        pass_over_blanks(parts);
    else if (large_buffer_append(&exchange->body, data, size, folder_of_body(exchange), &error))
        exchange_fail(exchange, &error);
    return size;
}

/* What is refused is read on, so that its sender comes to read why: to its end, or, of what is
 * long, for some time after the answer.
 * @return false: not any more */
static bool is_read_on(struct exchange *exchange)
{
    if (exchange->unread_bytes <= LARGEST_UNREAD)
        return true;
    if (!exchange->unread_until_ms) {
        reply_early(exchange);
        exchange->unread_until_ms = monotonic_ms() + READ_ON_MS;
    }
    return monotonic_ms() < exchange->unread_until_ms;
}

bool body_take(struct exchange *exchange, const char *data, size_t *size)
{
    size_t taken = *size;
    if (exchange->status) {
        exchange->unread_bytes += taken;
    } else if (exchange->form == BODY_FORM) {
        if (MHD_post_process(exchange->form_reader, data, taken) != MHD_YES && !exchange->status)
            exchange_problem(exchange, HTTP_BAD_REQUEST, "the form is not well formed");
    } else {
        taken = append_piece(exchange, data, taken);
    }
    exchange->body_bytes += taken;
    if (!exchange->status && !exchange->line_parts.wanted &&
        exchange->body_bytes > most_bytes(exchange))
        refuse_size(exchange);
    if (exchange->status)
        exchange->line_parts.whole = false;
    *size -= taken;
    return is_read_on(exchange);
}

/* Where its last part is blanks, all of it was answered. */
void body_end(struct exchange *exchange)
{
    end_form(exchange);
    if (exchange->lines.size && !exchange->line_parts.begun && !exchange->status)
        exchange->status = HTTP_OK;
}

void body_free(struct exchange *exchange)
{
    end_form(exchange);
    for (size_t i = 0; i < exchange->parts.count; i++) {
        free(exchange->parts.items[i].field);
        free(exchange->parts.items[i].filename);
        large_buffer_free(&exchange->parts.items[i].content);
    }
    array_free(&exchange->parts);
    large_buffer_free(&exchange->body);
}
