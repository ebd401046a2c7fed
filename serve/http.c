/* HTTP by libmicrohttpd. */
#include "serve/http.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <time.h>

#include <microhttpd.h>

#include "core/clock.h"
#include "serve/acceptor.h"
#include "serve/body.h"
#include "serve/desk.h"
#include "serve/keys.h"
#include "serve/metrics.h"
#include "serve/reply.h"
#include "serve/request_key.h"
#include "serve/routes.h"
#include "serve/service.h"

enum {
    CONNECTIONS = 10000,        /* and at most half of the descriptors that a process may have */
    CONNECTION_BYTES = 8 << 10, /* for its head, and 2 000 idle ones are to take 20 MB */
    IDLE_SECONDS = 60           /* also without a byte of a head or body: slow clients go */
};

struct http {
    struct http_options options;
    struct MHD_Daemon *daemon;
    struct acceptor *acceptor;
    atomic_size_t in_flight, arriving; /* requests; and those of which some is still to come */
    atomic_size_t settled;             /* connections that have asked something, or are closed */
    size_t dealt;                      /* connections, by an acceptor that has ended */
};

/* ---- what was asked ---- */

const char *exchange_argument(const struct exchange *exchange, const char *name)
{
    const char *value = NULL;
    size_t size;
    if (MHD_lookup_connection_value_n(exchange->connection, MHD_GET_ARGUMENT_KIND, name,
                                      strlen(name), &value, &size) != MHD_YES)
        return NULL;
    return value ? value : "";
}

const char *exchange_header(const struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

bool exchange_wants(const struct exchange *exchange, const char *name)
{
    const char *value = exchange_argument(exchange, name);
    return value && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
}

/* ---- a request ---- */

static enum MHD_Result check_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                       const char *value)
{
    struct exchange *exchange = context;
    (void)kind;
    (void)value;
    return route_takes(exchange->route, exchange, name) ? MHD_YES : MHD_NO;
}

/* What can be said of a request by its head. */
static void check_request_head(struct http *http, struct exchange *exchange)
{
    exchange->route = route_of(exchange);
    if (exchange->route && keys_admit(http->options.service->keys, exchange))
        body_begin(exchange);
    if (!exchange->status)
        MHD_get_connection_values(exchange->connection, MHD_GET_ARGUMENT_KIND, check_parameter,
                                  exchange);
}

/* Whether a connection has asked yet: from its beginning to its end. */
static void note_connection(void *context, struct MHD_Connection *connection, void **asked,
                            enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    (void)connection;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *asked = calloc(1, sizeof(bool));
        return;
    }
    if (!*asked || !*(bool *)*asked)
        atomic_fetch_add(&http->settled, 1);
    free(*asked);
}

static void note_request(struct http *http, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    bool *asked = info ? info->socket_context : NULL;
    atomic_fetch_add(&http->in_flight, 1);
    atomic_fetch_add(&http->arriving, 1);
    if (!asked || *asked)
        return;
    *asked = true;
    atomic_fetch_add(&http->settled, 1);
}

static enum MHD_Result begin_exchange(struct http *http, struct MHD_Connection *connection,
                                      const char *url, const char *method, void **state)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return MHD_NO;
    exchange->service = http->options.service;
    exchange->connection = connection;
    exchange->url = url;
    exchange->method = method;
    exchange->begun_ns = monotonic_ns();
    *state = exchange;
    note_request(http, connection);
    check_request_head(http, exchange);
    return exchange->status && !body_is_read_on(exchange) ? reply_queue(exchange) : MHD_YES;
}

/* Its connection waits, without a thread, until it is answered. */
static enum MHD_Result answer_at_desk(struct http *http, struct exchange *exchange)
{
    MHD_suspend_connection(exchange->connection);
    if (desk_give(http->options.service->desk, exchange))
        return MHD_YES;
    exchange_problem(exchange, HTTP_UNAVAILABLE, "too many requests wait; try again");
    exchange->retry_after = 1;
    MHD_resume_connection(exchange->connection);
    return MHD_YES;
}

static void note_arrival(struct http *http, struct exchange *exchange)
{
    if (!exchange->arrived)
        atomic_fetch_sub(&http->arriving, 1);
    exchange->arrived = true;
}

/* A request is there, whole; or it was answered, and its connection goes on. */
static enum MHD_Result answer_exchange(struct http *http, struct exchange *exchange)
{
    note_arrival(http, exchange);
    body_end(exchange);
    if (!exchange->status &&
        route_handler_of(exchange->service, exchange->route)(exchange) == TAKES_TIME)
        return answer_at_desk(http, exchange);
    return reply_queue(exchange);
}

/* Only while there are bytes behind it that were not taken: else libmicrohttpd goes on with the
 * next chunk of a body, though its connection is suspended. */
