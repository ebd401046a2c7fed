/* What can be asked for. */
#ifndef DOPPEL_SERVE_ROUTES_H
#define DOPPEL_SERVE_ROUTES_H

#include "serve/exchange.h"

enum handled {
    ANSWERED,
    HANDED_ON, /* another thread answers and resumes it: it is not to be touched any more */
    TAKES_TIME /* nothing was done: call it again at a desk (desk.h), where it may wait */
};

/* Fill the reply of a request that is there, or a part of its lines (line_parts). */
typedef enum handled route_handler(struct exchange *exchange);

struct route {
    const char *method;
    const char *pattern; /* of the path; '*' is a name in it, or at its end all that follows */
    enum right right;
    route_handler *handle;
    bool hma;                 /* there with --api hma alone */
    const char *parameters;   /* behind '?', with blanks between; NULL: any, as clients like it */
    route_handler *clustered; /* of a library in a cluster; NULL: it has no such route */
};

/* The route of a request; NULL: none, and the reply says so. */
const struct route *route_of(struct exchange *exchange);

/* Whether it has a parameter; if not, the reply says so. */
bool route_takes(const struct route *route, struct exchange *exchange, const char *parameter);

/* What answers it. */
route_handler *route_handler_of(const struct service *service, const struct route *route);

/* Whether a service has it. */
bool route_is_there(const struct service *service, const struct route *route);

/* Whether files that are sent are kept as they are: they come in where jobs have theirs. */
bool route_keeps_files(const struct route *route);

/* Whether it answers each line of a request by itself, so that they need not all be there. */
bool route_answers_parts(const struct route *route);

/* All of them, for what counts by route. */
extern const struct route routes[];
extern const size_t route_count;

#endif
