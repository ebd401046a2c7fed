/* /c/banks and /c/bank/NAME: lists, as banks. */
#include "serve/hma/hma.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "serve/writer.h"

/* ---- what a bank is ---- */

struct sought_bank {
    const char *name;
    bool met;
    enum doppel_list_state state;
};

static bool meet_bank(void *context, const struct doppel_list *list)
{
    struct sought_bank *sought = context;
    if (strcmp(list->name, sought->name) == 0) {
        sought->met = true;
        sought->state = list->state;
    }
    return !sought->met;
}

enum doppel_status hma_bank_state(struct doppel_library *library, const char *bank,
                                  enum doppel_list_state *out, struct doppel_error *error)
{
    struct sought_bank sought = {.name = bank};
    enum doppel_status status = doppel_library_each_list(library, meet_bank, &sought, error);
    if (sought.met)
        *out = sought.state;
    else if (!status)
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND, "there is no bank '%.64s'", bank);
    return sought.met ? DOPPEL_OK : status;
}

/* Whether a bank is benign, HMA has no field for: it is there where it is so. */
void hma_put_bank(struct doppel_json *json, const char *key, const char *bank,
                  enum doppel_list_state state)
{
    doppel_json_object_begin(json, key);
    doppel_json_number(json, "matching_enabled_ratio", state != DOPPEL_LIST_DISABLED, 1);
    doppel_json_text(json, "name", bank);
    if (state == DOPPEL_LIST_BENIGN)
        doppel_json_boolean(json, "benign", true);
    doppel_json_object_end(json);
}

/* ---- asking ---- */

static bool put_each_bank(void *context, const struct doppel_list *list)
{
    struct exchange *exchange = context;
    hma_put_bank(&exchange->json, NULL, list->name, list->state);
    return true;
}

static enum doppel_status put_all_banks(struct exchange *exchange, struct library_reader *reader,
                                        struct doppel_error *error)
{
    doppel_json_array_begin(&exchange->json, NULL);
    enum doppel_status status =
        doppel_library_each_list(reader->library, put_each_bank, exchange, error);
    if (status && status != DOPPEL_E_CORRUPT)
        return status;
    doppel_json_array_end(&exchange->json);
    exchange->status = HTTP_OK;
    return DOPPEL_OK;
}

enum handled hma_banks(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_all_banks);
}

static enum doppel_status put_one_bank(struct exchange *exchange, struct library_reader *reader,
                                       struct doppel_error *error)
{
    enum doppel_list_state state;
    enum doppel_status status = hma_bank_state(reader->library, exchange->rest, &state, error);
    if (status)
        return status;
    hma_put_bank(&exchange->json, NULL, exchange->rest, state);
    exchange->status = HTTP_OK;
    return DOPPEL_OK;
}

enum handled hma_bank(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_one_bank);
}

/* ---- making and changing ---- */

struct bank_wish {
    const char *bank; /* as it is called */
    const char *name; /* as it is to be called */
    bool make, there; /* it is to be made; it is there */
    bool has_state;   /* one was given */
    enum doppel_list_state state;
};

/* Capital letters, digits and underscores, no digit first, as HMA has it. */
static bool is_bank_name(const char *name)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return *name && strchr(first, *name) &&
           !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")];
}

static bool read_state(struct exchange *exchange, const json_t *root, struct bank_wish *wish)
{
    const json_t *ratio = json_object_get(root, "enabled_ratio");
    const json_t *enabled = json_object_get(root, "enabled");
    const json_t *benign = json_object_get(root, "benign");
    bool on = json_is_number(ratio) ? json_number_value(ratio) == 1 : !json_is_false(enabled);
    if (json_is_number(ratio) && !on && json_number_value(ratio) != 0) {
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "'enabled_ratio' is 1 or 0: a bank is matched always, or never");
        return false;
    }
    wish->has_state = json_is_number(ratio) || json_is_boolean(enabled) || json_is_boolean(benign);
    wish->state = json_is_true(benign) ? DOPPEL_LIST_BENIGN
                  : on                 ? DOPPEL_LIST_ACTIVE
                                       : DOPPEL_LIST_DISABLED;
    return true;
}

static bool read_bank_wish(struct exchange *exchange, const json_t *root, struct bank_wish *wish)
{
    const char *name = json_string_value(json_object_get(root, "name"));
    if (name)
        wish->name = name;
    if (wish->make ? name && is_bank_name(name) : !name || is_bank_name(name))
        return read_state(exchange, root, wish);
    exchange_problem(exchange, HTTP_BAD_REQUEST,
                     "the 'name' of a bank has capital letters, digits and '_', no digit first");
    return false;
}