static enum MHD_Result answer_part(struct http *http, struct exchange *exchange)
{
    exchange->line_parts.given = true;
    return answer_at_desk(http, exchange);
}

/* Called when the head of a request is there, for each piece of its body, at its end, and again
 * when a connection goes on. */
static enum MHD_Result take_exchange_piece(void *context, struct MHD_Connection *connection,
                                           const char *url, const char *method, const char *version,
                                           const char *data, size_t *size, void **state)
{
    struct exchange *exchange = *state;
    (void)version;
    if (!exchange)
        return begin_exchange(context, connection, url, method, state);
    if (exchange->line_parts.given)
        body_next_part(exchange);
    if (!*size)
        return answer_exchange(context, exchange);
    if (exchange->line_parts.whole)
        return answer_part(context, exchange);
    if (!body_take(exchange, data, size))
        return MHD_NO;
    return exchange->line_parts.whole && *size ? answer_part(context, exchange) : MHD_YES;
}

void http_suspend(struct exchange *exchange)
{
    MHD_suspend_connection(exchange->connection);
}

void http_resume(struct exchange *exchange)
{
    MHD_resume_connection(exchange->connection);
}

static void end_exchange(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct http *http = context;
    struct exchange *exchange = *state;
    (void)connection;
    (void)code;
    if (!exchange)
        return;
    note_arrival(http, exchange);
    metrics_count(http->options.service->metrics, exchange);
    request_key_give_back(exchange);
    body_free(exchange);
    if (exchange->stream.read)
        exchange->stream.free(exchange->stream.context);
    large_buffer_free(&exchange->lines);
    doppel_json_free(&exchange->json);
    free(exchange);
    *state = NULL;
    atomic_fetch_sub(&http->in_flight, 1);
}

/* ---- beginning and end ---- */

/* What libmicrohttpd has to say is of connections that broke: nobody need know. */
static void ignore_message(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

/* As many descriptors as this process may have; the usual limit is for what waits by select(2). */
static unsigned most_connections(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return FD_SETSIZE / 2;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur / 2 < CONNECTIONS ? (unsigned)limit.rlim_cur / 2 : CONNECTIONS;
}

static struct MHD_Daemon *start_daemon(struct http *http, unsigned most)
{
    const struct http_options *options = &http->options;
    bool tls = options->certificate;
    const struct MHD_OptionItem secrets[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)options->key},
        {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                           MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG | (tls ? MHD_USE_TLS : 0);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, take_exchange_piece, http, MHD_OPTION_EXTERNAL_LOGGER, ignore_message,
        NULL, MHD_OPTION_NOTIFY_COMPLETED, end_exchange, http, MHD_OPTION_NOTIFY_CONNECTION,
        note_connection, http, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)options->threads,
        MHD_OPTION_CONNECTION_LIMIT, ACCEPTOR_ROOM * most * (unsigned)options->threads,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_ARRAY, tls ? secrets : none, MHD_OPTION_END);
}

enum doppel_status http_start(const struct http_options *options, struct http **out,
                              struct doppel_error *error)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a server");
    http->options = *options;
    *out = http; /* before a request comes that asks it (http_in_flight) */
    const unsigned most = most_connections();
    http->daemon = start_daemon(http, most);
    http->acceptor = http->daemon ? acceptor_start(http->daemon, options->socket, most) : NULL;
    if (!http->acceptor) {
        *out = NULL;
        http_stop(http);
        return doppel_fail(error, options->certificate ? DOPPEL_E_ARGUMENT : DOPPEL_E_IO, "%s",
                           options->certificate
                               ? "the server does not start: look at --tls-cert and --tls-key"
                               : "the server does not start");
    }
    return DOPPEL_OK;
}

void http_refuse(struct http *http)
{
    http->dealt = acceptor_stop(http->acceptor);
    http->acceptor = NULL;
}

static bool is_awaited(struct http *http, struct http_patience patience, int64_t waited_ms)
{
    enum { FIRST_REQUEST_MS = 1000 };
    if (atomic_load(&http->settled) < http->dealt && waited_ms < FIRST_REQUEST_MS)
        return true;
    const size_t in_flight = http_in_flight(http), arriving = atomic_load(&http->arriving);
    return in_flight > arriving ? waited_ms < patience.answered_s * INT64_C(1000)
                                : in_flight && waited_ms < patience.arriving_s * INT64_C(1000);
}

void http_drain(struct http *http, struct http_patience patience)
{
    static const struct timespec turn = {.tv_nsec = 5 * 1000000L};
    const int64_t begun_ms = monotonic_ms();
    while (is_awaited(http, patience, monotonic_ms() - begun_ms))
        nanosleep(&turn, NULL);
}

size_t http_in_flight(struct http *http)
{
    return atomic_load(&http->in_flight);
}

void http_stop(struct http *http)
{
    if (!http)
        return;
    (void)acceptor_stop(http->acceptor);
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    free(http);
}
