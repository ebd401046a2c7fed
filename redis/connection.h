/* A connection to Redis: commands are buffered, sent together, and answered in order. */
#ifndef DOPPEL_REDIS_CONNECTION_H
#define DOPPEL_REDIS_CONNECTION_H

#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include <doppel/json_writer.h>
#include <doppel/run.h>

#include "redis/address.h"
#include "redis/reader.h"
#include "redis/tls.h"

struct redis_connection {
    struct doppel_run *run;
    uint32_t answer_ms; /* for an answer, and for connecting; 0: 30 s, and 5 s for connecting */
    const struct redis_tls *tls;        /* whom to trust, for addresses with TLS; borrowed */
    int fd;                             /* -1: there is none */
    struct gnutls_session_int *session; /* of TLS; NULL: none */
    char first[8];                      /* that came, `first_size` of them */
    size_t first_size;
    redisReader *reader;
    struct redis_limits limits; /* of the reader: so a connection stays where it is */
    struct doppel_json out;     /* bytes that are to be sent */
    bool away;                  /* the last failure is one that may pass: try again later */
    bool asking;     /* until it is closed, before each command; its answers are skipped */
    char *moved;     /* HOST:PORT of the node of a cluster that the last answer named; NULL: none */
    bool moved_asks; /* that node wants ASKING */
};

/* Connect and log in. @param password NULL: none. DOPPEL_OK; DOPPEL_E_BUSY: try again
 * later; DOPPEL_E_ARGUMENT: it is refused, or the peer is no Redis; DOPPEL_E_CANCELLED;
 * DOPPEL_E_MEMORY */
enum doppel_status redis_connect(struct redis_connection *connection,
                                 const struct redis_address *address, const char *password,
                                 struct doppel_error *error);
/* Whether a server that has closed the connection without any answer is one of HTTP; it is closed
 * then, too. */
bool redis_closes_as_http(struct redis_connection *connection, const struct redis_address *address);
/* Also where there is none. */
void redis_close(struct redis_connection *connection);
/* The same, and free all that it holds. */
void redis_end(struct redis_connection *connection);

/* Begin a command of so many words, and add them. */
void redis_begin(struct doppel_json *out, size_t words);
void redis_bytes(struct doppel_json *out, const char *bytes, size_t size);
void redis_word(struct doppel_json *out, const char *word);
void redis_number(struct doppel_json *out, uint64_t number);

/* Send what was added. DOPPEL_OK; DOPPEL_E_BUSY: the connection is lost; DOPPEL_E_MEMORY */
enum doppel_status redis_send(struct redis_connection *connection, struct doppel_error *error);

/* Wait for the next answer. @param out given (freeReplyObject); errors of Redis are answers, too
 * (REDIS_REPLY_ERROR). DOPPEL_OK; DOPPEL_E_BUSY: the connection is lost, or there was no answer
 * within `answer_ms`: close it then, as the answer may still come; DOPPEL_E_ARGUMENT: the peer does
 * not speak Redis' protocol, or its answer is too long (redis/reader.h); DOPPEL_E_MEMORY */
enum doppel_status redis_reply(struct redis_connection *connection, redisReply **out,
                               struct doppel_error *error);

/* Wait for the next answer, also when the run is cancelled: so it is known what Redis did.
 * @param out given (freeReplyObject). DOPPEL_OK; of an answer that is an error: DOPPEL_E_BUSY: it
 * may be better later, or elsewhere (`moved`), DOPPEL_E_NOT_FOUND: there is no such group,
 * DOPPEL_E_ARGUMENT: it is refused; else DOPPEL_E_BUSY: the connection is lost */
enum doppel_status redis_answer(struct redis_connection *connection, redisReply **out,
                                struct doppel_error *error);

/* Send, and wait for one answer. @param out may be NULL */
enum doppel_status redis_ask(struct redis_connection *connection, redisReply **out,
                             struct doppel_error *error);

#endif
