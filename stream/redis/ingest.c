/* Deciding about the messages of a consumer group in batches: while one is decided, the next is
 * read. */
#include "core/clock.h"
#include "stream/redis/ingest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "stream/pause.h"
#include "stream/redis/consumer.h"

enum {
    BLOCK_MS = 500,
    LAG_EVERY_MS = 1000,
    CLAIM_MOST_MS = 30000,
    CLAIM_LEAST_MS = 500,
    HOLD_PARTS = 3 /* of the time after which others claim */
};

static const char stream_unit[] = "messages";

/* ---- a batch ---- */

/* A text or code without an id gets one made of the key and the message: it is the same in another
 * try. */
static enum doppel_status push_message(struct stream_consumer *consumer,
                                       const struct stream_message *message,
                                       struct doppel_error *error)
{
    const char *line;
    size_t size;
    char *id = NULL;
    enum doppel_status status;
    TRY(message_line(message, &consumer->line, &line, &size, error));
    if (asprintf(&id, "%s/%s", consumer->address.key, message->id) < 0) {
        id = NULL;
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an id"));
    }
    TRY(record_lines_push(consumer->lines, consumer->decider, line, size, id, error));
done:
    free(id);
    return status;
}

/* @param out those that were pushed; the others are quarantined */
static enum doppel_status push_messages(struct stream_consumer *consumer,
                                        const struct stream_messages *messages,
                                        struct stream_messages *out, struct doppel_error *error)
{
    for (size_t i = 0; i < messages->count; i++) {
        const struct stream_message *message = &messages->items[i];
        enum doppel_status status = push_message(consumer, message, error);
        if (status == DOPPEL_E_FORMAT) {
            status = answers_add(consumer, message, error->message, true, error);
            consumer->counts.quarantined += !status;
        } else if (!status && !array_push(out, *message)) {
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for messages");
        }
        if (status)
            return status;
    }
    return DOPPEL_OK;
}

static enum doppel_status answer_decision(struct stream_consumer *consumer,
                                          const struct stream_message *message,
                                          const struct doppel_decided *decided,
                                          struct doppel_error *error)
{
    struct doppel_json json = {0};
    doppel_decision_to_json(&json, decided);
    enum doppel_status status = doppel_json_status(&json, error);
    if (!status)
        status = answers_add(consumer, message, json.bytes, false, error);
    doppel_json_free(&json);
    return status;
}

static bool give_decision(struct stream_consumer *consumer, const struct doppel_decided *decided,
                          bool last)
{
    const struct doppel_stream_options *options = consumer->options;
    consumer->counts.decided++;
    consumer->counts.replayed += decided->replayed;
    return !options->on_decided || options->on_decided(options->context, decided, last);
}

/* @param out_done how many have an answer. DOPPEL_E_CANCELLED: not all of them */
static enum doppel_status pull_decisions(struct stream_consumer *consumer,
                                         const struct stream_messages *messages, size_t *out_done,
                                         struct doppel_error *error)
{
    const int64_t hold_ms = consumer->options->claim_after_ms / HOLD_PARTS;
    int64_t held_ms = monotonic_ms();
    for (*out_done = 0; *out_done < messages->count;) {
        struct doppel_decided decided = {0};
        const struct stream_message *message = &messages->items[*out_done];
        enum doppel_status status = doppel_decider_pull(consumer->decider, &decided, error);
        if (!status && !decided.is_file)
            decided.path = NULL; /* a text has neither file nor line that its sender knows */
        decided.line = 0;
        if (!status)
            status = answer_decision(consumer, message, &decided, error);
        if (status == DOPPEL_E_NOT_FOUND)
            status = doppel_fail(error, DOPPEL_E_CORRUPT, "fewer decisions than messages");
        if (status)
            return status;
        ++*out_done;
        if (!give_decision(consumer, &decided, *out_done == messages->count)) {
            answers_clear(consumer); /* who was given some of them may have read none */
            *out_done = 0;
            return doppel_fail(error, DOPPEL_E_CANCELLED, "nobody reads on");
        }
        if (monotonic_ms() - held_ms > hold_ms && consumer->connection.fd >= 0) {
            held_ms = monotonic_ms();
            if (group_hold(consumer, message + 1, messages->count - *out_done, NULL))
                redis_close(&consumer->connection); /* which the answers will notice */
        }
    }
    return DOPPEL_OK;
}

