/* A request and what is answered. */
#ifndef DOPPEL_SERVE_EXCHANGE_H
#define DOPPEL_SERVE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <doppel/core.h>
#include <doppel/json_writer.h>

#include "core/array.h"
#include "serve/large_buffer.h"

struct service;
struct exchange;
struct route;

enum {
    HTTP_OK = 200,
    HTTP_CREATED = 201,
    HTTP_ACCEPTED = 202,
    HTTP_NO_CONTENT = 204,
    HTTP_BAD_REQUEST = 400,
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_NOT_ALLOWED = 405,
    HTTP_CONFLICT = 409,
    HTTP_TOO_LARGE = 413,
    HTTP_UNKNOWN_TYPE = 415,
    HTTP_UNPROCESSABLE = 422,
    HTTP_TOO_MANY = 429,
    HTTP_FAILED = 500,
    HTTP_UNAVAILABLE = 503,
    HTTP_NO_SPACE = 507
};

/* A part of a form: a file, or the value of a field. */
struct form_part {
    char *field, *filename; /* given; filename NULL: it is no file */
    struct large_buffer content;
};

/* BODY_FIELDS: values of a form, without files. */
enum body_form { BODY_FILE, BODY_JSON, BODY_LINES, BODY_FORM, BODY_FIELDS };

/* Lines that are answered as they come, part by part. */
struct line_parts {
    bool wanted;         /* else a body is answered when all of it is there */
    bool whole;          /* the part at hand is, and more of the body may follow */
    bool given;          /* to be answered; or it was */
    bool begun;          /* it has more than blanks */
    bool records;        /* lines are records of text, as those of the first part are */
    uint64_t count;      /* of its lines */
    uint64_t line_bytes; /* of the line that has not ended */
    uint64_t before;     /* lines that came before it */
};

/* What a client is, and may: of a key, or of everybody. */
enum right { RIGHT_NONE, RIGHT_READ, RIGHT_WRITE, RIGHT_ADMIN };

struct client {
    const char *name; /* of its key; NULL: there are no keys */
    enum right right;
};

/* A reply that comes by and by. */
struct reply_stream {
    /* Some bytes at `out`; -1: that was all. 0: none yet, and the connection is suspended. */
    ssize_t (*read)(void *context, uint64_t position, char *out, size_t most);
    void (*free)(void *context);
    void *context;
};

struct exchange {
    /* the request */
    struct service *service;
    const struct route *route;
    void *connection;         /* of libmicrohttpd */
    const char *method, *url; /* without what follows '?'; borrowed */
    const char *rest;         /* of the url, from where its route has a '*' */
    struct client client;
    enum body_form form;
    struct large_buffer body;
    uint64_t body_bytes;     /* that came, of all of its parts */
    uint64_t unread_bytes;   /* of these, after it was refused */
    int64_t unread_until_ms; /* it was answered early, and is read until then; 0: it was not */
    struct line_parts line_parts;
    ARRAY(struct form_part) parts;
    void *form_reader;       /* of libmicrohttpd */
    bool arrived;            /* all of it is there */
    bool at_desk;            /* its handler may wait */
    const char *request_key; /* Idempotency-Key, which it holds (request_key.h); NULL: none */

    /* what is answered */
    unsigned status;  /* 0: nothing yet */
    const char *type; /* NULL: application/json */
    struct doppel_json json;
    const char *fixed; /* in place of `json`: bytes that stay; NULL: none */
    size_t fixed_size;
    struct reply_stream stream; /* in place of `json`, if it has a `read` */
    struct large_buffer lines;  /* in place of both, if it has any: NDJSON */
    unsigned retry_after;       /* seconds; 0: it is not said */
    bool cached;                /* its client may keep it for some minutes */
    const char *policy;         /* of a page: Content-Security-Policy; NULL: it is none */
    char allow[64];             /* methods, of a 405 */
    char location[64];          /* of what was made; "": it is not said */

    int64_t begun_ns;
    struct exchange *next; /* in a queue */
};

/* ---- what was asked ---- */

/* What follows '?', by its name; NULL: it is not there. "": it has no value. Borrowed. */
const char *exchange_argument(const struct exchange *exchange, const char *name);
const char *exchange_header(const struct exchange *exchange, const char *name);

/* Whether something is wanted: its name is there, and not as 0 or false. */
bool exchange_wants(const struct exchange *exchange, const char *name);

/* ---- answering ---- */

/* What is in the way, as a problem object (RFC 9457) whose detail is a sentence. */
void exchange_problem(struct exchange *exchange, unsigned status, const char *format, ...)
    DOPPEL_PRINTF(3, 4);

/* A sentence for the client, who need not know where the library lies: without its path. */
enum { SENTENCE_BYTES = 512 };
void exchange_sentence(const struct exchange *exchange, const char *sentence,
                       char out[static SENTENCE_BYTES]);

/* The same of a call that failed, with the status that it deserves. */
void exchange_fail(struct exchange *exchange, const struct doppel_error *error);

/* "Not Found"; static storage. */
const char *http_status_title(unsigned status);

/* The status of HTTP for one of doppel. */
unsigned http_status_of(const struct doppel_error *error);

#endif
