/* Asking a service. */
#include "tools/remote/service.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/memory.h"
#include "tools/output/output.h"

enum { ANSWER_BYTES = 64 << 20, PATIENCE_SECONDS = 3600 }; /* of one try, and of all */
/* Tries before it is given up, and pauses between them, which grow. */
enum { TRIES = 6, FIRST_PAUSE_MS = 200 };

enum doppel_status remote_open(const struct settings *settings, struct report *report,
                               struct remote *out, struct doppel_error *error)
{
    const struct doppel_client_options options = {.url = settings->server,
                                                  .key = settings->server_secret,
                                                  .ca = settings->server_ca,
                                                  .timeout_s = PATIENCE_SECONDS};
    *out = (struct remote){.report = report, .url = settings->server};
    return doppel_client_new(report->run, &options, &out->client, error);
}

void remote_close(struct remote *remote)
{
    doppel_client_free(remote->client);
    remote->client = NULL;
}

enum doppel_status remote_send(const struct remote *remote,
                               const struct doppel_client_request *request,
                               struct doppel_client_answer *out, struct doppel_error *error)
{
    const int64_t end_ms = monotonic_ms() + PATIENCE_SECONDS * INT64_C(1000);
    long pause_ms = FIRST_PAUSE_MS;
    for (int i = 1;; i++, pause_ms *= 2) {
        const struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
        enum doppel_status status =
            doppel_client_send(remote->client, request, ANSWER_BYTES, out, error);
        if (status != DOPPEL_E_BUSY || i == TRIES || monotonic_ms() >= end_ms)
            return status;
        if (i == 1)
            report_notice(remote->report, "%s; trying again", error->message);
        nanosleep(&pause, NULL);
        if (doppel_run_cancelled(remote->report->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended while the service was away");
    }
}

enum doppel_status remote_fail_answer(const struct remote *remote, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_FORMAT, "%s does not answer as a doppel service",
                       remote->url);
}

void remote_add_word(struct doppel_json *path, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    char escaped[4];
    for (const char *at = word; *at; at++) {
        bool is_plain = strchr(plain, *at);
        snprintf(escaped, sizeof escaped, is_plain ? "%c" : "%%%02X", (unsigned char)*at);
        doppel_json_append(path, escaped, strlen(escaped));
    }
}

enum doppel_status remote_get(const struct remote *remote, const char *path, json_t **out,
                              struct doppel_error *error)
{
    const struct doppel_client_request request = {.method = "GET", .path = path};
    struct doppel_client_answer answer;
    enum doppel_status status = remote_send(remote, &request, &answer, error);
    if (status)
        return status;
    json_t *root = json_loadb(answer.body, answer.size, 0, NULL);
    doppel_client_answer_free(&answer);
    if (!json_is_object(root)) {
        json_decref(root);
        return remote_fail_answer(remote, error);
    }
    *out = root;
    return DOPPEL_OK;
}

enum doppel_status remote_tell(const struct remote *remote, const char *method, const char *path,
                               json_t *value, struct doppel_error *error)
{
    char *text = must_have(json_dumps(must_have(value), JSON_COMPACT));
    const struct doppel_client_request request = {.method = method,
                                                  .path = path,
                                                  .type = "application/json",
                                                  .body = text,
                                                  .size = strlen(text)};
    struct doppel_client_answer answer = {0};
    enum doppel_status status = remote_send(remote, &request, &answer, error);
    if (!status && answer.size)
        status = remote_fail_answer(remote, error);
    doppel_client_answer_free(&answer);
    free(text);
    json_decref(value);
    return status;
}

/* ---- lists ---- */

void remote_add_meaning(const struct settings *settings, char path[static REMOTE_PATH])
{
    const double rate = settings->max_false_positives, cosine = settings->semantic_cosine;
    const size_t size = REMOTE_PATH;
    size_t used = strlen(path);
    if (!settings->semantic)
        return;
    used +=
        (size_t)snprintf(path + used, size - used, "%csemantic=1", strchr(path, '?') ? '&' : '?');
    if (cosine >= 0)
        snprintf(path + used, size - used, "&min_cosine=%.9g",
                 (double)semantic_cosine_from(settings));
    else if (rate > 0)
        snprintf(path + used, size - used, "&max_fp_rate=%.15g", rate);
}

static const char links_key[] = "links"; /* beside groups */

/* Of an entry of a list, and whether it is one. */
static bool is_listed_row(const char *key, const json_t *row)
{
    return strcmp(key, "groups") == 0    ? json_is_array(json_object_get(row, "members"))
           : strcmp(key, "marks") == 0   ? json_is_string(json_object_get(row, "mark"))
           : strcmp(key, links_key) == 0 ? json_is_object(json_object_get(row, "semantic"))
                                         : json_is_integer(json_object_get(row, "id"));
}

/* @param out_goes_on false: the visitor wants no more */
static enum doppel_status visit_page_rows(const struct remote *remote, const json_t *root,
                                          const char *key, remote_visitor *visit, void *context,
                                          bool *out_goes_on, struct doppel_error *error)
{
    const json_t *rows = json_object_get(root, key);
    for (size_t i = 0; i < json_array_size(rows) && *out_goes_on; i++) {
        const json_t *row = json_array_get(rows, i);
        if (!is_listed_row(key, row))
            return remote_fail_answer(remote, error);
        *out_goes_on = visit(context, row);
    }
    return DOPPEL_OK;
}

/* A page, and where the next one begins; 0: it is the last. */
static enum doppel_status visit_page(const struct remote *remote, const char *path, const char *key,
                                     remote_visitor *visit, void *context, json_int_t *io_next,
                                     struct doppel_error *error)
{
    json_t *root = NULL;
    enum doppel_status status = remote_get(remote, path, &root, error);
    if (status)
        return status;
    const json_t *rows = json_object_get(root, key), *next = json_object_get(root, "next");
    const char *problem = json_string_value(json_object_get(root, "problem"));
    const char *notice = json_string_value(json_object_get(root, "notice"));
    const size_t count = json_array_size(rows) + json_array_size(json_object_get(root, links_key));
    bool goes_on = true;
    if (!json_is_array(rows) || (next && (json_integer_value(next) <= *io_next || !count)))
        TRY(remote_fail_answer(remote, error));
    *io_next = json_integer_value(next);
    if (notice)
        report_warning(remote->report, "%s", notice);
    TRY(visit_page_rows(remote, root, key, visit, context, &goes_on, error));
    TRY(visit_page_rows(remote, root, links_key, visit, context, &goes_on, error));
    if (!goes_on)
        *io_next = 0;
    if (problem)
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "%s", problem);
done:
    json_decref(root);
    return status;
}

