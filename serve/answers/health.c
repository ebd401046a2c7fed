/* GET of the service itself, and of its page. */
#include "serve/answers/answers.h"
#include "serve/openapi.h"
#include "serve/page.h"

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
    reader_give(reader);
    return answer_health(exchange);
}

/* ---- what stays the same ---- */

static enum handled answer_fixed(struct exchange *exchange, const char *type,
                                 const unsigned char *bytes, size_t size)
{
    exchange->status = HTTP_OK;
    exchange->type = type;
    exchange->fixed = (const char *)bytes;
    exchange->fixed_size = size;
    return ANSWERED;
}

enum handled answer_openapi(struct exchange *exchange)
{
    return answer_fixed(exchange, NULL, openapi_json, sizeof openapi_json);
}

/* Pictures lie in the answers of its own service. */
enum handled answer_page_html(struct exchange *exchange)
{
    exchange->policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
                       "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'none'";
    return answer_fixed(exchange, "text/html; charset=utf-8", page_html, sizeof page_html);
}

enum handled answer_page_style(struct exchange *exchange)
{
    return answer_fixed(exchange, "text/css; charset=utf-8", page_css, sizeof page_css);
}

enum handled answer_page_script(struct exchange *exchange)
{
    return answer_fixed(exchange, "text/javascript; charset=utf-8", page_js, sizeof page_js);
}
