/* The table of routes. */
#include "serve/routes.h"

#include <stdio.h>
#include <string.h>

#include "serve/answers/answers.h"
#include "serve/hma/hma.h"

const struct route routes[] = {
    {"GET", "/", RIGHT_NONE, answer_page_html, false, NULL, NULL},
    {"GET", "/page.css", RIGHT_NONE, answer_page_style, false, NULL, NULL},
    {"GET", "/page.js", RIGHT_NONE, answer_page_script, false, NULL, NULL},
    {"GET", "/healthz", RIGHT_NONE, answer_health, false, NULL, answer_health},
    {"GET", "/readyz", RIGHT_NONE, answer_ready, false, NULL, answer_cluster_ready},
    {"GET", "/openapi.json", RIGHT_NONE, answer_openapi, false, NULL, answer_openapi},
    {"GET", "/metrics", RIGHT_READ, answer_metrics, false, NULL, answer_metrics},
    {"POST", "/v1/hash", RIGHT_READ, answer_hash, false, "codes name id", answer_hash},
    {"POST", "/v1/compare", RIGHT_READ, answer_compare, false, "", answer_compare},
    {"POST", "/v1/find", RIGHT_READ, answer_find, false,
     "max_distance min_similarity limit previews semantic min_cosine max_fp_rate name id",
     answer_cluster_find},
    {"POST", "/v1/check", RIGHT_READ, answer_check, false,
     "semantic min_cosine max_fp_rate name id", answer_cluster_check},
    {"POST", "/v1/ingest", RIGHT_WRITE, answer_ingest, false,
     "semantic min_cosine max_fp_rate name id", answer_cluster_ingest},
    {"POST", "/v1/jobs", RIGHT_WRITE, answer_add_job, false, "name id webhook", NULL},
    {"GET", "/v1/jobs", RIGHT_READ, answer_jobs, false, "cursor limit", NULL},
    {"GET", "/v1/jobs/*/events", RIGHT_READ, answer_job_events, false, "", NULL},
    {"GET", "/v1/jobs/*", RIGHT_READ, answer_job, false, "cursor limit", NULL},
    {"DELETE", "/v1/jobs/*", RIGHT_WRITE, answer_cancel_job, false, "", NULL},
    {"GET", "/v1/items", RIGHT_READ, answer_items, false, "cursor limit where list label", NULL},
    {"GET", "/v1/items/*/preview", RIGHT_READ, answer_item_preview, false, "pixels beside", NULL},
    {"GET", "/v1/items/*", RIGHT_READ, answer_item, false, "", answer_cluster_item},
    {"PATCH", "/v1/items/*", RIGHT_WRITE, answer_tag_item, false, "", NULL},
    {"DELETE", "/v1/items/*", RIGHT_WRITE, answer_remove_item, false, "",
     answer_cluster_remove_item},
    {"GET", "/v1/groups", RIGHT_READ, answer_groups, false,
     "cursor limit semantic min_cosine max_fp_rate", NULL},
    {"GET", "/v1/lists", RIGHT_READ, answer_lists, false, "", NULL},
    {"GET", "/v1/marks", RIGHT_READ, answer_marks, false, "", NULL},
    {"POST", "/v1/marks", RIGHT_WRITE, answer_mark, false, "", NULL},
    {"GET", "/v1/decisions", RIGHT_READ, answer_log, false, "cursor limit item", NULL},
    {"GET", "/v1/schemes", RIGHT_READ, answer_schemes, false, "", NULL},
    {"GET", "/v1/stats", RIGHT_READ, answer_stats, false, "", answer_cluster_stats},
    {"GET", "/status", RIGHT_NONE, hma_status, true, NULL, NULL},
    {"GET", "/h/hash", RIGHT_READ, hma_fetch, true, NULL, NULL},
    {"POST", "/h/hash", RIGHT_READ, hma_hash, true, NULL, NULL},
    {"GET", "/m/raw_lookup", RIGHT_READ, hma_raw_lookup, true, NULL, NULL},
    {"GET", "/m/lookup", RIGHT_READ, hma_lookup, true, NULL, NULL},
    {"POST", "/m/lookup", RIGHT_READ, hma_lookup_file, true, NULL, NULL},
    {"POST", "/m/compare", RIGHT_READ, hma_compare, true, NULL, NULL},
    {"GET", "/m/index/status", RIGHT_READ, hma_index_status, true, NULL, NULL},
    {"GET", "/c/signal_type", RIGHT_READ, hma_signal_types, true, NULL, NULL},
    {"GET", "/c/content_type", RIGHT_READ, hma_content_types, true, NULL, NULL},
    {"GET", "/c/banks", RIGHT_READ, hma_banks, true, NULL, NULL},
    {"POST", "/c/banks", RIGHT_WRITE, hma_make_bank, true, NULL, NULL},
    {"POST", "/c/bank/*/content", RIGHT_WRITE, hma_add_file, true, NULL, NULL},
    {"GET", "/c/bank/*/content/*", RIGHT_READ, hma_content, true, NULL, NULL},
    {"DELETE", "/c/bank/*/content/*", RIGHT_WRITE, hma_remove_content, true, NULL, NULL},
    {"POST", "/c/bank/*/signal", RIGHT_WRITE, hma_add_signals, true, NULL, NULL},
    {"GET", "/c/bank/*", RIGHT_READ, hma_bank, true, NULL, NULL},
    {"PUT", "/c/bank/*", RIGHT_WRITE, hma_change_bank, true, NULL, NULL},
    {"DELETE", "/c/bank/*", RIGHT_WRITE, hma_remove_bank, true, NULL, NULL},
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

/* Whether a word is one of those between blanks. */
static bool is_listed(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (size && strncmp(at, word, size) == 0 && (!at[size] || at[size] == ' '))
            return true;
    return false;
}

bool route_takes(const struct route *route, struct exchange *exchange, const char *parameter)
{
    if (!route->parameters || is_listed(route->parameters, parameter))
        return true;
    exchange_problem(exchange, HTTP_BAD_REQUEST, "'%.64s' is no parameter of this: it has %s",
                     parameter, *route->parameters ? route->parameters : "none");
    return false;
}

bool route_is_there(const struct service *service, const struct route *route)
{
    return (!route->hma || service->options->hma) && (!service->cluster || route->clustered);
}

route_handler *route_handler_of(const struct service *service, const struct route *route)
{
    return service->cluster ? route->clustered : route->handle;
}

bool route_keeps_files(const struct route *route)
{
    return route->handle == answer_add_job;
}

bool route_answers_parts(const struct route *route)
{
    return route->handle == answer_hash || route->handle == answer_find ||
           route->handle == answer_check || route->handle == answer_ingest;
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
        exchange_problem(
            exchange, HTTP_NOT_FOUND,
            exchange->service->cluster
                ? "there is nothing here: a library in a cluster is asked by /v1/find, "
                  "/v1/check, /v1/ingest, /v1/items/REF and /v1/stats"
                : "there is nothing here: /openapi.json has what can be asked");
    return NULL;
}
