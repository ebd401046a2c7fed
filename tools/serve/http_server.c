/* The server of pages of this machine, by libmicrohttpd; where doppel is built without it, none. */
#include "tools/serve/http_server.h"

#ifdef HAVE_MICROHTTPD
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <microhttpd.h>

#include "core/array.h"

enum { SECRET_BYTES = 16, SECRET_DIGITS = 2 * SECRET_BYTES, LARGEST_BODY = 64 << 20 };

struct http_server {
    struct MHD_Daemon *daemon;
    http_handler *handler;
    void *context;
    char secret[SECRET_DIGITS + 1];
    char host[64], localhost[64]; /* as a browser names it: "127.0.0.1:PORT" */
    char address[128];
};

/* A request whose body is still coming. */
struct incoming {
    ARRAY(char) body;
    bool too_large;
};

/* ---- who may ask ---- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

/* Another name for this machine would be that of a page elsewhere, which has it lead here. */
static bool is_for_this_host(const struct http_server *server, const char *host)
{
    return strcmp(host, server->host) == 0 || strcmp(host, server->localhost) == 0;
}

/* What changes something comes from a page of ours. */
static bool is_from_this_page(const struct http_server *server, const char *origin)
{
    static const char scheme[] = "http://";
    size_t size = sizeof scheme - 1;
    return strncmp(origin, scheme, size) == 0 && is_for_this_host(server, origin + size);
}

/* What follows the secret; NULL: it is not that. It takes the same time for any wrong one. */
static const char *path_after_secret(const struct http_server *server, const char *url)
{
    size_t size = strlen(url);
    unsigned differs = 0;
    if (size < SECRET_DIGITS + 2 || url[0] != '/' || url[SECRET_DIGITS + 1] != '/')
        return NULL;
    for (size_t i = 0; i < SECRET_DIGITS; i++)
        differs |= (unsigned)(url[1 + i] ^ server->secret[i]);
    return differs ? NULL : url + SECRET_DIGITS + 2;
}

/* ---- answering ---- */