/* Decisions are answered even if a later message failed; on cancellation the rest is given back. */
static enum doppel_status decide_messages(struct stream_consumer *consumer,
                                          const struct stream_messages *messages,
                                          struct doppel_error *error)
{
    struct stream_messages pushed = {0};
    struct doppel_error why = {0};
    size_t done = 0;
    enum doppel_status sent, status = push_messages(consumer, messages, &pushed, error);
    if (!status)
        status = pull_decisions(consumer, &pushed, &done, error);
    sent = answers_send(consumer, &why);
    if (status == DOPPEL_E_CANCELLED)
        group_give_back(consumer, pushed.items + done, pushed.count - done);
    array_free(&pushed);
    return status || !sent ? status : doppel_fail(error, sent, "%s", why.message);
}

/* ---- the stream ---- */

static enum doppel_status decide_next(struct stream_consumer *consumer, struct doppel_error *error)
{
    struct stream_messages messages = {0};
    redisReply *reply = consumer->next;
    enum doppel_status status = DOPPEL_OK;
    consumer->next = NULL;
    if (!messages_add(&messages, messages_of_stream(reply)))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for messages");
    if (!status)
        status = decide_messages(consumer, &messages, error);
    answers_clear(consumer); /* they borrow from the reply */
    array_free(&messages);
    freeReplyObject(reply);
    return status;
}

/* Give back what was read ahead. */
static void give_back_next(struct stream_consumer *consumer)
{
    struct stream_messages messages = {0};
    if (consumer->asked && group_take_new(consumer, NULL))
        return;
    if (messages_add(&messages, messages_of_stream(consumer->next)))
        group_give_back(consumer, messages.items, messages.count);
    array_free(&messages);
}

static enum doppel_status retry_due(struct stream_consumer *consumer, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (consumer->has_own)
        status = retry_pending(consumer, true, decide_messages, error);
    if (status)
        return status;
    consumer->has_own = false;
    uint32_t every_ms = consumer->options->claim_after_ms / 2;
    every_ms = every_ms > CLAIM_MOST_MS ? CLAIM_MOST_MS : every_ms;
    consumer->claim_at_ms =
        monotonic_ms() + (every_ms < CLAIM_LEAST_MS ? CLAIM_LEAST_MS : every_ms);
    return retry_pending(consumer, false, decide_messages, error);
}

/* @param idle nothing waits: so that the last figures are true */
static enum doppel_status count_due(struct stream_consumer *consumer, bool idle,
                                    struct doppel_error *error)
{
    struct doppel_run *run = consumer->connection.run;
    const char *unit = doppel_run_progress_so_far(run).unit;
    if (!unit || strcmp(unit, stream_unit) != 0) /* an index was rebuilt meanwhile */
        doppel_run_begin(run, stream_unit, 0);
    const bool due = idle || monotonic_ms() >= consumer->lag_at_ms;
    enum doppel_status status = due ? group_count(consumer, error) : DOPPEL_OK;
    if (due) {
        consumer->lag_at_ms = monotonic_ms() + LAG_EVERY_MS;
        consumer->total = consumer->counts.decided + consumer->counts.lag;
    }
    if (consumer->total < consumer->counts.decided)
        consumer->total = consumer->counts.decided;
    doppel_run_set_total(run, consumer->total);
    doppel_run_advance(run, consumer->counts.decided);
    return status;
}

/* Decide about one batch, or wait half a second for one. @param out_idle nothing waits */
static enum doppel_status take_turn(struct stream_consumer *consumer, bool *out_idle,
                                    struct doppel_error *error)
{
    enum doppel_status status;
    *out_idle = false;
    if (consumer->asked) /* and nothing was to be answered meanwhile */
        TRY(group_take_new(consumer, error));
    const bool retries = consumer->has_own || monotonic_ms() >= consumer->claim_at_ms;
    if (!consumer->next && retries)
        TRY(retry_due(consumer, error));
    if (!consumer->next) {
        TRY(group_ask_new(consumer, consumer->options->drain ? 1 : BLOCK_MS, error));
        TRY(group_take_new(consumer, error));
    }
    *out_idle = !consumer->next;
    if (*out_idle) {
        TRY(doppel_decider_settle(consumer->decider, error));
    } else {
        if (!retries)
            TRY(group_ask_new(consumer, 0, error));
        TRY(decide_next(consumer, error));
    }
    TRY(count_due(consumer, *out_idle, error));
done:
    return status;
}

/* Whether connecting again may help: the connection is lost, or the group is gone. A busy library
 * is another matter. */
