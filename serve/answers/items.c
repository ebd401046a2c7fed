/* GET and DELETE /v1/items: what the library holds. */
#include "serve/answers/answers.h"
#include "serve/writer.h"

#include "core/try.h"

enum { MOST_ITEMS = 1000, USUAL_ITEMS = 100 };

/* ---- many ---- */

struct item_page {
    struct exchange *exchange;
    struct doppel_library *library;
    uint64_t left; /* that the page takes */
    uint64_t next; /* the first that it has no room for; 0: none */
    enum doppel_status status;
    struct doppel_error error;
};

static const struct doppel_item_json_options details = {.details = true};

/* @return whether there is room */
static bool begin_item(struct item_page *page, uint64_t id)
{
    if (!page->left) {
        page->next = id;
        return false;
    }
    page->left--;
    doppel_json_object_begin(&page->exchange->json, NULL);
    return true;
}

static bool put_item_on_page(void *context, const struct doppel_item *item)
{
    struct item_page *page = context;
    if (!begin_item(page, item->id))
        return false;
    page->status =
        doppel_item_to_json(&page->exchange->json, page->library, item, &details, &page->error);
    doppel_json_object_end(&page->exchange->json);
    return !page->status;
}

static bool put_text_on_page(void *context, const struct doppel_library_text *text)
{
    struct item_page *page = context;
    if (text->error.status)
        return true; /* `verify` says what is damaged */
    if (!begin_item(page, text->id))
        return false;
    page->status = doppel_library_text_to_json(&page->exchange->json, page->library, text, &details,
                                               &page->error);
    doppel_json_object_end(&page->exchange->json);
    return !page->status;
}

static enum doppel_status put_items(struct exchange *exchange, struct library_reader *reader,
                                    struct doppel_error *error)
{
    double first = 0, limit = USUAL_ITEMS;
    if (!read_number(exchange, "cursor", 1e15, &first) ||
        !read_number(exchange, "limit", MOST_ITEMS, &limit))
        return DOPPEL_OK;
    struct item_page page = {
        .exchange = exchange, .library = reader->library, .left = (uint64_t)limit};
    const struct doppel_everything_visitor visitor = {(uint64_t)first, put_item_on_page,
                                                      put_text_on_page, &page};
    doppel_json_object_begin(&exchange->json, NULL);
    doppel_json_array_begin(&exchange->json, "items");
    enum doppel_status status = doppel_library_each_of_all(reader->library, &visitor, error);
    if (page.status) {
        *error = page.error;
        return page.status;
    }
    if (status && status != DOPPEL_E_CANCELLED)
        return status;
    doppel_json_array_end(&exchange->json);
    if (page.next)
        doppel_json_integer(&exchange->json, "next", page.next);
    doppel_json_object_end(&exchange->json);
    exchange->status = HTTP_OK;
    return DOPPEL_OK;
}

enum handled answer_items(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_items);
}

/* ---- one ---- */

static enum doppel_status put_one_item(struct exchange *exchange, struct library_reader *reader,
                                       struct doppel_error *error)
{
    const struct doppel_item_json_options all = {
        .details = true, .content = true, .text = &exchange->service->options->read.text};
    struct doppel_reference called;
    struct doppel_json *json = &exchange->json;
    enum doppel_status status;
    TRY(doppel_library_resolve(reader->library, exchange->rest, &called, error));
    doppel_json_object_begin(json, NULL);
    TRY(doppel_item_by_id_to_json(json, reader->library, called.id, &all, error));
    doppel_json_object_end(json);
    exchange->status = HTTP_OK;
done:
    return status;
}

enum handled answer_item(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_one_item);
}

static enum doppel_status remove_item(void *context, struct doppel_library *library,
                                      struct doppel_error *error)
{
    const char *name = context;
    struct doppel_reference called;
    enum doppel_status status = doppel_library_resolve_to_change(library, name, &called, error);
    return status ? status : doppel_library_remove(library, called.id, error);
}

enum handled answer_remove_item(struct exchange *exchange)
{
    struct doppel_error error;
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (writer_change(exchange->service->writer, remove_item, (void *)exchange->rest, &error))
        exchange_fail(exchange, &error);
    else
        exchange->status = HTTP_NO_CONTENT;
    return ANSWERED;
}
