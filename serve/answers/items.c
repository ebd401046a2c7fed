/* GET, PATCH and DELETE /v1/items: what the library holds. */
#include "serve/answers/page.h"
#include "serve/writer.h"

#include <stdio.h>

#include "core/try.h"

/* ---- many ---- */

static const struct doppel_item_json_options details = {.details = true};

struct items_page {
    struct library_page page;
    struct doppel_item_set wanted;
};

static bool put_item_on_page(void *context, const struct doppel_item *item)
{
    struct items_page *items = context;
    struct library_page *page = &items->page;
    if (!doppel_item_set_has(&items->wanted, item->id))
        return true;
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
    struct items_page *items = context;
    struct library_page *page = &items->page;
    if (text->error.status || !doppel_item_set_has(&items->wanted, text->id))
        return true; /* `verify` says what is damaged */
    if (!page_takes(page, text->id))
        return false;
    doppel_json_object_begin(&page->exchange->json, NULL);
    page->status = doppel_library_text_to_json(&page->exchange->json, page->library, text, &details,
                                               &page->error);
    doppel_json_object_end(&page->exchange->json);
    return !page->status;
}

static enum doppel_status find_wanted_items(struct exchange *exchange,
                                            struct doppel_library *library,
                                            struct doppel_item_set *out, struct doppel_error *error)
{
    const char *list = exchange_argument(exchange, "list");
    const char *label = exchange_argument(exchange, "label");
    const struct doppel_item_filter filter = {.lists = &list,
                                              .list_count = list != NULL,
                                              .labels = &label,
                                              .label_count = label != NULL,
                                              .where = exchange_argument(exchange, "where")};
    return doppel_library_filter(library, &filter, out, error);
}

static enum doppel_status put_items(struct exchange *exchange, struct library_reader *reader,
                                    struct doppel_error *error)
{
    struct items_page items = {0};
    enum doppel_status status;
    TRY(find_wanted_items(exchange, reader->library, &items.wanted, error));
    if (!page_begin(&items.page, exchange, reader, "items"))
        goto done;
    const struct doppel_everything_visitor visitor = {items.page.first, put_item_on_page,
                                                      put_text_on_page, &items};
    TRY(page_end(&items.page, doppel_library_each_of_all(reader->library, &visitor, error), error));
done:
    doppel_item_set_free(&items.wanted);
    return status;
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

/* ---- what is said of it ---- */

struct tags {
    const char *name;           /* of the item */
    struct request_input added; /* its metadata */
    struct request_input taken; /* of it lists and labels */
};

/* What it has not is gone already. */
static enum doppel_status take_back_tags(struct doppel_library *library, uint64_t id,
                                         const struct doppel_metadata *taken,
                                         struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < taken->list_count && !status; i++) {
        status = doppel_library_remove_from_list(library, id, taken->lists[i], error);
        status = status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    }
    for (size_t i = 0; i < taken->label_count && !status; i++) {
        status = doppel_library_unlabel(library, id, taken->labels[i], error);
        status = status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    }
    return status;
}

/* Lists and sources have entries of their own. */
static enum doppel_status log_tags(struct doppel_library *library, uint64_t id,
                                   const struct tags *tags, struct doppel_error *error)
{
    const struct doppel_metadata *added = &tags->added.metadata, *taken = &tags->taken.metadata;
    struct doppel_log_entry entry = {.action = DOPPEL_LOG_METADATA, .item = id};
    struct doppel_name name = {0};
    struct doppel_json detail = {0};
    char reason[64];
    enum doppel_status status;
    const bool labels = added->label_count || taken->label_count;
    snprintf(reason, sizeof reason, "was told its%s%s%s", labels ? " labels" : "",
             added->external_id ? " id" : "", added->meta ? " meta" : "");
    if (!labels && !added->external_id && !added->meta)
        return DOPPEL_OK;
    doppel_json_object_begin(&detail, NULL);
    doppel_json_texts(&detail, "labels", (const char *const *)added->labels, added->label_count);
    doppel_json_texts(&detail, "removed_labels", (const char *const *)taken->labels,
                      taken->label_count);
    doppel_json_text(&detail, "id", added->external_id);
    doppel_json_object_end(&detail);
    TRY(doppel_json_status(&detail, error));
    TRY(doppel_library_name(library, id, &name, error));
    entry.name = name.path ? name.path : name.record_id;
    entry.reason = reason;
    entry.detail = detail.bytes;
    TRY(doppel_library_log(library, &entry, error));
done:
    doppel_name_free(&name);
    doppel_json_free(&detail);
    return status;
}

static enum doppel_status change_tags(void *context, struct doppel_library *library,
                                      struct doppel_error *error)
{
    const struct tags *tags = context;
    struct doppel_metadata added = tags->added.metadata;
    struct doppel_reference called;
    enum doppel_status status;
    added.source = (char *)tags->added.source;
    TRY(doppel_library_resolve_to_change(library, tags->name, &called, error));
    TRY(doppel_library_set_metadata(library, called.id, &added, error));
    TRY(take_back_tags(library, called.id, &tags->taken.metadata, error));
    TRY(log_tags(library, called.id, tags, error));
done:
    return status;
}

/* @return false: it does not say anything, or what cannot be said */
static bool read_item_tags(json_t *root, struct tags *tags)
{
    static const char *const fields[] = {"lists", "labels", "id", "source", "meta", "remove", NULL};
    static const char *const removed[] = {"lists", "labels", NULL};
    json_t *taken = json_object_get(root, "remove");
    return json_object_size(root) && !unknown_field(root, fields) &&
           input_read_metadata(root, &tags->added) &&
           (!taken || (json_is_object(taken) && !unknown_field(taken, removed) &&
                       input_read_metadata(taken, &tags->taken)));
}

enum handled answer_tag_item(struct exchange *exchange)
{
    struct doppel_error error;
    struct tags tags = {.name = exchange->rest};
    if (!exchange->at_desk)
        return TAKES_TIME;
    json_t *root = exchange_json(exchange);
    if (!read_item_tags(root, &tags))
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "say something in JSON, with its Content-Type (curl --json): "
                         "{\"lists\":[…],\"labels\":[…],\"id\":\"…\",\"source\":\"…\",\"meta\":{…},"
                         "\"remove\":{\"lists\":[…],\"labels\":[…]}}");
    else if (writer_change(exchange, change_tags, &tags, &error))
        exchange_fail(exchange, &error);
    else
        exchange->status = HTTP_NO_CONTENT;
    input_free(&tags.added);
    input_free(&tags.taken);
    json_decref(root);
    return ANSWERED;
}

/* ---- removing it ---- */

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
    if (writer_change(exchange, remove_item, (void *)exchange->rest, &error))
        exchange_fail(exchange, &error);
    else
        exchange->status = HTTP_NO_CONTENT;
    return ANSWERED;
}
