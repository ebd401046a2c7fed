/* doppel list: what the library holds. */
#include <stdio.h>
#include <string.h>

#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/memory.h"
#include "tools/clustered/clustered.h"
#include "tools/output/output.h"
#include "tools/remote/remote.h"
#include "tools/remote/service.h"
#include "tools/signals.h"

static const struct column columns[] = {
    {"id", "id", CELL_NUMBER},           {"kind", "kind", CELL_TEXT},
    {"scheme", NULL, CELL_TEXT},         {"version", NULL, CELL_NUMBER},
    {"width", "width", CELL_NUMBER},     {"height", "height", CELL_NUMBER},
    {"quality", "quality", CELL_NUMBER}, {"duration", "duration", CELL_SECONDS},
    {"size", "size", CELL_SIZE},         {"mtime", NULL, CELL_TIME},
    {"added", "added", CELL_TIME},       {"digest", NULL, CELL_TEXT},
    {"record", "record", CELL_TEXT},     {"decision", NULL, CELL_TEXT},
    {"leader", NULL, CELL_NUMBER},       {"words", NULL, CELL_NUMBER},
    {"artist", "artist", CELL_TEXT},     {"title", "title", CELL_TEXT},
    {"album", "album", CELL_TEXT},       {"name", "name", CELL_TEXT},
    {"path", "path", CELL_PATH},         {"line", NULL, CELL_NUMBER},
    {"canonical", NULL, CELL_NUMBER},    {"source", NULL, CELL_TEXT},
    {"external_id", NULL, CELL_TEXT},    {"labels", NULL, CELL_TEXT},
    {"lists", NULL, CELL_TEXT},          {"list_state", NULL, CELL_TEXT},
    {"meta", NULL, CELL_TEXT},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

struct list {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct doppel_item_set wanted;
    struct output *output;
    uint64_t old;
};

/* A table has no room for details. */
static struct doppel_item_json_options listed_fields(const struct list *list)
{
    return (struct doppel_item_json_options){.details = list->settings->format != FORMAT_TABLE};
}

static void report_listed(const struct list *list, uint64_t id, const struct doppel_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "item %llu", (unsigned long long)id);
    report_input(list->report, name, error->message);
}

static void print_item_row(struct list *list, const struct doppel_item *item)
{
    const struct doppel_item_json_options options = listed_fields(list);
    struct doppel_error error;
    struct doppel_json *row = output_begin(list->output);
    if (doppel_item_to_json(row, list->library, item, &options, &error))
        report_listed(list, item->id, &error);
    output_end(list->output);
}

static void print_text_row(struct list *list, const struct doppel_library_text *text)
{
    const struct doppel_item_json_options options = listed_fields(list);
    struct doppel_error error;
    struct doppel_json *row = output_begin(list->output);
    if (doppel_library_text_to_json(row, list->library, text, &options, &error))
        report_listed(list, text->id, &error);
    output_end(list->output);
}

static bool print_listed_item(void *context, const struct doppel_item *item)
{
    struct list *list = context;
    enum doppel_kind kind = list->settings->kind;
    if (item->record.error.status)
        report_input(list->report, item->path, item->record.error.message);
    else if ((kind == DOPPEL_KIND_UNKNOWN || kind == item->record.kind) &&
             doppel_item_set_has(&list->wanted, item->id)) {
        print_item_row(list, item);
        if (item->damaged_length)
            report_input(list->report, item->path, "what the library keeps of it is damaged");
        list->old += doppel_record_is_old(&item->record);
    }
    return !signals_stopped();
}

static bool print_listed_text(void *context, const struct doppel_library_text *text)
{
    struct list *list = context;
    enum doppel_kind kind = list->settings->kind;
    if (text->error.status)
        report_input(list->report, "the library", text->error.message);
    else if ((kind == DOPPEL_KIND_UNKNOWN || kind == DOPPEL_KIND_TEXT) &&
             doppel_item_set_has(&list->wanted, text->id))
        print_text_row(list, text);
    return !signals_stopped();
}

/* ---- what could not be added ---- */

static const struct column failure_columns[] = {
    {"time", "tried", CELL_TIME}, {"status", NULL, CELL_TEXT}, {"reason", "reason", CELL_TEXT},
    {"size", "size", CELL_SIZE},  {"mtime", NULL, CELL_TIME},  {"path", "path", CELL_PATH},
};

static const struct layout failure_layout = {
    failure_columns, sizeof failure_columns / sizeof *failure_columns, NULL, "path", NULL};

static bool print_failure(void *context, const struct doppel_failure *failure)
{
    struct list *list = context;
    doppel_failure_to_json(output_begin(list->output), failure);
    output_end(list->output);
    return !signals_stopped();
}

/* ---- the verb ---- */

static enum doppel_status print_all_items(struct list *list, struct doppel_error *error)
{
    const struct doppel_everything_visitor everything = {1, print_listed_item, print_listed_text,
                                                         list};
    if (list->settings->failures)
        return doppel_library_each_failure(list->library, print_failure, list, error);
    enum doppel_status status = filter_library(list->settings, list->library, &list->wanted, error);
    if (!status)
        status = doppel_library_each_of_all(list->library, &everything, error);
    doppel_item_set_free(&list->wanted);
    return status;
}

static void add_parameter(struct doppel_json *path, const char *name, const char *value)
{
    if (!value)
        return;
    doppel_json_append(path, name, strlen(name));
    remote_add_word(path, value);
}

/* What the service has, of which it knows to choose. */
static int list_remote(const struct settings *settings, struct report *report)
{
    struct doppel_json path = {0}, where = {0};
    const char *kind = settings->kind ? doppel_kind_name(settings->kind) : NULL;
    if (settings->lists.count > 1 || settings->labels.count > 1)
        return report_fatal(report, "a service is asked for one '--list' and one '--label'");
    if (kind) {
        char of_kind[48];
        snprintf(of_kind, sizeof of_kind, "kind = '%s'%s", kind, settings->where ? " and (" : "");
        doppel_json_append(&where, of_kind, strlen(of_kind));
        if (settings->where) {
            doppel_json_append(&where, settings->where, strlen(settings->where));
            doppel_json_append(&where, ")", 1);
        }
    }
    doppel_json_append(&path, "/v1/items?limit=1000", 20);
    add_parameter(&path, "&where=", kind ? where.bytes : settings->where);
    add_parameter(&path, "&list=", settings->lists.count ? settings->lists.items[0] : NULL);
    add_parameter(&path, "&label=", settings->labels.count ? settings->labels.items[0] : NULL);
    if (path.failed || where.failed)
        no_memory();
    int code =
        remote_list(settings, report, path.bytes, "items", output_new(settings, &layout, report));
    doppel_json_free(&path);
    doppel_json_free(&where);
    return code;
}

int cmd_list(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct list list = {.settings = settings, .report = report};
    if (settings->server)
        return list_remote(settings, report);
    if (settings->clustered)
        return clustered_list(settings, report, output_new(settings, &layout, report));
    if (open_library(settings, false, true, &list.library, &error))
        return report_fatal(report, "%s", error.message);
    list.output = output_new(settings, settings->failures ? &failure_layout : &layout, report);
    enum doppel_status status = print_all_items(&list, &error);
    bool written = output_finish(list.output);
    doppel_library_close(list.library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    notice_old_items(report, list.old);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
