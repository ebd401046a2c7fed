/* GET and POST /v1/marks: what people say of items. */
#include "serve/answers/page.h"

#include <string.h>

#include "core/try.h"
#include "exchange/manual_labels.h"
#include "serve/writer.h"

static bool put_mark_on_page(void *context, const struct doppel_mark *mark)
{
    struct library_page *page = context;
    struct doppel_json *json = &page->exchange->json;
    doppel_json_object_begin(json, NULL);
    doppel_mark_to_json(json, page->library, mark);
    doppel_json_object_end(json);
    return true;
}

static bool put_kept_on_page(void *context, const struct doppel_kept_mark *mark)
{
    struct library_page *page = context;
    struct doppel_json *json = &page->exchange->json;
    doppel_json_object_begin(json, NULL);
    doppel_kept_mark_to_json(json, page->library, mark);
    doppel_json_object_end(json);
    return true;
}

/* A damaged one hides none of the others. */
static enum doppel_status visit_marks(struct library_page *page, struct doppel_error *error)
{
    struct doppel_error second;
    enum doppel_status status =
        doppel_library_each_mark(page->library, NULL, put_mark_on_page, page, error);
    if (status && status != DOPPEL_E_CORRUPT)
        return status;
    enum doppel_status kept =
        doppel_library_each_kept_mark(page->library, put_kept_on_page, page, &second);
    return kept ? doppel_fail(error, kept, "%s", second.message) : status;
}

static enum doppel_status put_marks(struct exchange *exchange, struct library_reader *reader,
                                    struct doppel_error *error)
{
    struct library_page page;
    return page_begin(&page, exchange, reader, "marks")
               ? page_end(&page, visit_marks(&page, error), error)
               : DOPPEL_OK;
}

enum handled answer_marks(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_marks);
}

/* ---- saying one ---- */

enum mark_verb { MARK_AS_NONE, MARK_AS_SAME, MARK_AS_DISTINCT, MARK_AS_KEPT, MARK_VERBS };

struct mark_wish {
    enum mark_verb verb;
    const char *a, *b; /* b NULL: it is about the one to keep */
    const char *note;
    const json_t *over; /* the others of the group of what is kept; NULL: none */
};

/* Items alone: a name that is none is no file of the server's. */
static enum doppel_status marked_item(struct doppel_library *library, const char *name,
                                      struct marked *out, struct doppel_error *error)
{
    struct doppel_reference called;
    struct doppel_error reason;
    enum doppel_status status = doppel_library_resolve_to_change(library, name, &called, &reason);
    return status ? doppel_fail(error, status, "'%.200s': %s", name, reason.message)
                  : marked_named(library, name, out, error);
}

static enum doppel_status say_pair(struct doppel_library *library, const struct mark_wish *wish,
                                   struct doppel_error *error)
{
    static const enum doppel_manual_label labels[] = {[MARK_AS_NONE] = DOPPEL_LABEL_NONE,
                                                      [MARK_AS_SAME] = DOPPEL_LABEL_SAME,
                                                      [MARK_AS_DISTINCT] = DOPPEL_LABEL_DISTINCT};
    struct marked a, b;
    enum doppel_status status;
    TRY(marked_item(library, wish->a, &a, error));
    TRY(marked_item(library, wish->b, &b, error));
    TRY(mark_say(library, &a, &b, labels[wish->verb], wish->note, error));
done:
    return status;
}

static enum doppel_status say_kept(struct doppel_library *library, const struct mark_wish *wish,
                                   struct doppel_error *error)
{
    struct marked kept, other;
    enum doppel_status status;
    TRY(marked_item(library, wish->a, &kept, error));
    if (kept.is_text)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT,
                        "of texts the one to keep is chosen by source and policy"));
    for (size_t i = 0; i < json_array_size(wish->over); i++) {
        TRY(marked_item(library, json_string_value(json_array_get(wish->over, i)), &other, error));
        TRY(mark_unchosen(library, other.id, error));
    }
    TRY(wish->verb == MARK_AS_KEPT ? mark_chosen(library, kept.id, error)
                                   : mark_unchosen(library, kept.id, error));
done:
    return status;
}

static enum doppel_status say_mark(void *context, struct doppel_library *library,
                                   struct doppel_error *error)
{
    const struct mark_wish *wish = context;
    return wish->b ? say_pair(library, wish, error) : say_kept(library, wish, error);
}

/* Two items with "same" or "distinct", one with "keep", one or two with "none". */
static bool read_wish(const json_t *root, struct mark_wish *out)
{
    static const char *const words[] = {"none", "same", "distinct", "keep"};
    const char *mark = json_string_value(json_object_get(root, "mark"));
    const json_t *b = json_object_get(root, "b"), *over = json_object_get(root, "over");
    size_t verb = 0;
    while (mark && verb < MARK_VERBS && strcmp(mark, words[verb]) != 0)
        verb++;
    *out = (struct mark_wish){(enum mark_verb)verb, json_string_value(json_object_get(root, "a")),
                              json_string_value(b),
                              json_string_value(json_object_get(root, "note")), over};
    for (size_t i = 0; i < json_array_size(over); i++)
        if (!json_is_string(json_array_get(over, i)))
            return false;
    bool pair = verb == MARK_AS_SAME || verb == MARK_AS_DISTINCT;
    return mark && verb < MARK_VERBS && out->a && (!b || out->b) &&
           (!over || json_is_array(over)) && (verb == MARK_AS_NONE || pair == (b != NULL));
}

enum handled answer_mark(struct exchange *exchange)
{
    struct mark_wish wish;
    struct doppel_error error;
    if (!exchange->at_desk)
        return TAKES_TIME;
    json_t *root = exchange_json(exchange);
    if (!read_wish(root, &wish))
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "a mark is JSON, with its Content-Type (curl --json): "
                         "{\"a\":\"ID\",\"b\":\"ID\",\"mark\":\"same\"}, or \"distinct\"; "
                         "{\"a\":\"ID\",\"mark\":\"keep\"}; and \"none\" takes either back");
    else if (writer_change(exchange, say_mark, &wish, &error))
        exchange_fail(exchange, &error);
    else
        exchange->status = HTTP_NO_CONTENT;
    json_decref(root);
    return ANSWERED;
}
