/* Messages that were read and not answered, by a consumer that died or by this one.
 *
 * A message that kills its reader would do so again, together with all that is read beside it. So
 * messages that were read once are read again in small groups, those that were read twice alone,
 * and those that were read as often as `tries` allows are quarantined. */
#include "stream/redis/consumer.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/try.h"

enum { PENDING_AT_ONCE = 100 };

typedef enum doppel_status message_decider(struct stream_consumer *consumer,
                                           const struct stream_messages *messages,
                                           struct doppel_error *error);

struct retrying {
    struct stream_consumer *consumer;
    uint64_t least_idle_ms;
    message_decider *decide;
    size_t retried;
};

static enum doppel_status list_pending(struct stream_consumer *consumer, bool own,
                                       uint64_t least_idle_ms, redisReply **out,
                                       struct doppel_error *error)
{
    struct redis_connection *connection = &consumer->connection;
    group_command(consumer, own ? 7 : 8);
    redis_word(&connection->out, "XPENDING");
    redis_word(&connection->out, consumer->address.key);
    redis_word(&connection->out, consumer->options->group);
    if (!own) {
        redis_word(&connection->out, "IDLE");
        redis_number(&connection->out, least_idle_ms);
    }
    redis_word(&connection->out, "-");
    redis_word(&connection->out, "+");
    redis_number(&connection->out, PENDING_AT_ONCE);
    if (own)
        redis_word(&connection->out, consumer->options->consumer);
    return redis_ask(connection, out, error);
}

/* Claim some for this consumer, unless another one was faster. @param out given (freeReplyObject)
 */
static enum doppel_status claim_messages(struct retrying *retrying, redisReply *const *pending,
                                         size_t count, redisReply **out, struct doppel_error *error)
{
    struct redis_connection *connection = &retrying->consumer->connection;
    group_command(retrying->consumer, 5 + count);
    redis_word(&connection->out, "XCLAIM");
    redis_word(&connection->out, retrying->consumer->address.key);
    redis_word(&connection->out, retrying->consumer->options->group);
    redis_word(&connection->out, retrying->consumer->options->consumer);
    redis_number(&connection->out, retrying->least_idle_ms);
    for (size_t i = 0; i < count; i++)
        redis_word(&connection->out, pending[i]->element[0]->str);
    return redis_ask(connection, out, error);
}

static enum doppel_status quarantine_messages(struct stream_consumer *consumer,
                                              const struct stream_messages *messages,
                                              long long tries, struct doppel_error *error)
{
    char reason[64];
    snprintf(reason, sizeof reason, "read %lld times, and never answered", tries);
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < messages->count && !status; i++)
        status = answers_add(consumer, &messages->items[i], reason, true, error);
    if (!status)
        status = answers_send(consumer, error);
    if (!status)
        consumer->counts.quarantined += messages->count;
    return status;
}

static enum doppel_status retry_some(struct retrying *retrying, redisReply *const *pending,
                                     size_t count, struct doppel_error *error)
{
    struct stream_consumer *consumer = retrying->consumer;
    const long long tries = pending[0]->element[3]->integer;
    redisReply *reply = NULL;
    struct stream_messages messages = {0};
    enum doppel_status status;
    TRY(claim_messages(retrying, pending, count, &reply, error));
    if (!messages_add(&messages, reply))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for messages"));
    retrying->retried += messages.count;
    if (messages.count && tries >= consumer->options->tries)
        TRY(quarantine_messages(consumer, &messages, tries, error));
    else if (messages.count)
        TRY(retrying->decide(consumer, &messages, error));
done:
    array_free(&messages);
    answers_clear(consumer);
    if (reply)
        freeReplyObject(reply);
    return status;
}

static bool is_pending_entry(const redisReply *entry)
{
    return entry->type == REDIS_REPLY_ARRAY && entry->elements == 4 && entry->element[0]->str &&
           entry->element[3]->type == REDIS_REPLY_INTEGER;
}

/* Neighbours that were read once are retried together. */
static enum doppel_status retry_page(struct retrying *retrying, const redisReply *pending,
                                     struct doppel_error *error)
{
    const size_t all = pending->type == REDIS_REPLY_ARRAY ? pending->elements : 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0, count; i < all && !status; i += count) {
        for (count = 0; i + count < all && is_pending_entry(pending->element[i + count]) &&
                        pending->element[i + count]->element[3]->integer <= 1;)
            count++;
        if (!count && !is_pending_entry(pending->element[i]))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis: an answer of another form");
        if (!count)
            count = 1;
        status = retry_some(retrying, pending->element + i, count, error);
    }
    return status;
}

enum doppel_status retry_pending(struct stream_consumer *consumer, bool own,
                                 message_decider *decide, struct doppel_error *error)
{
    struct retrying retrying = {consumer, own ? 0 : consumer->options->claim_after_ms, decide, 0};
    enum doppel_status status;
    do {
        redisReply *pending = NULL;
        retrying.retried = 0;
        status = list_pending(consumer, own, retrying.least_idle_ms, &pending, error);
        if (!status)
            status = retry_page(&retrying, pending, error);
        if (pending)
            freeReplyObject(pending);
    } while (!status && retrying.retried && !doppel_run_cancelled(consumer->connection.run));
    return status;
}