static enum doppel_status rename_bank(struct doppel_library *library, const struct bank_wish *wish,
                                      struct doppel_error *error)
{
    const struct doppel_item_filter on_list = {.lists = &wish->bank, .list_count = 1};
    char *lists[] = {(char *)wish->name};
    const struct doppel_metadata about = {.lists = lists, .list_count = 1};
    struct doppel_list_rule rule;
    struct doppel_item_set items = {0};
    enum doppel_status status;
    TRY(doppel_library_get_list_rule(library, wish->bank, &rule, error));
    TRY(doppel_library_set_list_rule(library, wish->name, &rule, error));
    TRY(doppel_library_filter(library, &on_list, &items, error));
    for (size_t i = 0; i < items.count; i++)
        TRY(doppel_library_set_metadata(library, items.ids[i], &about, error));
    TRY(doppel_library_remove_list(library, wish->bank, error));
done:
    doppel_item_set_free(&items);
    return status;
}

static enum doppel_status set_bank(void *context, struct doppel_library *library,
                                   struct doppel_error *error)
{
    struct bank_wish *wish = context;
    enum doppel_list_state state;
    enum doppel_status status;
    bool renamed = !wish->make && strcmp(wish->bank, wish->name) != 0;
    if (!wish->make)
        TRY(hma_bank_state(library, wish->bank, &state, error));
    if (!wish->make && !wish->has_state)
        wish->state = state;
    if (wish->make || renamed) {
        status = hma_bank_state(library, wish->name, &state, error);
        wish->there = !status;
        if (!status)
            TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "there is a bank '%.64s' already",
                            wish->name));
        if (status != DOPPEL_E_NOT_FOUND)
            goto done;
    }
    TRY(doppel_library_set_list(library, wish->name, wish->state, error));
    if (renamed)
        TRY(rename_bank(library, wish, error));
done:
    return status;
}

static void answer_wish(struct exchange *exchange, struct bank_wish *wish)
{
    struct doppel_error error;
    json_t *root = hma_read_object(exchange);
    if (!root || !read_bank_wish(exchange, root, wish)) {
        json_decref(root);
        return;
    }
    if (writer_change(exchange, set_bank, wish, &error)) {
        if (wish->there)
            exchange_problem(exchange, HTTP_FORBIDDEN, "%s", error.message);
        else
            exchange_fail(exchange, &error);
    } else {
        exchange->status = wish->make ? HTTP_CREATED : HTTP_OK;
        hma_put_bank(&exchange->json, NULL, wish->name, wish->state);
    }
    json_decref(root);
}

enum handled hma_make_bank(struct exchange *exchange)
{
    if (!exchange->at_desk)
        return TAKES_TIME;
    answer_wish(exchange, &(struct bank_wish){.make = true});
    return ANSWERED;
}

enum handled hma_change_bank(struct exchange *exchange)
{
    if (!exchange->at_desk)
        return TAKES_TIME;
    answer_wish(exchange, &(struct bank_wish){.bank = exchange->rest, .name = exchange->rest});
    return ANSWERED;
}

/* ---- removing ---- */

/* One that is not there is no failure. */
static enum doppel_status remove_bank(void *context, struct doppel_library *library,
                                      struct doppel_error *error)
{
    const char *bank = context;
    const struct doppel_item_filter on_list = {.lists = &bank, .list_count = 1};
    struct doppel_item_set items = {0};
    enum doppel_list_state state;
    enum doppel_status status = hma_bank_state(library, bank, &state, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    TRY(doppel_library_filter(library, &on_list, &items, error));
    for (size_t i = 0; i < items.count; i++)
        TRY(hma_take_off(library, bank, items.ids[i], error));
    TRY(doppel_library_remove_list(library, bank, error));
done:
    doppel_item_set_free(&items);
    return status;
}

enum handled hma_remove_bank(struct exchange *exchange)
{
    struct doppel_error error;
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (writer_change(exchange, remove_bank, (void *)exchange->rest, &error)) {
        exchange_fail(exchange, &error);
        return ANSWERED;
    }
    exchange->status = HTTP_OK;
    doppel_json_object_begin(&exchange->json, NULL);
    doppel_json_text(&exchange->json, "message", "Done");
    doppel_json_object_end(&exchange->json);
    return ANSWERED;
}
