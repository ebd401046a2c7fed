/* A connection to Redis. hiredis parses the answers. */
#include "core/clock.h"
#include "redis/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/try.h"

enum { REDIS_CONNECT_MS = 5000, REDIS_ANSWER_MS = 30000, READ_BYTES = 1 << 16 };

/* ---- sentences ---- */

static enum doppel_status fail_lost(const char *why, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_BUSY, "Redis: %s", why);
}

static bool begins_with_any(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* What an error means for whoever sent the command. */
static enum doppel_status fail_answer(const char *text, struct doppel_error *error)
{
    static const char *const later[] = {"LOADING ",    "BUSY ",        "TRYAGAIN ",
                                        "MASTERDOWN ", "CLUSTERDOWN ", "READONLY ",
                                        "OOM ",        "MISCONF ",     "NOREPLICAS "};
    static const char *const elsewhere[] = {"MOVED ", "ASK "};
    if (begins_with_any(text, later, sizeof later / sizeof *later))
        return doppel_fail(error, DOPPEL_E_BUSY, "Redis: %s", text);
    if (strncmp(text, "NOGROUP ", 8) == 0)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "Redis: %s", text);
    if (begins_with_any(text, elsewhere, sizeof elsewhere / sizeof *elsewhere))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the stream lies on another node of the cluster: name that one (%s)",
                           text);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis: %s", text);
}

/* ---- connecting ---- */

static uint32_t limit_ms(const struct redis_connection *connection, uint32_t usual_ms)
{
    return connection->answer_ms ? connection->answer_ms : usual_ms;
}

