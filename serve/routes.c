/* The table of routes. */
#include "serve/routes.h"

#include <string.h>

#include "serve/answers/answers.h"

const struct route routes[] = {
    {"GET", "/healthz", RIGHT_NONE, answer_health},
    {"GET", "/readyz", RIGHT_NONE, answer_ready},
    {"GET", "/openapi.json", RIGHT_NONE, answer_openapi},
    {"GET", "/metrics", RIGHT_READ, answer_metrics},
    {"POST", "/v1/hash", RIGHT_READ, answer_hash},
    {"POST", "/v1/compare", RIGHT_READ, answer_compare},
    {"POST", "/v1/find", RIGHT_READ, answer_find},
    {"POST", "/v1/check", RIGHT_READ, answer_check},
    {"POST", "/v1/ingest", RIGHT_WRITE, answer_ingest},
    {"GET", "/v1/items", RIGHT_READ, answer_items},
    {"GET", "/v1/items/*", RIGHT_READ, answer_item},
    {"DELETE", "/v1/items/*", RIGHT_WRITE, answer_remove_item},
    {"GET", "/v1/groups", RIGHT_READ, answer_groups},
    {"GET", "/v1/lists", RIGHT_READ, answer_lists},
    {"GET", "/v1/marks", RIGHT_READ, answer_marks},
    {"POST", "/v1/marks", RIGHT_WRITE, answer_mark},
    {"GET", "/v1/decisions", RIGHT_READ, answer_log},
    {"GET", "/v1/stats", RIGHT_READ, answer_stats},
};
const size_t route_count = sizeof routes / sizeof *routes;

/* @return what a '*' stands for, "" without one; NULL: it is another path */
static const char *match_path(const char *pattern, const char *path)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return strcmp(pattern, path) == 0 ? "" : NULL;
    size_t size = (size_t)(star - pattern);
    return strncmp(pattern, path, size) == 0 && path[size] ? path + size : NULL;
}

static void add_method(char allowed[static 64], const char *method)
{
    if (allowed[0])
        strcat(allowed, ", ");
    strcat(allowed, method);
}

const struct route *route_of(struct exchange *exchange)
{
    /* HEAD is GET without what it would send, which libmicrohttpd leaves out. */
    const char *method = strcmp(exchange->method, "HEAD") == 0 ? "GET" : exchange->method;
    exchange->allow[0] = '\0';
    for (size_t i = 0; i < route_count; i++) {
        const char *rest = match_path(routes[i].pattern, exchange->url);
        if (!rest)
            continue;
        exchange->rest = rest;
        if (strcmp(routes[i].method, method) == 0) {
            exchange->allow[0] = '\0';
            return &routes[i];
        }
        add_method(exchange->allow, routes[i].method);
    }
    if (exchange->allow[0])
        exchange_problem(exchange, HTTP_NOT_ALLOWED, "%.16s is not for this: it is asked by %s",
                         exchange->method, exchange->allow);
    else
        exchange_problem(exchange, HTTP_NOT_FOUND,
                         "there is nothing here: /openapi.json has what can be asked");
    return NULL;
}
