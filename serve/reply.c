/* Replies: what of an exchange goes out, by libmicrohttpd, or before it would let us. */
#include "serve/reply.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "serve/request_key.h"
#include "serve/service.h"

static struct MHD_Response *response_of_lines(const struct exchange *exchange)
{
    int fd = large_buffer_open(&exchange->lines);
    return fd < 0 ? NULL : MHD_create_response_from_fd64(exchange->lines.size, fd);
}

/* Who sent it is told of each event at once, so a block is a small one. */
static struct MHD_Response *response_of_stream(struct exchange *exchange)
{
    enum { BLOCK = 4096 };
    const struct reply_stream stream = exchange->stream;
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK, stream.read, stream.context, stream.free);
    if (response)
        exchange->stream = (struct reply_stream){0};
    return response;
}

static struct MHD_Response *response_of(struct exchange *exchange)
{
    struct doppel_json *json = &exchange->json;
    if (exchange->lines.size)
        return response_of_lines(exchange);
    if (exchange->stream.read)
        return response_of_stream(exchange);
    if (exchange->fixed)
        return MHD_create_response_from_buffer(exchange->fixed_size, (void *)exchange->fixed,
                                               MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(json->size, json->bytes, MHD_RESPMEM_MUST_FREE);
    if (response)
        *json = (struct doppel_json){0};
    return response;
}

/* ---- headers ---- */

struct reply_header {
    const char *name, *value; /* borrowed */
};

struct reply_headers {
    struct reply_header items[12];
    size_t count;
    char retry_after[16];
};

/* @param value NULL or "": there is none */
static void note_header(struct reply_headers *headers, const char *name, const char *value)
{
    if (value && *value)
        headers->items[headers->count++] = (struct reply_header){name, value};
}

static void headers_of(const struct exchange *exchange, bool last, struct reply_headers *out)
{
    const bool cached = exchange->cached && exchange->status == HTTP_OK;
    const char *type = exchange->type ? exchange->type : "application/json";
    out->count = 0;
    if (exchange->retry_after)
        snprintf(out->retry_after, sizeof out->retry_after, "%u", exchange->retry_after);
    note_header(out, MHD_HTTP_HEADER_CONNECTION, last ? "close" : NULL);
    note_header(out, "X-Content-Type-Options", "nosniff");
    note_header(out, "Cross-Origin-Resource-Policy", "same-origin");
    note_header(out, "Cache-Control", cached ? "private, max-age=300" : "no-store");
    note_header(out, "Vary", cached ? "Authorization" : NULL);
    note_header(out, "Content-Security-Policy", exchange->policy);
    note_header(out, MHD_HTTP_HEADER_CONTENT_TYPE,
                exchange->status != HTTP_NO_CONTENT ? type : NULL);
    note_header(out, MHD_HTTP_HEADER_ALLOW, exchange->allow);
    note_header(out, MHD_HTTP_HEADER_LOCATION, exchange->location);
    note_header(out, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                exchange->status == HTTP_UNAUTHORIZED ? "Bearer" : NULL);
    note_header(out, MHD_HTTP_HEADER_RETRY_AFTER, exchange->retry_after ? out->retry_after : NULL);
}

enum MHD_Result reply_queue(struct exchange *exchange)
{
    struct reply_headers headers;
    request_key_give_back(exchange); /* who has the answer may send it again */
    if (exchange->json.failed)
        exchange_problem(exchange, HTTP_UNAVAILABLE, "no memory for the answer");
    struct MHD_Response *response = response_of(exchange);
    if (!response)
        return MHD_NO;
    headers_of(exchange, atomic_load(&exchange->service->ending), &headers);
    for (size_t i = 0; i < headers.count; i++)
        MHD_add_response_header(response, headers.items[i].name, headers.items[i].value);
    enum MHD_Result result = MHD_queue_response(exchange->connection, exchange->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- before the request has ended ---- */

static void print_reply(FILE *out, const struct exchange *exchange)
{
    struct reply_headers headers;
    headers_of(exchange, true, &headers);
    fprintf(out, "HTTP/1.1 %u %s\r\n", exchange->status, http_status_title(exchange->status));
    for (size_t i = 0; i < headers.count; i++)
        fprintf(out, "%s: %s\r\n", headers.items[i].name, headers.items[i].value);
    fprintf(out, MHD_HTTP_HEADER_CONTENT_LENGTH ": %zu\r\n\r\n", exchange->json.size);
    fwrite(exchange->json.bytes, 1, exchange->json.size, out);
}

void reply_early(const struct exchange *exchange)
{
    enum { MOST = 2048 }; /* a problem is shorter, and so is what else is here */
    char text[MOST];
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info || exchange->json.failed ||
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION))
        return;
    const int socket = info->connect_fd;
    FILE *out = fmemopen(text, sizeof text, "w");
    if (!out)
        return;
    print_reply(out, exchange);
    const long size = ftell(out);
    if (fclose(out) || size <= 0 || size >= MOST)
        return;
    (void)send(socket, text, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(socket, SHUT_WR);
}