enum doppel_status remote_each(const struct remote *remote, const char *path, const char *key,
                               remote_visitor *visit, void *context, struct doppel_error *error)
{
    json_int_t next = 0;
    struct doppel_json page = {0};
    enum doppel_status status;
    do {
        char place[64];
        doppel_json_clear(&page);
        doppel_json_append(&page, path, strlen(path));
        snprintf(place, sizeof place, "&cursor=%" JSON_INTEGER_FORMAT, next);
        doppel_json_append(&page, place, next ? strlen(place) : 0);
        if (page.failed)
            no_memory();
        status = visit_page(remote, page.bytes, key, visit, context, &next, error);
    } while (!status && next);
    doppel_json_free(&page);
    return status;
}

static void put_remote_value(struct doppel_json *json, const char *key, const json_t *value)
{
    char *text =
        must_have(json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)));
    doppel_json_raw(json, key, text, strlen(text));
    free(text);
}

/* @param words with blanks around each */
static bool is_word_of(const char *words, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = words; size && (at = strstr(at, word)); at++)
        if (at != words && at[-1] == ' ' && at[size] == ' ')
            return true;
    return false;
}

void remote_put_members(struct doppel_json *json, const json_t *object, const char *except)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        if (!is_word_of(except, key))
            put_remote_value(json, key, value);
    }
}

void remote_print(struct output *output, const json_t *row)
{
    struct doppel_json object = {0};
    put_remote_value(&object, NULL, row);
    output_object(output, &object);
    doppel_json_free(&object);
}
