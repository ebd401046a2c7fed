/* Problems as answers. */
#include "serve/exchange.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "serve/routes.h"
#include "serve/service.h"

const char *http_status_title(unsigned status)
{
    static const struct {
        unsigned status;
        const char *title;
    } titles[] = {
        {HTTP_BAD_REQUEST, "Bad Request"},
        {HTTP_UNAUTHORIZED, "Unauthorized"},
        {HTTP_FORBIDDEN, "Forbidden"},
        {HTTP_NOT_FOUND, "Not Found"},
        {HTTP_NOT_ALLOWED, "Method Not Allowed"},
        {HTTP_CONFLICT, "Conflict"},
        {HTTP_TOO_LARGE, "Content Too Large"},
        {HTTP_UNKNOWN_TYPE, "Unsupported Media Type"},
        {HTTP_UNPROCESSABLE, "Unprocessable Content"},
        {HTTP_TOO_MANY, "Too Many Requests"},
        {HTTP_FAILED, "Internal Server Error"},
        {HTTP_UNAVAILABLE, "Service Unavailable"},
        {HTTP_NO_SPACE, "Insufficient Storage"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

static void put_problem(struct exchange *exchange, unsigned status, const char *reason,
                        const char *detail)
{
    struct doppel_json *json = &exchange->json;
    doppel_json_clear(json);
    large_buffer_free(&exchange->lines);
    exchange->status = status;
    if (exchange->route && exchange->route->hma) {
        doppel_json_object_begin(json, NULL);
        doppel_json_text(json, "message", detail);
        doppel_json_object_end(json);
        return;
    }
    exchange->type = "application/problem+json";
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "type", "about:blank");
    doppel_json_text(json, "title", http_status_title(status));
    doppel_json_integer(json, "status", status);
    doppel_json_text(json, "reason", reason);
    doppel_json_text(json, "detail", detail);
    doppel_json_object_end(json);
}

void exchange_problem(struct exchange *exchange, unsigned status, const char *format, ...)
{
    char detail[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    put_problem(exchange, status, NULL, detail);
}

unsigned http_status_of(const struct doppel_error *error)
{
    switch (error->status) {
    case DOPPEL_E_ARGUMENT:
        return HTTP_BAD_REQUEST;
    case DOPPEL_E_NOT_FOUND:
        return HTTP_NOT_FOUND;
    case DOPPEL_E_EMPTY:
    case DOPPEL_E_FORMAT:
    case DOPPEL_E_CORRUPT:
    case DOPPEL_E_LIMIT:
    case DOPPEL_E_UNSUPPORTED:
    case DOPPEL_E_FLAT:
    case DOPPEL_E_TIMEOUT:
    case DOPPEL_E_CRASH:
    case DOPPEL_E_VERSION:
        return HTTP_UNPROCESSABLE;
    case DOPPEL_E_BUSY:
    case DOPPEL_E_CANCELLED:
    case DOPPEL_E_MEMORY:
    case DOPPEL_E_KILLED:
        return HTTP_UNAVAILABLE;
    case DOPPEL_E_NO_SPACE:
        return HTTP_NO_SPACE;
    default:
        return HTTP_FAILED;
    }
}

void exchange_sentence(const struct exchange *exchange, const char *sentence,
                       char out[static SENTENCE_BYTES])
{
    static const char instead[] = "the library";
    const size_t size = SENTENCE_BYTES;
    const char *path = exchange->service->options->library, *found;
    size_t used = 0;
    for (out[0] = '\0'; used < size && *path && (found = strstr(sentence, path));
         sentence = found + strlen(path))
        used += (size_t)snprintf(out + used, size - used, "%.*s%s", (int)(found - sentence),
                                 sentence, instead);
    if (used < size)
        snprintf(out + used, size - used, "%s", sentence);
}

void exchange_fail(struct exchange *exchange, const struct doppel_error *error)
{
    char detail[SENTENCE_BYTES];
    exchange_sentence(exchange, error->message, detail);
    put_problem(exchange, http_status_of(error), doppel_status_name(error->status), detail);
    if (exchange->status == HTTP_UNAVAILABLE)
        exchange->retry_after = 1;
}
