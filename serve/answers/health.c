/* GET of the service itself. */
#include "serve/answers/answers.h"
#include "serve/openapi.h"

enum handled answer_health(struct exchange *exchange)
{
    exchange->status = HTTP_OK;
    doppel_json_object_begin(&exchange->json, NULL);
    doppel_json_text(&exchange->json, "status", "ok");
    doppel_json_text(&exchange->json, "version", doppel_version());
    doppel_json_object_end(&exchange->json);
    return ANSWERED;
}

/* Whether the library can be asked; not any more when the service is ending. */
enum handled answer_ready(struct exchange *exchange)
{
    struct doppel_error error;
    struct library_reader *reader;
    if (atomic_load(&exchange->service->ending)) {
        exchange_problem(exchange, HTTP_UNAVAILABLE, "the service is ending");
        return ANSWERED;
    }
    if (reader_take(exchange->service, &reader, &error)) {
        exchange_fail(exchange, &error);
        return ANSWERED;
    }
    reader_give(exchange->service, reader);
    return answer_health(exchange);
}

enum handled answer_openapi(struct exchange *exchange)
{
    exchange->status = HTTP_OK;
    exchange->fixed = (const char *)openapi_json;
    exchange->fixed_size = sizeof openapi_json;
    return ANSWERED;
}
