/* A small HTTP server for the browser of this machine: 127.0.0.1 alone, a port of its own, and a
 * secret that each address begins with. One request at a time, in the thread that runs it. */
#ifndef DOPPEL_TOOLS_SERVE_HTTP_SERVER_H
#define DOPPEL_TOOLS_SERVE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/core.h>

/* A request that had the secret, came for this server and, of a POST, from a page of it. */
struct http_request {
    const char *path; /* after the secret: "", "state", … */
    bool post;
    const char *body; /* ended by NUL; of a POST */
    size_t size;
};

/* What is answered. */
struct http_reply {
    unsigned status;
    const char *type; /* "text/html; charset=utf-8" */
    char *body;       /* given, if not borrowed; NULL: nothing */
    size_t size;
    bool borrowed; /* it stays for the life of the server */
};

/* Fill the reply, which is 404 before. */
typedef void http_handler(void *context, const struct http_request *request,
                          struct http_reply *reply);

struct http_server;

/* @param out given (http_server_stop). DOPPEL_E_IO; DOPPEL_E_UNSUPPORTED: built without it;
 * DOPPEL_E_MEMORY */
enum doppel_status http_server_start(http_handler *handler, void *context, struct http_server **out,
                                     struct doppel_error *error);

/* "http://127.0.0.1:PORT/SECRET/"; borrowed. */
const char *http_server_address(const struct http_server *server);

/* Answer until it is to stop. @return DOPPEL_OK; DOPPEL_E_IO */
enum doppel_status http_server_run(struct http_server *server, bool stopped(void),
                                   struct doppel_error *error);
void http_server_stop(struct http_server *server);

#endif