/* @return false: not yet within the time */
static bool wait_for_redis(struct redis_connection *connection, short events, int64_t end_ms)
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
    if (!wait_for_redis(connection, POLLOUT,
                        monotonic_ms() + limit_ms(connection, REDIS_CONNECT_MS))) {
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

static enum doppel_status say_who(struct redis_connection *connection,
                                  const struct redis_address *address, const char *password,
                                  struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (password) {
        redis_begin(&connection->out, address->user ? 3 : 2);
        redis_word(&connection->out, "AUTH");
        if (address->user)
            redis_word(&connection->out, address->user);
        redis_word(&connection->out, password);
        TRY(redis_ask(connection, NULL, error));
        explicit_bzero(connection->out.bytes, connection->out.capacity);
    }
    if (address->database) {
        redis_begin(&connection->out, 2);
        redis_word(&connection->out, "SELECT");
        redis_number(&connection->out, address->database);
        TRY(redis_ask(connection, NULL, error));
    }
done:
    return status;
}

enum doppel_status redis_connect(struct redis_connection *connection,
                                 const struct redis_address *address, const char *password,
                                 struct doppel_error *error)
{
    redis_close(connection);
    connection->reader = redisReaderCreate();
    if (!connection->reader)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a connection");
    enum doppel_status status = open_redis_socket(connection, address, error);
    if (!status)
        status = say_who(connection, address, password, error);
    if (status)
        redis_close(connection);
    return status;
}

void redis_close(struct redis_connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
    if (connection->reader)
        redisReaderFree(connection->reader);
    connection->reader = NULL;
    doppel_json_clear(&connection->out);
}

void redis_end(struct redis_connection *connection)
{
    redis_close(connection);
    doppel_json_free(&connection->out);
}

/* ---- commands ---- */

void redis_begin(struct doppel_json *out, size_t words)
{
    char head[32];
    int size = snprintf(head, sizeof head, "*%zu\r\n", words);
    doppel_json_append(out, head, (size_t)size);
}

void redis_bytes(struct doppel_json *out, const char *bytes, size_t size)
{
    char head[32];
    int head_size = snprintf(head, sizeof head, "$%zu\r\n", size);
    doppel_json_append(out, head, (size_t)head_size);
    doppel_json_append(out, bytes, size);
    doppel_json_append(out, "\r\n", 2);
}

void redis_word(struct doppel_json *out, const char *word)
{
    redis_bytes(out, word, strlen(word));
}

void redis_number(struct doppel_json *out, uint64_t number)
{
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" PRIu64, number);
    redis_bytes(out, digits, (size_t)size);
}

/* ---- bytes ---- */

/* What has come goes to the reader. */
static enum doppel_status receive(struct redis_connection *connection, struct doppel_error *error)
{
    char bytes[READ_BYTES];
    ssize_t size = recv(connection->fd, bytes, sizeof bytes, 0);
    if (size == 0)
        return fail_lost("the connection is closed", error);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? DOPPEL_OK : fail_lost(strerror(errno), error);
    return redisReaderFeed(connection->reader, bytes, (size_t)size) == REDIS_OK
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer of Redis");
}

/* Note whether a failure of Redis may pass. */
static enum doppel_status note_redis_failure(struct redis_connection *connection,
                                             enum doppel_status status)
{
    connection->away = status == DOPPEL_E_BUSY || status == DOPPEL_E_NOT_FOUND;
    return status;
}

enum doppel_status redis_send(struct redis_connection *connection, struct doppel_error *error)
{
    const int64_t end_ms = monotonic_ms() + limit_ms(connection, REDIS_ANSWER_MS);
    const struct doppel_json *out = &connection->out;
    enum doppel_status status = doppel_json_status(out, error);
    if (!status && connection->fd < 0)
        status = fail_lost("the connection is closed", error);
    for (size_t sent = 0; !status && sent < out->size;) {
        ssize_t size = send(connection->fd, out->bytes + sent, out->size - sent, MSG_NOSIGNAL);
        if (size >= 0)
            sent += (size_t)size;
        else if (errno != EAGAIN && errno != EINTR)
            status = fail_lost(strerror(errno), error);
        else if (!wait_for_redis(connection, POLLIN | POLLOUT, end_ms))
            status = fail_lost("it does not answer", error);
        else
            status = receive(connection, error);
    }
    doppel_json_clear(&connection->out);
    return note_redis_failure(connection, status);
}

static enum doppel_status next_reply(struct redis_connection *connection, redisReply **out,
                                     struct doppel_error *error)
{
    const int64_t end_ms = monotonic_ms() + limit_ms(connection, REDIS_ANSWER_MS);
    void *found = NULL;
    if (connection->fd < 0)
        return fail_lost("the connection is closed", error);
    for (;;) {
        if (redisReaderGetReply(connection->reader, &found) != REDIS_OK)
            return fail_lost(connection->reader->errstr, error);
        if (found) {
            *out = found;
            return DOPPEL_OK;
        }
        enum doppel_status status = wait_for_redis(connection, POLLIN, end_ms)
                                        ? receive(connection, error)
                                        : fail_lost("it does not answer", error);
        if (status)
            return status;
    }
}

enum doppel_status redis_reply(struct redis_connection *connection, redisReply **out,
                               struct doppel_error *error)
{
    return note_redis_failure(connection, next_reply(connection, out, error));
}

enum doppel_status redis_answer(struct redis_connection *connection, redisReply **out,
                                struct doppel_error *error)
{
    redisReply *reply = NULL;
    enum doppel_status status = next_reply(connection, &reply, error);
    if (!status && reply->type == REDIS_REPLY_ERROR) {
        status = fail_answer(reply->str, error);
        freeReplyObject(reply);
    } else if (!status) {
        *out = reply;
    }
    return note_redis_failure(connection, status);
}

enum doppel_status redis_ask(struct redis_connection *connection, redisReply **out,
                             struct doppel_error *error)
{
    redisReply *reply = NULL;
    enum doppel_status status = redis_send(connection, error);
    if (!status)
        status = redis_answer(connection, &reply, error);
    if (out)
        *out = reply;
    else if (reply)
        freeReplyObject(reply);
    return status;
}
