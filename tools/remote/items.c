/* doppel --server URL list, groups, show, tag, mark: what is in the service's library. */
#include "tools/remote/remote.h"

#include <string.h>

#include "core/text/printable.h"
#include "core/try.h"
#include "tools/args/metadata_options.h"
#include "tools/memory.h"
#include "tools/remote/service.h"
#include "tools/signals.h"

/* ---- rows ---- */

static bool print_listed_row(void *context, const json_t *row)
{
    remote_print(context, row);
    return !signals_stopped();
}

int remote_list(const struct settings *settings, struct report *report, const char *path,
                const char *key, struct output *output)
{
    struct doppel_error error;
    struct remote remote = {0};
    enum doppel_status status;
    TRY(remote_open(settings, report, &remote, &error));
    TRY(remote_each(&remote, path, key, print_listed_row, output, &error));
done:
    remote_close(&remote);
    bool written = output_finish(output);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

/* ---- items by their names ---- */

/* What is done with one. */
typedef enum doppel_status item_visitor(void *context, const struct remote *remote,
                                        const char *path, struct doppel_error *error);

/* Whether the next item may have another answer. */
static bool may_differ_by_item(enum doppel_status status)
{
    return status == DOPPEL_E_NOT_FOUND;
}

static int each_operand(const struct settings *settings, struct report *report, item_visitor *visit,
                        void *context)
{
    struct doppel_error error;
    struct remote remote;
    struct doppel_json path = {0};
    enum doppel_status status = remote_open(settings, report, &remote, &error);
    if (status)
        return report_fatal(report, "%s", error.message);
    for (size_t i = 0; i < settings->operands.count && !status && !signals_stopped(); i++) {
        const char *name = settings->operands.items[i];
        doppel_json_clear(&path);
        doppel_json_append(&path, "/v1/items/", 10);
        remote_add_word(&path, name);
        if (path.failed)
            no_memory();
        /* The path of no name is another one. */
        status = *name ? visit(context, &remote, path.bytes, &error)
                       : doppel_fail(&error, DOPPEL_E_NOT_FOUND, "the library holds no such item");
        if (!may_differ_by_item(status))
            continue;
        report_input(report, name, error.message);
        status = DOPPEL_OK;
    }
    doppel_json_free(&path);
    remote_close(&remote);
    return status && status != DOPPEL_E_CANCELLED ? report_fatal(report, "%s", error.message)
                                                  : EXIT_DONE;
}

struct remote_showing {
    remote_item_printer *print;
    void *context;
};

static enum doppel_status show_item(void *context, const struct remote *remote, const char *path,
                                    struct doppel_error *error)
{
    const struct remote_showing *showing = context;
    struct doppel_json row = {0};
    json_t *item;
    enum doppel_status status = remote_get(remote, path, &item, error);
    if (status)
        return status;
    if (!json_is_integer(json_object_get(item, "id"))) {
        json_decref(item);
        return remote_fail_answer(remote, error);
    }
    doppel_json_object_begin(&row, NULL);
    remote_put_members(&row, item, "");
    showing->print(showing->context, &row);
    doppel_json_free(&row);
    json_decref(item);
    return DOPPEL_OK;
}

int remote_show(const struct settings *settings, struct report *report, remote_item_printer *print,
                void *context)
{
    struct remote_showing showing = {print, context};
    return each_operand(settings, report, show_item, &showing);
}

/* ---- saying something ---- */

static void say_member_words(json_t *object, const char *key, const struct strings *words)
{
    if (!words->count)
        return;
    json_t *list = must_have(json_array());
    for (size_t i = 0; i < words->count; i++)
        json_array_append_new(list, must_have(json_string(words->items[i])));
    json_object_set_new(object, key, list);
}

static void say_member(json_t *object, const char *key, const char *word)
{
    if (word)
        json_object_set_new(object, key, must_have(json_string(word)));
}

static enum doppel_status send_tags(void *context, const struct remote *remote, const char *path,
                                    struct doppel_error *error)
{
    const struct settings *settings = context;
    json_t *said = must_have(json_object()), *object = said;
    if (settings->take_back) {
        said = must_have(json_object());
        json_object_set_new(said, "remove", object);
    }
    say_member_words(object, "lists", &settings->lists);
    say_member_words(object, "labels", &settings->labels);
    say_member(object, "id", settings->external_id);
    say_member(object, "source", settings->source);
    if (settings->meta)
        json_object_set_new(object, "meta", must_have(json_loads(settings->meta, 0, NULL)));
    return remote_tell(remote, "PATCH", path, said, error);
}

int remote_tag(const struct settings *settings, struct report *report)
{
    return each_operand(settings, report, send_tags, (void *)settings);
}

int remote_mark(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct remote remote;
    for (size_t i = 0; i < settings->operands.count; i++)
        if (!utf8_valid(settings->operands.items[i]))
            return report_fatal(report, "what an item is called goes as UTF-8: give its id");
    json_t *said = must_have(json_object());
    say_member(said, "a", settings->operands.items[0]);
    say_member(said, "b", settings->operands.items[1]);
    say_member(said, "note", settings->note);
    say_member(said, "mark", settings->same ? "same" : settings->distinct ? "distinct" : "none");
    enum doppel_status status = remote_open(settings, report, &remote, &error);
    if (status) {
        json_decref(said);
        return report_fatal(report, "%s", error.message);
    }
    status = remote_tell(&remote, "POST", "/v1/marks", said, &error);
    remote_close(&remote);
    return status ? report_refusal(report, status, &error) : EXIT_DONE;
}
