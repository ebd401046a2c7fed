/* Pages. */
#include "serve/answers/page.h"

#include <math.h>

bool page_begin(struct library_page *page, struct exchange *exchange, struct library_reader *reader,
                const char *key)
{
    enum { MOST = 1000, USUAL = 100 };
    double first = 0, limit = USUAL;
    if (!read_number(exchange, "cursor", 1e15, &first) ||
        !read_number(exchange, "limit", MOST, &limit))
        return false;
    if (limit < 1 || limit != floor(limit) || first != floor(first)) {
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "'cursor' and 'limit' are whole numbers, and 'limit' is 1 at least");
        return false;
    }
    doppel_json_object_begin(&exchange->json, NULL);
    if (key)
        doppel_json_array_begin(&exchange->json, key);
    *page = (struct library_page){.exchange = exchange,
                                  .library = reader->library,
                                  .first = (uint64_t)first,
                                  .left = (uint64_t)limit};
    return true;
}

bool page_takes(struct library_page *page, uint64_t entry)
{
    if (page->left) {
        page->left--;
        return true;
    }
    page->next = entry;
    return false;
}

enum doppel_status page_end(struct library_page *page, enum doppel_status status,
                            struct doppel_error *error)
{
    struct doppel_json *json = &page->exchange->json;
    char problem[SENTENCE_BYTES];
    if (page->status) {
        *error = page->error;
        return page->status;
    }
    if (status && status != DOPPEL_E_CANCELLED && status != DOPPEL_E_CORRUPT)
        return status;
    doppel_json_array_end(json);
    if (status == DOPPEL_E_CORRUPT) { /* the rest is there */
        exchange_sentence(page->exchange, error->message, problem);
        doppel_json_text(json, "problem", problem);
    }
    if (page->next)
        doppel_json_integer(json, "next", page->next);
    doppel_json_object_end(json);
    page->exchange->status = HTTP_OK;
    return DOPPEL_OK;
}
