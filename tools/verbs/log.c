/* doppel log [ID]: what was done, when and why; of one item as a story. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/array.h"
#include "library/items/item_reference.h"
#include "library/items/collection.h"
#include "tools/args/commands.h"
#include "tools/output/log_story.h"
#include "tools/memory.h"
#include "tools/args/timestamp.h"
#include "tools/output/output.h"
#include "core/printable.h"
#include "tools/signals.h"

static const struct column columns[] = {
    {"entry", "entry", CELL_NUMBER},
    {"time", "time", CELL_TIME},
    {"action", "action", CELL_TEXT},
    {"item", "item", CELL_NUMBER},
    {"decision", "decision", CELL_TEXT},
    {"of", "of", CELL_NUMBER},
    {"former", "former", CELL_NUMBER},
    {"reason", "reason", CELL_TEXT},
    {"scheme", NULL, CELL_TEXT},
    {"version", NULL, CELL_NUMBER},
    {"distance", "distance", CELL_NUMBER},
    {"bits", NULL, CELL_NUMBER},
    {"similarity", "similarity", CELL_NUMBER},
    {"false_positive_rate", NULL, CELL_NUMBER},
    {"source", "source", CELL_TEXT},
    {"record", "record", CELL_TEXT},
    {"path", "path", CELL_PATH},
    {"former_path", NULL, CELL_PATH},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

struct log {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct output *output; /* NULL: sentences */
    uint64_t item;         /* whose story; 0: all */
    uint64_t successor;    /* what took the place of `item`; 0: nothing */
    uint64_t entries;
    ARRAY(json_t *) held;    /* newest first: printed in the other order */
    ARRAY(char *) sentences; /* likewise */
};

/* ---- rows ---- */

static void put_known(json_t *row, const char *key, uint64_t value)
{
    if (value)
        put_integer(row, key, value);
}

static void put_limit(json_t *row, const struct doppel_log_entry *entry)
{
    static const char *const keys[] = {NULL, "max_distance", "min_similarity",
                                       "max_false_positive_rate"};
    json_t *limit = json_object();
    if (entry->limit_kind == DOPPEL_LIMIT_DISTANCE)
        put_integer(limit, keys[entry->limit_kind], (uint64_t)entry->limit);
    else
        put_rate(limit, keys[entry->limit_kind], entry->limit);
    put_value(row, "limit", limit);
}

static void put_log_match(json_t *row, const struct doppel_log_entry *entry)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(entry->scheme);
    if (entry->scheme) { /* of bytes alone there is none */
        put_text(row, "scheme", scheme ? scheme->name : "unknown");
        put_integer(row, "version", entry->version);
    }
    if (entry->bits) {
        put_integer(row, "distance", entry->distance);
        put_integer(row, "bits", entry->bits);
    }
    if (entry->similarity >= 0)
        put_number(row, "similarity", entry->similarity, 4);
    if (entry->limit_kind)
        put_limit(row, entry);
    if (entry->false_positive_rate >= 0)
        put_rate(row, "false_positive_rate", entry->false_positive_rate);
}

static char *joined(const char *first, const char *between, const char *last)
{
    char *text = must_allocate(strlen(first) + strlen(between) + strlen(last) + 1);
    stpcpy(stpcpy(stpcpy(text, first), between), last);
    return text;
}

/* Why a file could not be read or told by, and what the library was told, are sentences. */
static bool has_sentence(const struct doppel_log_entry *entry)
{
    return entry->action == DOPPEL_LOG_SAID ||
           (entry->decided && (entry->decision == DOPPEL_DECISION_UNREADABLE ||
                               entry->decision == DOPPEL_DECISION_TOO_SHORT));
}

/* Of a table: a sentence stands at the end, so that it widens no column; a list is named. */
static void put_short(json_t *row, const struct doppel_log_entry *entry, const json_t *detail)
{
    const char *reason = entry->reason ? entry->reason : "", *name = entry->name;
    const char *list = json_string_value(json_object_get(detail, "list"));
    char *text = NULL;
    if (entry->action == DOPPEL_LOG_LISTED && list) {
        text = joined(reason, " ", list);
        put_text(row, "reason", text);
    } else if (*reason && has_sentence(entry)) {
        text = joined(name, *name ? ": " : "", reason);
        json_object_del(row, "reason");
        json_object_del(row, "record");
        json_object_del(row, "path_base64");
        put_path(row, "path", text);
    }
    free(text);
}

static json_t *row_of(const struct doppel_log_entry *entry, bool is_table)
{
    json_t *row = json_object();
    put_integer(row, "entry", entry->entry);
    put_number(row, "time", (double)entry->time_ns / 1e9, 3);
    put_text(row, "action", doppel_log_action_name(entry->action));
    put_known(row, "item", entry->item);
    if (entry->name[0] == '/')
        put_path(row, "path", entry->name);
    else if (entry->name[0])
        put_text(row, "record", entry->name);
    if (entry->source)
        put_text(row, "source", entry->source);
    if (entry->decided)
        put_text(row, "decision", doppel_decision_name((enum doppel_decision)entry->decision));
    put_known(row, "of", entry->of);
    put_known(row, "former", entry->former);
    if (entry->former_name)
        put_path(row, "former_path", entry->former_name);
    if (entry->reason)
        put_text(row, "reason", entry->reason);
    if (entry->has_match)
        put_log_match(row, entry);
    json_t *detail = entry->detail ? json_loads(entry->detail, 0, NULL) : NULL;
    if (is_table)
        put_short(row, entry, detail);
    if (detail)
        put_value(row, "detail", detail);
    return row;
}

