/* GET and DELETE /v1/items: what the library holds. */
#include "serve/answers/page.h"
#include "serve/writer.h"

#include "core/try.h"

/* ---- many ---- */

static const struct doppel_item_json_options details = {.details = true};

static bool put_item_on_page(void *context, const struct doppel_item *item)
{
    struct library_page *page = context;
    if (!page_takes(page, item->id))
        return false;
    doppel_json_object_begin(&page->exchange->json, NULL);
    page->status =
        doppel_item_to_json(&page->exchange->json, page->library, item, &details, &page->error);
    doppel_json_object_end(&page->exchange->json);
    return !page->status;
}

static bool put_text_on_page(void *context, const struct doppel_library_text *text)
{
    struct library_page *page = context;
    if (text->error.status)
        return true; /* `verify` says what is damaged */
    if (!page_takes(page, text->id))
        return false;
    doppel_json_object_begin(&page->exchange->json, NULL);
    page->status = doppel_library_text_to_json(&page->exchange->json, page->library, text, &details,
                                               &page->error);
    doppel_json_object_end(&page->exchange->json);
    return !page->status;
}

static enum doppel_status put_items(struct exchange *exchange, struct library_reader *reader,
                                    struct doppel_error *error)
{
    struct library_page page;
    if (!page_begin(&page, exchange, reader, "items"))
        return DOPPEL_OK;
    const struct doppel_everything_visitor visitor = {page.first, put_item_on_page,
                                                      put_text_on_page, &page};
    return page_end(&page, doppel_library_each_of_all(reader->library, &visitor, error), error);
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
