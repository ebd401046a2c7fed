/* A consumer group: connecting, reading, holding, counting. */
#include "stream/redis/consumer.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "stream/pause.h"

/* ---- connecting ---- */

static enum doppel_status make_group(struct stream_consumer *consumer, struct doppel_error *error)
{
    struct redis_connection *connection = &consumer->connection;
    struct doppel_error why = {0};
    redis_begin(&connection->out, 6);
    redis_word(&connection->out, "XGROUP");
    redis_word(&connection->out, "CREATE");
    redis_word(&connection->out, consumer->address.key);
    redis_word(&connection->out, consumer->options->group);
    redis_word(&connection->out, "0");
    redis_word(&connection->out, "MKSTREAM");
    enum doppel_status status = redis_ask(connection, NULL, &why);
    if (status == DOPPEL_E_ARGUMENT && strstr(why.message, "BUSYGROUP"))
        return DOPPEL_OK; /* it exists */
    return status ? doppel_fail(error, status, "%s", why.message) : DOPPEL_OK;
}

static enum doppel_status wait_until_back(struct stream_consumer *consumer, const char *why,
                                          struct doppel_error *error)
{
    struct doppel_run *run = consumer->connection.run;
    if (!consumer->away.pause_ms)
        doppel_run_notice(run, "the stream is away, and waited for: %s", why);
    consumer->counts.retries++;
    return backoff_pause(&consumer->away, run)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_CANCELLED, "ended while the stream was away");
}

enum doppel_status group_connect(struct stream_consumer *consumer, const char *lost,
                                 struct doppel_error *error)
{
    struct doppel_error why = {0};
    enum doppel_status status = lost ? DOPPEL_E_BUSY : DOPPEL_OK;
    if (lost)
        doppel_fail(&why, status, "%s", lost);
    consumer->asked = false;
    for (;;) {
        if (status == DOPPEL_E_BUSY)
            status = wait_until_back(consumer, why.message, error);
        if (status)
            return status;
        status = redis_connect(&consumer->connection, &consumer->address,
                               consumer->options->password, &why);
        if (!status)
            status = make_group(consumer, &why);
        if (!status)
            break;
        redis_close(&consumer->connection);
        if (status != DOPPEL_E_BUSY)
            return doppel_fail(error, status, "%s", why.message);
    }
    consumer->has_own = true;
    return DOPPEL_OK;
}

/* ---- reading ---- */

enum doppel_status group_ask_new(struct stream_consumer *consumer, uint32_t block_ms,
                                 struct doppel_error *error)
{
    struct redis_connection *connection = &consumer->connection;
    redis_begin(&connection->out, block_ms ? 11 : 9);
    redis_word(&connection->out, "XREADGROUP");
    redis_word(&connection->out, "GROUP");
    redis_word(&connection->out, consumer->options->group);
    redis_word(&connection->out, consumer->options->consumer);
    redis_word(&connection->out, "COUNT");
    redis_number(&connection->out, consumer->options->batch);
    if (block_ms) {
        redis_word(&connection->out, "BLOCK");
        redis_number(&connection->out, block_ms);
    }
    redis_word(&connection->out, "STREAMS");
    redis_word(&connection->out, consumer->address.key);
    redis_word(&connection->out, ">");
    enum doppel_status status = redis_send(connection, error);
    consumer->asked = !status;
    return status;
}

enum doppel_status group_take_new(struct stream_consumer *consumer, struct doppel_error *error)
{
    redisReply *reply = NULL;
    consumer->asked = false;
    enum doppel_status status = redis_answer(&consumer->connection, &reply, error);
    if (status)
        return status;
    consumer->away = (struct backoff){0};
    if (messages_of_stream(reply))
        consumer->next = reply;
    else
        freeReplyObject(reply);
    return DOPPEL_OK;
}

enum doppel_status group_answer(struct stream_consumer *consumer, redisReply **out,
                                struct doppel_error *error)
{
    enum doppel_status status = consumer->asked ? group_take_new(consumer, error) : DOPPEL_OK;
    return status ? status : redis_answer(&consumer->connection, out, error);
}

/* ---- holding ---- */

static void begin_claim(struct stream_consumer *consumer, const struct stream_message *messages,
                        size_t count, size_t options)
{
    struct redis_connection *connection = &consumer->connection;
    redis_begin(&connection->out, 5 + count + options);
    redis_word(&connection->out, "XCLAIM");
    redis_word(&connection->out, consumer->address.key);
    redis_word(&connection->out, consumer->options->group);
    redis_word(&connection->out, consumer->options->consumer);
    redis_word(&connection->out, "0");
    for (size_t i = 0; i < count; i++)
        redis_word(&connection->out, messages[i].id);
}

enum doppel_status group_hold(struct stream_consumer *consumer,
                              const struct stream_message *messages, size_t count,
                              struct doppel_error *error)
{
    redisReply *reply = NULL;
    begin_claim(consumer, messages, count, 1);
    redis_word(&consumer->connection.out, "JUSTID");
    enum doppel_status status = redis_send(&consumer->connection, error);
    if (!status)
        status = group_answer(consumer, &reply, error);
    if (reply)
        freeReplyObject(reply);
    return status;
}

void group_give_back(struct stream_consumer *consumer, const struct stream_message *messages,
                     size_t count)
{
    static const char long_ago_ms[] = "1000000000";
    redisReply *reply = NULL;
    if (!count || consumer->connection.fd < 0)
        return;
    begin_claim(consumer, messages, count, 5);
    redis_word(&consumer->connection.out, "IDLE");
    redis_word(&consumer->connection.out, long_ago_ms);
    redis_word(&consumer->connection.out, "RETRYCOUNT");
    redis_word(&consumer->connection.out, "0");
    redis_word(&consumer->connection.out, "JUSTID");
    if (!redis_send(&consumer->connection, NULL) && !group_answer(consumer, &reply, NULL))
        freeReplyObject(reply);
}

/* ---- counting ---- */

/* The value of a name in a list of names and values; NULL: it has none */
static const redisReply *named_value(const redisReply *list, const char *name)
{
    for (size_t i = 0; list->type == REDIS_REPLY_ARRAY && i + 1 < list->elements; i += 2)
        if (list->element[i]->str && strcmp(list->element[i]->str, name) == 0)
            return list->element[i + 1];
    return NULL;
}

static uint64_t count_of(const redisReply *group, const char *name)
{
    const redisReply *value = named_value(group, name);
    return value && value->type == REDIS_REPLY_INTEGER && value->integer > 0
               ? (uint64_t)value->integer
               : 0;
}

enum doppel_status group_count(struct stream_consumer *consumer, struct doppel_error *error)
{
    redisReply *groups = NULL;
    redis_begin(&consumer->connection.out, 3);
    redis_word(&consumer->connection.out, "XINFO");
    redis_word(&consumer->connection.out, "GROUPS");
    redis_word(&consumer->connection.out, consumer->address.key);
    enum doppel_status status = redis_send(&consumer->connection, error);
    if (!status)
        status = group_answer(consumer, &groups, error);
    if (status)
        return status;
    for (size_t i = 0; groups->type == REDIS_REPLY_ARRAY && i < groups->elements; i++) {
        const redisReply *name = named_value(groups->element[i], "name");
        if (!name || !name->str || strcmp(name->str, consumer->options->group) != 0)
            continue;
        consumer->counts.lag = count_of(groups->element[i], "lag");
        consumer->counts.pending = count_of(groups->element[i], "pending");
    }
    freeReplyObject(groups);
    return DOPPEL_OK;
}