/* ---- a story ---- */

static char *told(const struct doppel_log_entry *entry, uint64_t id)
{
    char when[32] = "?", *line;
    struct tm local;
    time_t seconds = (time_t)(entry->time_ns / 1000000000);
    if (localtime_r(&seconds, &local))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    char *sentence = log_sentence(entry, id);
    char *shown = printable(sentence, true);
    size_t size = strlen(when) + strlen(shown) + 4;
    line = must_allocate(size);
    snprintf(line, size, "%s  %s", when, shown);
    free(shown);
    free(sentence);
    return line;
}

/* ---- visiting ---- */

static bool show_entry(void *context, const struct doppel_log_entry *entry,
                       const struct doppel_error *error)
{
    struct log *log = context;
    bool is_table = log->settings->format == FORMAT_TABLE;
    log->entries++;
    if (!error->status && entry->former == log->item && entry->action == DOPPEL_LOG_DECIDED)
        log->successor = entry->item;
    if (error->status) {
        report_input(log->report, "the log", error->message);
    } else if (!log->output) {
        char *line = told(entry, log->item);
        if (!log->settings->last)
            printf("%s\n", line);
        if (!log->settings->last || !array_push(&log->sentences, line))
            free(line);
    } else if (log->settings->last) {
        json_t *row = row_of(entry, is_table);
        if (!array_push(&log->held, row))
            json_decref(row);
    } else {
        output_row(log->output, row_of(entry, is_table));
    }
    return !signals_stopped();
}

static void show_held(struct log *log)
{
    while (log->held.count)
        output_row(log->output, log->held.items[--log->held.count]);
    while (log->sentences.count) {
        printf("%s\n", log->sentences.items[--log->sentences.count]);
        free(log->sentences.items[log->sentences.count]);
    }
    array_free(&log->held);
    array_free(&log->sentences);
}

/* ---- whose ---- */

struct named {
    const char *name, *path;
    uint64_t id;
};

/* The last item that the log knows under a name. */
static bool take_named(void *context, const struct doppel_log_entry *entry,
                       const struct doppel_error *error)
{
    struct named *named = context;
    if (!error->status && entry->item &&
        (strcmp(entry->name, named->name) == 0 || strcmp(entry->name, named->path) == 0))
        named->id = entry->item;
    return named->id == 0;
}

static bool stop_at_entry(void *context, const struct doppel_log_entry *entry,
                          const struct doppel_error *error)
{
    (void)entry, (void)error;
    *(bool *)context = true;
    return false;
}

/* Whether the log knows an item of that number, be it gone. */
static bool has_story(struct doppel_library *library, uint64_t id)
{
    const struct doppel_log_query one = {.item = id, .limit = 1};
    bool met = false;
    doppel_library_each_log(library, &one, stop_at_entry, &met, NULL);
    return met;
}

/* Of what is gone the log knows. 0: there is none. */
static uint64_t find_named(const struct log *log, const char *name, struct doppel_error *error)
{
    const struct doppel_log_query newest = {.newest_first = true};
    struct called called;
    uint64_t id;
    enum doppel_status status = called_find(log->library, name, &called, error);
    if (called_number(name, &id) && (status || called.id != id) && has_story(log->library, id))
        return id;
    if (!status) {
        called_say_other(log->library, name, log->report);
        return called.id;
    }
    char *path = absolute_path(name);
    struct named named = {.name = called_id(name) ? called_id(name) : name, .path = path};
    doppel_library_each_log(log->library, &newest, take_named, &named, error);
    free(path);
    return named.id;
}

static enum doppel_status run(struct log *log, struct doppel_error *error)
{
    const struct settings *settings = log->settings;
    const char *name = settings->operands.count ? settings->operands.items[0] : NULL;
    struct doppel_log_query query = {.limit = settings->last, .newest_first = settings->last};
    if (settings->since && !moment_parse(settings->since, &query.since_ns))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--since' takes a date such as 2026-05-31 or 2026-05-31T12:30, or a "
                           "time ago such as 90m, 12h or 7d, not '%s'",
                           settings->since);
    if (name)
        query.item = log->item = find_named(log, name, error);
    if (name && !log->item)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: the library never held such an item",
                           name);
    enum doppel_status status =
        doppel_library_each_log(log->library, &query, show_entry, log, error);
    if (status == DOPPEL_E_CANCELLED)
        status = DOPPEL_OK;
    show_held(log);
    if (status || log->output)
        return status;
    char *standing = log_standing(log->library, log->item, log->successor);
    if (!log->entries && strstr(standing, "any more"))
        status =
            doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: the library never held such an item", name);
    else
        printf("now                  %s\n", standing);
    free(standing);
    return status;
}

int cmd_log(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct log log = {.settings = settings, .report = report};
    if (open_library(settings, false, true, &log.library, &error))
        return report_fatal(report, "%s", error.message);
    bool story = settings->operands.count && settings->format == FORMAT_TABLE;
    log.output = story ? NULL : output_new(settings, &layout, report);
    enum doppel_status status = run(&log, &error);
    bool written = story ? fflush(stdout) == 0 : output_finish(log.output);
    doppel_library_close(log.library);
    if (status)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
