/* A consumer group: connecting, reading, holding, counting. */
#include "stream/redis/consumer.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "stream/pause.h"

enum { MOST_MOVES = 8 };

/* ---- connecting ---- */

void group_command(struct stream_consumer *consumer, size_t words)
{
    struct doppel_json *out = &consumer->connection.out;
    if (consumer->connection.asking) {
        redis_begin(out, 1);
        redis_word(out, "ASKING");
    }
    redis_begin(out, words);
}

/* What the keys hold: "stream", "none", or what another command has put there. */
static const char types_script[] =
    "local types = {} for i = 1, #KEYS do types[i] = redis.call('TYPE', KEYS[i]).ok end "
    "return types";

enum { KEYS = 3 };

static enum doppel_status judge_types(const char *const keys[KEYS], const redisReply *types,
                                      struct doppel_error *error)
{
    for (size_t i = 0; types->type == REDIS_REPLY_ARRAY && i < types->elements && i < KEYS; i++) {
        const char *type = types->element[i]->str;
        if (type && strcmp(type, "stream") != 0 && strcmp(type, "none") != 0)
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis: '%s' is no stream, but a %s",
                               keys[i], type);
    }
    return DOPPEL_OK;
}

/* Before the first message: where it is to be answered. The script needs all keys in one slot, as
 * those do that write answers. */
static enum doppel_status check_stream_keys(struct stream_consumer *consumer,
                                            struct doppel_error *error)
{
    const char *const keys[KEYS] = {consumer->address.key, consumer->quarantine,
                                    consumer->options->to};
    const size_t count = keys[KEYS - 1] ? KEYS : KEYS - 1;
    struct redis_connection *connection = &consumer->connection;
    struct doppel_error why = {0};
    redisReply *types = NULL;
    group_command(consumer, 3 + count);
    redis_word(&connection->out, "EVAL");
    redis_word(&connection->out, types_script);
    redis_number(&connection->out, count);
    for (size_t i = 0; i < count; i++)
        redis_word(&connection->out, keys[i]);
    enum doppel_status status = redis_ask(connection, &types, &why);
    if (status && strstr(why.message, "CROSSSLOT "))
        return doppel_fail(error, status,
                           "Redis: '%s', '%s' and '%s' lie in several slots of the cluster: give "
                           "all of them the same {TAG}",
                           keys[0], keys[1], count == KEYS ? keys[2] : keys[1]);
    if (status)
        return doppel_fail(error, status, "%s", why.message);
    status = judge_types(keys, types, error);
    consumer->checked = !status;
    freeReplyObject(types);
    return status;
}

static enum doppel_status make_group(struct stream_consumer *consumer, struct doppel_error *error)
{
    struct redis_connection *connection = &consumer->connection;
    struct doppel_error why = {0};
    group_command(consumer, 6);
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

/* The node of a cluster that the last answer named. A cluster that is being changed may send us
 * to and fro for a while. */
static enum doppel_status go_to_node(struct stream_consumer *consumer, bool *out_asks,
                                     struct doppel_error *error)
{
    struct redis_connection *connection = &consumer->connection;
    const char *to = connection->moved;
    *out_asks = to && connection->moved_asks;
    consumer->moves++;
    enum doppel_status status = redis_address_move(&consumer->node, to, error);
    if (!status && !*out_asks && !consumer->away.pause_ms)
        doppel_run_notice(connection->run, "the stream lies at %s:%s of the cluster",
                          consumer->node.host, consumer->node.port);
    return status;
}

/* Begin again with the node that was named by the user. */
static enum doppel_status go_to_first(struct stream_consumer *consumer, struct doppel_error *error)
{
    struct redis_address node = consumer->address;
    node.host = strdup(node.host);
    node.port = strdup(node.port);
    free(consumer->node.host);
    free(consumer->node.port);
    consumer->node = node;
    consumer->moves = 0;
    return node.host && node.port ? DOPPEL_OK
                                  : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an address");
}

/* After a failure that may pass. */
static enum doppel_status find_node(struct stream_consumer *consumer, const char *why,
                                    bool *out_asks, struct doppel_error *error)
{
    *out_asks = false;
    if (consumer->connection.moved && consumer->moves < MOST_MOVES)
        return go_to_node(consumer, out_asks, error);
    enum doppel_status status = wait_until_back(consumer, why, error);
    return status ? status : go_to_first(consumer, error);
}

static enum doppel_status try_node(struct stream_consumer *consumer, bool asks,
                                   struct doppel_error *error)
{
    struct redis_connection *connection = &consumer->connection;
    enum doppel_status status;
    TRY(redis_connect(connection, &consumer->node, consumer->options->password, error));
    connection->asking = asks;
    if (!consumer->checked)
        TRY(check_stream_keys(consumer, error));
    TRY(make_group(consumer, error));
done:
    if (status == DOPPEL_E_BUSY && redis_closes_as_http(connection, &consumer->node))
        status = doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "Redis at %s:%s: it speaks HTTP, and not Redis' protocol",
                             consumer->node.host, consumer->node.port);
    if (status)
        redis_close(connection);
    return status;
}

enum doppel_status group_connect(struct stream_consumer *consumer, const char *lost,
                                 struct doppel_error *error)
{
    bool asks = false;
    enum doppel_status status =
        lost ? find_node(consumer, lost, &asks, error) : go_to_first(consumer, error);
    consumer->asked = false;
    while (!status) {
        struct doppel_error why = {0};
        const enum doppel_status tried = try_node(consumer, asks, &why);
        if (!tried)
            break;
        if (tried != DOPPEL_E_BUSY)
            return doppel_fail(error, tried, "%s", why.message);
        status = find_node(consumer, why.message, &asks, error);
    }
    consumer->has_own = !status;
    return status;
}

void group_is_there(struct stream_consumer *consumer)
{
    consumer->away = (struct backoff){0};
    consumer->moves = 0;
}

/* ---- reading ---- */

enum doppel_status group_ask_new(struct stream_consumer *consumer, uint32_t block_ms,
                                 struct doppel_error *error)
{
    struct redis_connection *connection = &consumer->connection;
    group_command(consumer, block_ms ? 11 : 9);
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
    group_is_there(consumer);
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
    group_command(consumer, 5 + count + options);
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
    group_command(consumer, 3);
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
