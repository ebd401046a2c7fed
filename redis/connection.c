/* A connection to Redis. hiredis parses the answers. */
#include "redis/connection.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/try.h"
#include "redis/transport.h"

enum { REDIS_ANSWER_MS = 30000, READ_BYTES = 1 << 16 };

/* ---- sentences ---- */

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
    static const char *const later[] = {"LOADING ",     "BUSY ",      "TRYAGAIN ", "MASTERDOWN ",
                                        "CLUSTERDOWN ", "READONLY ",  "OOM ",      "MISCONF ",
                                        "NOREPLICAS ",  "UNBLOCKED ", "MOVED ",    "ASK "};
    if (begins_with_any(text, later, sizeof later / sizeof *later))
        return doppel_fail(error, DOPPEL_E_BUSY, "Redis: %s", text);
    if (strncmp(text, "NOGROUP ", 8) == 0)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "Redis: %s", text);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis: %s", text);
}

/* ---- connecting ---- */

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
    free(connection->moved);
    connection->moved = NULL;
    connection->reader = redis_reader_new(&connection->limits);
    if (!connection->reader)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a connection");
    enum doppel_status status = transport_open(connection, address, error);
    if (!status)
        status = say_who(connection, address, password, error);
    if (status)
        redis_close(connection);
    return status;
}

void redis_close(struct redis_connection *connection)
{
    transport_close(connection);
    if (connection->reader)
        redisReaderFree(connection->reader);
    connection->reader = NULL;
    connection->asking = false;
    doppel_json_clear(&connection->out);
}

void redis_end(struct redis_connection *connection)
{
    redis_close(connection);
    free(connection->moved);
    connection->moved = NULL;
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

static enum doppel_status fail_long_answer(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis: an answer is too long");
}

/* What has come goes to the reader. */
static enum doppel_status receive(struct redis_connection *connection, struct doppel_error *error)
{
    char bytes[READ_BYTES];
    size_t size = 0;
    enum doppel_status status = transport_receive(connection, bytes, sizeof bytes, &size, error);
    if (status || !size)
        return status;
    if (redis_reader_feed(connection->reader, &connection->limits, bytes, size) == REDIS_OK)
        return DOPPEL_OK;
    return connection->reader->err
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer of Redis")
               : fail_long_answer(error);
}

/* The same by then, also from a peer that never stops to send. */
static enum doppel_status receive_by(struct redis_connection *connection, short events,
                                     int64_t end_ms, struct doppel_error *error)
{
    return monotonic_ms() <= end_ms && transport_wait(connection, events, end_ms)
               ? receive(connection, error)
               : transport_fail_lost("it does not answer", error);
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
    const int64_t end_ms = transport_end_ms(connection, REDIS_ANSWER_MS);
    const struct doppel_json *out = &connection->out;
    enum doppel_status status;
    TRY(doppel_json_status(out, error));
    if (connection->fd < 0)
        TRY(transport_fail_lost("the connection is closed", error));
    for (size_t sent = 0, size; sent < out->size; sent += size) {
        TRY(transport_send(connection, out->bytes + sent, out->size - sent, &size, error));
        if (!size)
            TRY(receive_by(connection, POLLIN | POLLOUT, end_ms, error));
    }
done:
    doppel_json_clear(&connection->out);
    return note_redis_failure(connection, status);
}

static enum doppel_status fail_protocol(const struct redis_connection *connection,
                                        struct doppel_error *error)
{
    const char *peer = transport_peer(connection);
    if (connection->reader->err == REDIS_ERR_OOM && connection->limits.bytes)
        return fail_long_answer(error);
    if (connection->reader->err == REDIS_ERR_OOM)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer of Redis");
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis: %s",
                       peer ? peer : connection->reader->errstr);
}

/* Of an error, whose text may be megabytes for each of a thousand commands, the beginning. */
static void shorten_error(redisReply *reply)
{
    enum { MOST = 512 };
    if (reply->type != REDIS_REPLY_ERROR || reply->len <= MOST)
        return;
    char *text = realloc(reply->str, MOST + 1);
    reply->str = text ? text : reply->str;
    reply->str[MOST] = 0;
    reply->len = MOST;
}

static enum doppel_status read_reply(struct redis_connection *connection, redisReply **out,
                                     struct doppel_error *error)
{
    const int64_t end_ms = transport_end_ms(connection, REDIS_ANSWER_MS);
    void *found = NULL;
    if (connection->fd < 0)
        return transport_fail_lost("the connection is closed", error);
    for (;;) {
        if (redis_reader_next(connection->reader, &connection->limits, &found) != REDIS_OK)
            return fail_protocol(connection, error);
        if (found) {
            *out = found;
            shorten_error(*out);
            return DOPPEL_OK;
        }
        const enum doppel_status status = receive_by(connection, POLLIN, end_ms, error);
        if (status)
            return status;
    }
}

/* The answers to ASKING are of no interest: that to the command says the same. */
static enum doppel_status next_reply(struct redis_connection *connection, redisReply **out,
                                     struct doppel_error *error)
{
    redisReply *asking = NULL;
    enum doppel_status status =
        connection->asking ? read_reply(connection, &asking, error) : DOPPEL_OK;
    if (asking)
        freeReplyObject(asking);
    return status ? status : read_reply(connection, out, error);
}

/* "MOVED 866 HOST:PORT", or ASK: note where. */
static void note_moved(struct redis_connection *connection, const char *text)
{
    const bool asks = strncmp(text, "ASK ", 4) == 0;
    const char *place = strrchr(text, ' ');
    if ((!asks && strncmp(text, "MOVED ", 6) != 0) || !place || !strchr(place, ':'))
        return;
    free(connection->moved);
    connection->moved = strdup(place + 1);
    connection->moved_asks = asks;
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
        note_moved(connection, reply->str);
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
