/* A consumer of a group of a Redis stream, from the inside. */
#ifndef DOPPEL_STREAM_REDIS_CONSUMER_H
#define DOPPEL_STREAM_REDIS_CONSUMER_H

#include <doppel/stream.h>

#include "stream/pause.h"
#include "core/array.h"
#include "decide/record_line.h"
#include "redis/connection.h"

/* Borrowed from an answer of Redis. */
struct stream_message {
    const char *id;           /* "1700000000000-0" */
    const redisReply *fields; /* names and values, in turn */
};

/* What is to be written about a message. */
struct stream_answer {
    struct stream_message message;
    char *text; /* the decision in JSON, or why it is quarantined; given (free) */
    bool quarantined;
};

struct stream_consumer {
    struct redis_connection connection;
    struct redis_address address;
    struct redis_address node; /* where it lies in a cluster: the user and key are the address' */
    unsigned moves;            /* that nodes have asked for since one has answered */
    struct redis_tls *tls;     /* NULL: none */
    const struct doppel_stream_options *options;
    struct doppel_decider *decider;
    struct doppel_stream_counts counts;
    struct record_lines *lines;
    struct doppel_json line; /* of the message at hand */
    char *quarantine;        /* the key of the stream for quarantined messages */

    redisReply *next; /* messages that were read ahead; NULL: none */
    bool checked;     /* that its keys are streams, or free */
    bool asked;       /* for more: the next answer has them */
    ARRAY(struct stream_answer) answers;

    bool has_own;        /* messages that it read earlier may wait for their answers */
    struct backoff away; /* before it connects again */
    int64_t claim_at_ms; /* when to look for messages of dead consumers */
    int64_t lag_at_ms;   /* when to look how many wait */
    uint64_t total;      /* messages that are decided about, and that waited then */
};

/* ---- group.c ---- */

/* Connect, and create the group if it is missing. As redis_connect, but on DOPPEL_E_BUSY it waits
 * and tries again. @param why the connection was lost; NULL: this is the first one */
enum doppel_status group_connect(struct stream_consumer *consumer, const char *why,
                                 struct doppel_error *error);

/* Begin a command of so many words. */
void group_command(struct stream_consumer *consumer, size_t words);
/* It has answered: the next failure is a new one. */
void group_is_there(struct stream_consumer *consumer);

/* Ask for messages that no consumer has read. @param block_ms to wait for them; 0: not at all */
enum doppel_status group_ask_new(struct stream_consumer *consumer, uint32_t block_ms,
                                 struct doppel_error *error);
/* The answer to that, into `next`. */
enum doppel_status group_take_new(struct stream_consumer *consumer, struct doppel_error *error);

/* Claim messages again, so that no other consumer takes them over. */
enum doppel_status group_hold(struct stream_consumer *consumer,
                              const struct stream_message *messages, size_t count,
                              struct doppel_error *error);
/* Give messages back, as if they had never been read. */
void group_give_back(struct stream_consumer *consumer, const struct stream_message *messages,
                     size_t count);

/* Set `lag` and `pending` of the counts. */
enum doppel_status group_count(struct stream_consumer *consumer, struct doppel_error *error);

/* The next answer; if messages come before it, they go into `next`. */
enum doppel_status group_answer(struct stream_consumer *consumer, redisReply **out,
                                struct doppel_error *error);

/* ---- messages.c ---- */

/* As ARRAY has it. */
struct stream_messages {
    struct stream_message *items;
    size_t count, capacity;
};

/* Add the messages of a list of them, as XRANGE has it. @return false: no memory */
bool messages_add(struct stream_messages *messages, const redisReply *list);

/* Those of an answer to XREADGROUP; NULL: none */
const redisReply *messages_of_stream(const redisReply *reply);

/* A message as the line of a record: its field `json`, or all fields as an object.
 * DOPPEL_OK; DOPPEL_E_FORMAT; DOPPEL_E_MEMORY */
enum doppel_status message_line(const struct stream_message *message, struct doppel_json *line,
                                const char **out, size_t *out_size, struct doppel_error *error);

/* ---- answers.c ---- */

/* @param text copied */
enum doppel_status answers_add(struct stream_consumer *consumer,
                               const struct stream_message *message, const char *text,
                               bool quarantined, struct doppel_error *error);
/* Write all of them into Redis, and acknowledge their messages, until that is done; there are none
 * then. What another consumer has answered is left out. */
enum doppel_status answers_send(struct stream_consumer *consumer, struct doppel_error *error);
void answers_clear(struct stream_consumer *consumer);

/* ---- retry.c ---- */

/* Messages that were read before and not answered. @param own those of this consumer's name,
 * however long ago; else all that nobody has held for long. @param decide is given some, by one
 * reply */
enum doppel_status retry_pending(
    struct stream_consumer *consumer, bool own,
    enum doppel_status (*decide)(struct stream_consumer *consumer,
                                 const struct stream_messages *messages,
                                 struct doppel_error *error),
    struct doppel_error *error);

#endif