static bool is_redis_away(const struct stream_consumer *consumer, enum doppel_status status)
{
    return status && consumer->connection.away;
}

static enum doppel_status consume(struct stream_consumer *consumer, struct doppel_error *error)
{
    struct doppel_run *run = consumer->connection.run;
    bool idle = false;
    enum doppel_status status = group_connect(consumer, NULL, error);
    while (!status && !doppel_run_cancelled(run) && !(idle && consumer->options->drain)) {
        struct doppel_error why = {0};
        status = take_turn(consumer, &idle, &why);
        if (is_redis_away(consumer, status))
            status = group_connect(consumer, why.message, error);
        else if (status)
            doppel_fail(error, status, "%s", why.message);
    }
    if (!status || status == DOPPEL_E_CANCELLED)
        give_back_next(consumer);
    return status == DOPPEL_E_CANCELLED ? DOPPEL_OK : status;
}

/* ---- the call ---- */

static enum doppel_status check_stream_options(const struct doppel_stream_options *options,
                                               struct doppel_error *error)
{
    if (!options->group || !*options->group || !options->consumer || !*options->consumer)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a group and a consumer have names");
    if (options->batch > DOPPEL_DECIDER_MOST)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a batch has at most %d messages",
                           (int)DOPPEL_DECIDER_MOST);
    return DOPPEL_OK;
}

/* Decisions that were read as messages would be decided about without an end. */
static enum doppel_status check_decisions_key(const struct stream_consumer *consumer,
                                              struct doppel_error *error)
{
    const char *to = consumer->options->to;
    if (to && strcmp(to, consumer->address.key) == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%s' is the stream of the messages: decisions want another one (--to)",
                           to);
    if (to && strcmp(to, consumer->quarantine) == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%s' is where quarantined messages go: decisions want another stream "
                           "(--to)",
                           to);
    return DOPPEL_OK;
}

static enum doppel_status prepare_tls(struct stream_consumer *consumer, struct doppel_error *error)
{
    const char *ca_file = consumer->options->ca_file;
    if (ca_file && !consumer->address.tls)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--stream-ca' is for TLS: the address begins with rediss:// then");
    enum doppel_status status = consumer->address.tls
                                    ? redis_tls_new(ca_file, "--stream-ca", &consumer->tls, error)
                                    : DOPPEL_OK;
    consumer->connection.tls = consumer->tls;
    return status;
}

static struct doppel_stream_options with_defaults(const struct doppel_stream_options *given)
{
    struct doppel_stream_options options = *given;
    options.tries = options.tries ? options.tries : 3;
    options.batch = options.batch ? options.batch : 1000;
    options.claim_after_ms = options.claim_after_ms ? options.claim_after_ms : 60000;
    return options;
}

enum doppel_status redis_ingest(struct doppel_run *run, struct doppel_decider *decider,
                                const struct doppel_stream_options *given,
                                struct doppel_stream_counts *out_counts, struct doppel_error *error)
{
    const struct doppel_stream_options options = with_defaults(given);
    struct stream_consumer consumer = {
        .connection = {.run = run, .fd = -1}, .options = &options, .decider = decider};
    enum doppel_status status;
    TRY(check_stream_options(given, error));
    TRY(redis_address_parse(options.url, &consumer.address, error));
    if (asprintf(&consumer.quarantine, "%s:dead", consumer.address.key) < 0) {
        consumer.quarantine = NULL;
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a key"));
    }
    TRY(check_decisions_key(&consumer, error));
    TRY(prepare_tls(&consumer, error));
    TRY(record_lines_new(options.decide, &consumer.lines, error));
    doppel_run_begin(run, stream_unit, 0);
    status = consume(&consumer, error);
    doppel_run_end(run);
    if (consumer.counts.quarantined)
        doppel_run_notice(run, "%" PRIu64 " messages quarantined: read them in '%s'",
                          consumer.counts.quarantined, consumer.quarantine);
    if (out_counts)
        *out_counts = consumer.counts;
done:
    if (consumer.next)
        freeReplyObject(consumer.next);
    answers_clear(&consumer);
    array_free(&consumer.answers);
    record_lines_free(consumer.lines);
    redis_end(&consumer.connection);
    redis_tls_free(consumer.tls);
    redis_address_free(&consumer.address);
    free(consumer.node.host);
    free(consumer.node.port);
    doppel_json_free(&consumer.line);
    free(consumer.quarantine);
    return status;
}
