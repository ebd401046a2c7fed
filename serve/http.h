/* HTTP/1.1 by libmicrohttpd: requests come in and go to the handler of their route, whole, or,
 * where it answers lines, part by part (body.h); replies go out. Some threads wait for all
 * connections; what takes time is done elsewhere (desk.h), and its connection waits meanwhile
 * without a thread.
 */
#ifndef DOPPEL_SERVE_HTTP_H
#define DOPPEL_SERVE_HTTP_H

#include "serve/exchange.h"

struct http;

struct http_options {
    struct service *service;
    int socket; /* that listens; stays the caller's */
    uint32_t threads;
    const char *certificate, *key; /* PEM itself; NULL: no TLS */
};

/* @param options copied. @param out given (http_stop) */
enum doppel_status http_start(const struct http_options *options, struct http **out,
                              struct doppel_error *error);

/* How many requests are not answered yet. Thread-safe. */
size_t http_in_flight(struct http *http);

/* No more connections than those that wait to be accepted. */
void http_refuse(struct http *http);

/* So long, at most, is waited for requests: for those that are there, and for those of which some
 * is still to come. */
struct http_patience {
    unsigned answered_s, arriving_s;
};

/* Wait until what runs is answered; connections that were accepted, and have asked nothing yet,
 * have a second to begin. */
void http_drain(struct http *http, struct http_patience patience);
void http_stop(struct http *http);

/* Within reply_stream's `read`: the connection waits, without a thread, for http_resume. */
void http_suspend(struct exchange *exchange);

/* A request that was handed on is answered: its connection goes on. From any thread. */
void http_resume(struct exchange *exchange);

#endif
