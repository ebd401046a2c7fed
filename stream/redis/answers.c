/* Writing decisions to Redis. A script writes a decision and acknowledges its message in one step,
 * and only if the message still waits: so it has one decision, even if another consumer read it,
 * too.
 */
#include "stream/redis/consumer.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

/* KEYS: the stream, and that of decisions; ARGV: the group, then ids and decisions in turn. */
static const char answer_script[] =
    "for i = 2, #ARGV, 2 do"
    " if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1) == 1 then"
    " redis.call('XADD', KEYS[2], '*', 'message', ARGV[i], 'decision', ARGV[i + 1])"
    " redis.call('XACK', KEYS[1], ARGV[1], ARGV[i])"
    " end end return 'OK'";

/* KEYS: the stream, and that of quarantined messages; ARGV: the group, the id, then names and
 * values. */
static const char quarantine_script[] =
    "if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1) == 1 then"
    " redis.call('XADD', KEYS[2], '*', unpack(ARGV, 3))"
    " redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])"
    " end return 'OK'";

enum { MOST_QUARANTINED_FIELDS = 500 }; /* as Lua's stack has room for */

enum doppel_status answers_add(struct stream_consumer *consumer,
                               const struct stream_message *message, const char *text,
                               bool quarantined, struct doppel_error *error)
{
    const struct stream_answer answer = {*message, strdup(text), quarantined};
    if (answer.text && array_push(&consumer->answers, answer))
        return DOPPEL_OK;
    free(answer.text);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer");
}

void answers_clear(struct stream_consumer *consumer)
{
    for (size_t i = 0; i < consumer->answers.count; i++)
        free(consumer->answers.items[i].text);
    consumer->answers.count = 0;
}

static void begin_script(struct stream_consumer *consumer, const char *script, const char *key,
                         size_t arguments)
{
    struct redis_connection *connection = &consumer->connection;
    group_command(consumer, 6 + arguments);
    redis_word(&connection->out, "EVAL");
    redis_word(&connection->out, script);
    redis_word(&connection->out, "2");
    redis_word(&connection->out, consumer->address.key);
    redis_word(&connection->out, key);
    redis_word(&connection->out, consumer->options->group);
}

static void put_quarantined(struct stream_consumer *consumer, const struct stream_answer *answer)
{
    struct redis_connection *connection = &consumer->connection;
    const redisReply *fields = answer->message.fields;
    const size_t words =
        fields->elements < MOST_QUARANTINED_FIELDS ? fields->elements : MOST_QUARANTINED_FIELDS;
    begin_script(consumer, quarantine_script, consumer->quarantine, 5 + words);
    redis_word(&connection->out, answer->message.id);
    redis_word(&connection->out, "message");
    redis_word(&connection->out, answer->message.id);
    redis_word(&connection->out, "reason");
    redis_word(&connection->out, answer->text);
    for (size_t i = 0; i < words; i++)
        redis_bytes(&connection->out, fields->element[i]->str, fields->element[i]->len);
}

static void put_acknowledged(struct stream_consumer *consumer, size_t decided)
{
    struct redis_connection *connection = &consumer->connection;
    group_command(consumer, 3 + decided);
    redis_word(&connection->out, "XACK");
    redis_word(&connection->out, consumer->address.key);
    redis_word(&connection->out, consumer->options->group);
}

/* @return how many commands were added */
static size_t put_answers(struct stream_consumer *consumer)
{
    const char *to = consumer->options->to;
    size_t decided = 0, commands = 0;
    for (size_t i = 0; i < consumer->answers.count; i++)
        decided += !consumer->answers.items[i].quarantined;
    if (decided && to)
        begin_script(consumer, answer_script, to, 2 * decided);
    else if (decided)
        put_acknowledged(consumer, decided);
    for (size_t i = 0; i < consumer->answers.count; i++) {
        const struct stream_answer *answer = &consumer->answers.items[i];
        if (answer->quarantined)
            continue;
        redis_word(&consumer->connection.out, answer->message.id);
        if (to)
            redis_word(&consumer->connection.out, answer->text);
    }
    for (size_t i = 0; i < consumer->answers.count; i++)
        if (consumer->answers.items[i].quarantined) {
            put_quarantined(consumer, &consumer->answers.items[i]);
            commands++;
        }
    return commands + (decided != 0);
}

static enum doppel_status try_answers(struct stream_consumer *consumer, struct doppel_error *error)
{
    size_t commands = put_answers(consumer);
    enum doppel_status status = redis_send(&consumer->connection, error);
    for (; commands && !status; commands--) {
        redisReply *reply = NULL;
        status = group_answer(consumer, &reply, error);
        if (reply)
            freeReplyObject(reply);
    }
    return status;
}

enum doppel_status answers_send(struct stream_consumer *consumer, struct doppel_error *error)
{
    struct doppel_error why = {0};
    enum doppel_status status;
    for (;;) {
        status = try_answers(consumer, &why);
        if (status == DOPPEL_E_NOT_FOUND) /* a new group has all messages waiting again */
            status = DOPPEL_E_BUSY;
        if (status != DOPPEL_E_BUSY)
            break;
        status = group_connect(consumer, why.message, error);
        if (status)
            return status;
    }
    if (status)
        return doppel_fail(error, status, "%s", why.message);
    group_is_there(consumer);
    answers_clear(consumer);
    return DOPPEL_OK;
}
