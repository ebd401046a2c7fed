/* The bytes of a connection to Redis. */
#include "redis/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "redis/tls.h"

enum { CONNECT_MS = 5000, PROBE_MS = 1000 };

static const char http[] = "it speaks HTTP, and not Redis' protocol";
static const char no_tls[] = "it speaks no TLS: its address begins with redis://";

/* ---- sentences ---- */

enum doppel_status transport_fail_lost(const char *why, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_BUSY, "Redis: %s", why);
}

const char *transport_peer(const struct redis_connection *connection)
{
    static const char alert = 0x15, handshake = 0x16;
    const char *first = connection->first;
    const size_t size = connection->first_size;
    if (!size)
        return NULL;
    if (*first == '<' || (size >= 5 && memcmp(first, "HTTP/", 5) == 0))
        return http;
    if (*first == alert || *first == handshake)
        return connection->session ? NULL : "it speaks TLS: its address begins with rediss://";
    if (*first && strchr("+-:$*", *first))
        return connection->session ? no_tls : NULL;
    return "it does not speak Redis' protocol";
}

/* ---- connecting ---- */

int64_t transport_end_ms(const struct redis_connection *connection, uint32_t usual_ms)
{
    return monotonic_ms() + (connection->answer_ms ? connection->answer_ms : usual_ms);
}

bool transport_wait(struct redis_connection *connection, short events, int64_t end_ms)
{
    struct pollfd wanted = {connection->fd, events, 0};
    for (;;) {
        int ready = poll(&wanted, 1, 100);
        if (ready > 0)
            return true;
        if ((ready < 0 && errno != EINTR) || monotonic_ms() > end_ms)
            return false;
    }
}

/* @return whether it is connected; else errno says why not */
static bool connect_to(struct redis_connection *connection, const struct addrinfo *place)
{
    int one = 1, problem = 0;
    socklen_t size = sizeof problem;
    connection->fd = socket(place->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection->fd < 0)
        return false;
    if (connect(connection->fd, place->ai_addr, place->ai_addrlen) && errno != EINPROGRESS)
        return false;
    if (!transport_wait(connection, POLLOUT, transport_end_ms(connection, CONNECT_MS))) {
        errno = ETIMEDOUT;
        return false;
    }
    if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &problem, &size) || problem) {
        errno = problem ? problem : errno;
        return false;
    }
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(connection->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    return true;
}

static enum doppel_status open_redis_socket(struct redis_connection *connection,
                                            const struct redis_address *address,
                                            struct doppel_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *places = NULL;
    const int problem = getaddrinfo(address->host, address->port, &hints, &places);
    if (problem)
        return doppel_fail(error, DOPPEL_E_BUSY, "%s: %s", address->host, gai_strerror(problem));
    bool connected = false;
    for (const struct addrinfo *place = places; place && !connected; place = place->ai_next) {
        connected = connect_to(connection, place);
        if (!connected && connection->fd >= 0) {
            const int why = errno;
            close(connection->fd);
            connection->fd = -1;
            errno = why;
        }
    }
    const int why = errno;
    freeaddrinfo(places);
    return connected ? DOPPEL_OK
                     : doppel_fail(error, DOPPEL_E_BUSY, "Redis at %s:%s: %s", address->host,
                                   address->port, strerror(why));
}

/* Ask a peer that says nothing in another way, by a connection of its own. @return whether it
 * answers, by bytes that are in `first` then */
static bool answers_to(struct redis_connection *connection, const struct redis_address *address,
                       const char *question)
{
    char bytes[sizeof connection->first];
    transport_close(connection);
    return !open_redis_socket(connection, address, NULL) &&
           send(connection->fd, question, strlen(question), MSG_NOSIGNAL) > 0 &&
           transport_wait(connection, POLLIN, monotonic_ms() + PROBE_MS) &&
           transport_pull(connection, bytes, sizeof bytes) > 0;
}

/* A Redis without TLS waits for the end of a line, which what begins TLS does not have. */
static bool answers_without_tls(struct redis_connection *connection,
                                const struct redis_address *address)
{
    return answers_to(connection, address, "PING\r\n") &&
           (*connection->first == '+' || *connection->first == '-');
}

bool redis_closes_as_http(struct redis_connection *connection, const struct redis_address *address)
{
    return connection->fd >= 0 && !connection->first_size && !address->tls &&
           answers_to(connection, address, "GET / HTTP/1.0\r\n\r\n") &&
           transport_peer(connection) == http;
}

enum doppel_status transport_open(struct redis_connection *connection,
                                  const struct redis_address *address, struct doppel_error *error)
{
    connection->first_size = 0;
    enum doppel_status status = open_redis_socket(connection, address, error);
    if (!status && address->tls)
        status = tls_begin(connection, address, transport_end_ms(connection, CONNECT_MS), error);
    const bool silent = status == DOPPEL_E_BUSY && connection->fd >= 0 && !connection->first_size;
    if (silent && answers_without_tls(connection, address))
        status = doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis at %s:%s: %s", address->host,
                             address->port, no_tls);
    return status;
}

void transport_close(struct redis_connection *connection)
{
    tls_end(connection);
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
}

/* ---- bytes ---- */

ssize_t transport_pull(struct redis_connection *connection, void *bytes, size_t size)
{
    const ssize_t got = recv(connection->fd, bytes, size, 0);
    const size_t room = sizeof connection->first - connection->first_size;
    if (got > 0 && room) {
        const size_t kept = (size_t)got < room ? (size_t)got : room;
        memcpy(connection->first + connection->first_size, bytes, kept);
        connection->first_size += kept;
    }
    return got;
}

/* A Redis that speaks TLS alone closes the connection of who speaks none. */
static enum doppel_status fail_closed(const struct redis_connection *connection, const char *why,
                                      struct doppel_error *error)
{
    return connection->first_size
               ? transport_fail_lost(why, error)
               : transport_fail_lost("it closes the connection without an answer (where it wants "
                                     "TLS, its address begins with rediss://)",
                                     error);
}

enum doppel_status transport_send(struct redis_connection *connection, const char *bytes,
                                  size_t size, size_t *out_sent, struct doppel_error *error)
{
    if (connection->session)
        return tls_send(connection, bytes, size, out_sent, error);
    const ssize_t sent = send(connection->fd, bytes, size, MSG_NOSIGNAL);
    *out_sent = sent > 0 ? (size_t)sent : 0;
    return sent >= 0 || errno == EAGAIN || errno == EINTR
               ? DOPPEL_OK
               : transport_fail_lost(strerror(errno), error);
}

enum doppel_status transport_receive(struct redis_connection *connection, char *bytes, size_t size,
                                     size_t *out_size, struct doppel_error *error)
{
    if (connection->session)
        return tls_receive(connection, bytes, size, out_size, error);
    const ssize_t got = transport_pull(connection, bytes, size);
    *out_size = got > 0 ? (size_t)got : 0;
    if (got == 0)
        return fail_closed(connection, "the connection is closed", error);
    return got > 0 || errno == EAGAIN || errno == EINTR
               ? DOPPEL_OK
               : fail_closed(connection, strerror(errno), error);
}
