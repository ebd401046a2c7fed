/* The table of routes. */
#include "serve/routes.h"

#include <stdio.h>
#include <string.h>

#include "serve/answers/answers.h"
#include "serve/hma/hma.h"

const struct route routes[] = {
    {"GET", "/", RIGHT_NONE, answer_page_html, false},
    {"GET", "/page.css", RIGHT_NONE, answer_page_style, false},
    {"GET", "/page.js", RIGHT_NONE, answer_page_script, false},
    {"GET", "/healthz", RIGHT_NONE, answer_health, false},
    {"GET", "/readyz", RIGHT_NONE, answer_ready, false},
    {"GET", "/openapi.json", RIGHT_NONE, answer_openapi, false},
    {"GET", "/metrics", RIGHT_READ, answer_metrics, false},
    {"POST", "/v1/hash", RIGHT_READ, answer_hash, false},
    {"POST", "/v1/compare", RIGHT_READ, answer_compare, false},
    {"POST", "/v1/find", RIGHT_READ, answer_find, false},
    {"POST", "/v1/check", RIGHT_READ, answer_check, false},
    {"POST", "/v1/ingest", RIGHT_WRITE, answer_ingest, false},
    {"GET", "/v1/items", RIGHT_READ, answer_items, false},
    {"GET", "/v1/items/*/preview", RIGHT_READ, answer_item_preview, false},
    {"GET", "/v1/items/*", RIGHT_READ, answer_item, false},
    {"DELETE", "/v1/items/*", RIGHT_WRITE, answer_remove_item, false},
    {"GET", "/v1/groups", RIGHT_READ, answer_groups, false},
    {"GET", "/v1/lists", RIGHT_READ, answer_lists, false},
    {"GET", "/v1/marks", RIGHT_READ, answer_marks, false},
    {"POST", "/v1/marks", RIGHT_WRITE, answer_mark, false},
    {"GET", "/v1/decisions", RIGHT_READ, answer_log, false},
    {"GET", "/v1/stats", RIGHT_READ, answer_stats, false},
    {"GET", "/status", RIGHT_NONE, hma_status, true},
    {"GET", "/h/hash", RIGHT_READ, hma_fetch, true},
    {"POST", "/h/hash", RIGHT_READ, hma_hash, true},
    {"GET", "/m/raw_lookup", RIGHT_READ, hma_raw_lookup, true},
    {"GET", "/m/lookup", RIGHT_READ, hma_lookup, true},
    {"POST", "/m/lookup", RIGHT_READ, hma_lookup_file, true},
    {"POST", "/m/compare", RIGHT_READ, hma_compare, true},
    {"GET", "/m/index/status", RIGHT_READ, hma_index_status, true},
    {"GET", "/c/signal_type", RIGHT_READ, hma_signal_types, true},
    {"GET", "/c/content_type", RIGHT_READ, hma_content_types, true},
    {"GET", "/c/banks", RIGHT_READ, hma_banks, true},
    {"POST", "/c/banks", RIGHT_WRITE, hma_make_bank, true},
    {"POST", "/c/bank/*/content", RIGHT_WRITE, hma_add_file, true},
    {"GET", "/c/bank/*/content/*", RIGHT_READ, hma_content, true},
    {"DELETE", "/c/bank/*/content/*", RIGHT_WRITE, hma_remove_content, true},
    {"POST", "/c/bank/*/signal", RIGHT_WRITE, hma_add_signals, true},
    {"GET", "/c/bank/*", RIGHT_READ, hma_bank, true},
    {"PUT", "/c/bank/*", RIGHT_WRITE, hma_change_bank, true},
    {"DELETE", "/c/bank/*", RIGHT_WRITE, hma_remove_bank, true},
};
const size_t route_count = sizeof routes / sizeof *routes;

/* @return what the first '*' stands for, and what follows it, "" without one; NULL: it is another
 * path */
static const char *match_path(const char *pattern, const char *path)
{
    const char *rest = NULL;
    for (; *pattern; pattern++) {
        if (*pattern != '*') {
            if (*pattern != *path++)
                return NULL;
            continue;
        }
        if (!rest)
            rest = path;
        size_t size = pattern[1] ? strcspn(path, "/") : strlen(path);
        if (!size)
            return NULL;
        path += size;
    }
    return *path ? NULL : rest ? rest : path;
}

bool route_is_there(const struct service *service, const struct route *route)
{
    return !route->hma || service->options->hma;
}

static void add_method(char allowed[static 64], const char *method)
{
    size_t used = strlen(allowed);
    snprintf(allowed + used, 64 - used, "%s%s", used ? ", " : "", method);
}

const struct route *route_of(struct exchange *exchange)
{
    /* HEAD is GET without what it would send, which libmicrohttpd leaves out. */
    const char *method = strcmp(exchange->method, "HEAD") == 0 ? "GET" : exchange->method;
    exchange->allow[0] = '\0';
    for (size_t i = 0; i < route_count; i++) {
        const char *rest = match_path(routes[i].pattern, exchange->url);
        if (!rest || !route_is_there(exchange->service, &routes[i]))
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