static enum MHD_Result send_reply(struct MHD_Connection *connection, const struct http_reply *reply)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy", "frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cache-Control", "no-store"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    struct MHD_Response *response = MHD_create_response_from_buffer(
        reply->size, reply->body, reply->borrowed ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (reply->type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_status(struct MHD_Connection *connection, unsigned status)
{
    const struct http_reply reply = {.status = status, .body = (char *)"", .borrowed = true};
    return send_reply(connection, &reply);
}

/* A request is there, whole. */
static enum MHD_Result answer_request(struct http_server *server, struct MHD_Connection *connection,
                                      const char *url, bool post, struct incoming *incoming)
{
    struct http_reply reply = {.status = MHD_HTTP_NOT_FOUND, .body = (char *)"", .borrowed = true};
    const char *path = path_after_secret(server, url);
    if (!is_for_this_host(server, header_of(connection, "Host")))
        return send_status(connection, MHD_HTTP_FORBIDDEN);
    if (!path)
        return send_status(connection, MHD_HTTP_NOT_FOUND);
    if (post && !is_from_this_page(server, header_of(connection, "Origin")))
        return send_status(connection, MHD_HTTP_FORBIDDEN);
    if (incoming->too_large)
        return send_status(connection, MHD_HTTP_CONTENT_TOO_LARGE);
    if (!array_push(&incoming->body, '\0'))
        return MHD_NO;
    const struct http_request request = {path, post, incoming->body.items,
                                         incoming->body.count - 1};
    server->handler(server->context, &request, &reply);
    return send_reply(connection, &reply);
}

static bool take_body(struct incoming *incoming, const char *data, size_t size)
{
    incoming->too_large |= size > LARGEST_BODY - incoming->body.count;
    while (!incoming->too_large && incoming->body.capacity - incoming->body.count < size)
        if (!array_grow((void **)&incoming->body.items, incoming->body.capacity,
                        &incoming->body.capacity, 1))
            return false;
    if (!incoming->too_large) {
        memcpy(incoming->body.items + incoming->body.count, data, size);
        incoming->body.count += size;
    }
    return true;
}

/* Called when the head of a request is there, for each piece of its body, and at its end. */
static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *data, size_t *size, void **state)
{
    struct incoming *incoming = *state;
    bool post = strcmp(method, "POST") == 0;
    (void)version;
    if (!incoming) {
        *state = calloc(1, sizeof *incoming);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*size) {
        bool taken = take_body(incoming, data, *size);
        *size = 0;
        return taken ? MHD_YES : MHD_NO;
    }
    return post || strcmp(method, "GET") == 0
               ? answer_request(context, connection, url, post, incoming)
               : send_status(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
}

static void end_request(void *context, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode code)
{
    struct incoming *incoming = *state;
    (void)context;
    (void)connection;
    (void)code;
    if (incoming)
        array_free(&incoming->body);
    free(incoming);
    *state = NULL;
}

/* ---- beginning and end ---- */

static void name_server(struct http_server *server, const uint8_t *secret, unsigned port)
{
    for (size_t i = 0; i < SECRET_BYTES; i++)
        snprintf(server->secret + 2 * i, 3, "%02x", secret[i]);
    snprintf(server->host, sizeof server->host, "127.0.0.1:%u", port);
    snprintf(server->localhost, sizeof server->localhost, "localhost:%u", port);
    snprintf(server->address, sizeof server->address, "http://%s/%s/", server->host,
             server->secret);
}

static enum doppel_status listen_locally(struct http_server *server, struct doppel_error *error)
{
    enum { CONNECTIONS = 32, IDLE_SECONDS = 300 };
    const struct sockaddr_in place = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint8_t secret[SECRET_BYTES];
    if (getrandom(secret, sizeof secret, 0) != sizeof secret)
        return doppel_fail(error, DOPPEL_E_IO, "no random numbers for an address: %s",
                           strerror(errno));
    server->daemon =
        MHD_start_daemon(MHD_NO_FLAG, 0, NULL, NULL, take_request, server, MHD_OPTION_SOCK_ADDR,
                         &place, MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                         MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    const union MHD_DaemonInfo *port =
        server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!port)
        return doppel_fail(error, DOPPEL_E_IO, "no port of this machine can be listened on: %s",
                           strerror(errno));
    name_server(server, secret, port->port);
    return DOPPEL_OK;
}

enum doppel_status http_server_start(http_handler *handler, void *context, struct http_server **out,
                                     struct doppel_error *error)
{
    struct http_server *server = calloc(1, sizeof *server);
    if (!server)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a server");
    server->handler = handler;
    server->context = context;
    enum doppel_status status = listen_locally(server, error);
    if (status)
        http_server_stop(server);
    else
        *out = server;
    return status;
}

const char *http_server_address(const struct http_server *server)
{
    return server->address;
}

enum doppel_status http_server_run(struct http_server *server, bool stopped(void),
                                   struct doppel_error *error)
{
    enum { LOOK_UP_MS = 250 };
    while (!stopped())
        if (MHD_run_wait(server->daemon, LOOK_UP_MS) != MHD_YES && !stopped())
            return doppel_fail(error, DOPPEL_E_IO, "the server cannot go on: %s", strerror(errno));
    return DOPPEL_OK;
}

void http_server_stop(struct http_server *server)
{
    if (!server)
        return;
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    free(server);
}

#else

enum doppel_status http_server_start(http_handler *handler, void *context, struct http_server **out,
                                     struct doppel_error *error)
{
    (void)handler;
    (void)context;
    (void)out;
    return doppel_fail(
        error, DOPPEL_E_UNSUPPORTED,
        "this doppel was built without libmicrohttpd, and serves nothing: export the "
        "marks of a page, and give them to '--marks'");
}

const char *http_server_address(const struct http_server *server)
{
    (void)server;
    return "";
}

enum doppel_status http_server_run(struct http_server *server, bool stopped(void),
                                   struct doppel_error *error)
{
    (void)server;
    (void)stopped;
    (void)error;
    return DOPPEL_OK;
}

void http_server_stop(struct http_server *server)
{
    (void)server;
}

#endif
