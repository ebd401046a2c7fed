/* doppel log [ID]: what was done, when and why; of one item as a story. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <doppel/decide.h>
#include <doppel/stream.h>

#include "tools/output/messages.h"
#include "core/array.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "tools/output/log_story.h"
#include "tools/memory.h"
#include "tools/args/timestamp.h"
#include "tools/output/output.h"
#include "core/text/printable.h"
#include "tools/signals.h"
#include "tools/verbs/log/sink.h"

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

struct log_command {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct output *output; /* NULL: sentences */
    uint64_t item;         /* whose story; 0: all */
    uint64_t successor;    /* what took the place of `item`; 0: nothing */
    uint64_t entries;
    uint64_t latest;                /* of their numbers, the greatest */
    bool holds;                     /* what is visited, to be printed later: */
    ARRAY(struct doppel_json) held; /* rows */
    ARRAY(char *) sentences;        /* of a story */
};

/* ---- rows ---- */

static char *join_around(const char *first, const char *between, const char *last)
{
    char *text = must_allocate(strlen(first) + strlen(between) + strlen(last) + 1);
    stpcpy(stpcpy(stpcpy(text, first), between), last);
    return text;
}

/* Why a file could not be read or recognised, and what was set in the library, are sentences. */
static bool has_sentence(const struct doppel_log_entry *entry)
{
    return entry->action == DOPPEL_LOG_METADATA ||
           (entry->decided && (entry->decision == DOPPEL_DECISION_UNREADABLE ||
                               entry->decision == DOPPEL_DECISION_TOO_SHORT));
}

/* In a table a sentence stands at the end, where it widens no column. @return given (free); NULL:
 * the entry is none */
static char *sentence_at_end(const struct doppel_log_entry *entry)
{
    if (!entry->reason || !*entry->reason || !has_sentence(entry))
        return NULL;
    return join_around(entry->name, *entry->name ? ": " : "", entry->reason);
}

/* In a table a list is named with what was done. @return given (free); NULL: there is none */
static char *reason_with_list(const struct doppel_log_entry *entry)
{
    if (entry->action != DOPPEL_LOG_LISTED || !entry->detail)
        return NULL;
    json_t *detail = json_loads(entry->detail, 0, NULL);
    const char *list = json_string_value(json_object_get(detail, "list"));
    char *text = list ? join_around(entry->reason ? entry->reason : "", " ", list) : NULL;
    json_decref(detail);
    return text;
}

static void write_table_row(struct doppel_json *row, const struct doppel_log_entry *entry)
{
    struct doppel_log_entry shown = *entry;
    char *sentence = sentence_at_end(entry), *reason = reason_with_list(entry);
    if (sentence) {
        shown.name = "";
        shown.reason = NULL;
    }
    if (reason)
        shown.reason = reason;
    doppel_log_entry_to_json(row, &shown);
    if (sentence) {
        doppel_json_path(row, "path", sentence);
        free(sentence);
    }
    free(reason);
}

static void write_log_row(const struct log_command *log, struct doppel_json *row,
                          const struct doppel_log_entry *entry)
{
    if (log->settings->format == FORMAT_TABLE)
        write_table_row(row, entry);
    else
        doppel_log_entry_to_json(row, entry);
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
    char *shown = must_have(printable(sentence, true));
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
    struct log_command *log = context;
    log->entries++;
    log->latest = entry->entry > log->latest ? entry->entry : log->latest;
    if (!error->status && entry->former == log->item && entry->action == DOPPEL_LOG_DECIDED)
        log->successor = entry->item;
    if (error->status) {
        report_input(log->report, "the log", error->message);
    } else if (!log->output) {
        char *line = told(entry, log->item);
        if (!log->holds)
            printf("%s\n", line);
        if (!log->holds || !array_push(&log->sentences, line))
            free(line);
    } else if (log->holds) {
        struct doppel_json row = {0};
        doppel_json_object_begin(&row, NULL);
        write_log_row(log, &row, entry);
        doppel_json_object_end(&row);
        if (!array_push(&log->held, row))
            doppel_json_free(&row);
    } else {
        write_log_row(log, output_begin(log->output), entry);
        output_end(log->output);
    }
    return !signals_stopped();
}

/* @param backwards what was visited last comes first */
static void show_held(struct log_command *log, bool backwards)
{
    const size_t rows = log->held.count, lines = log->sentences.count;
    for (size_t i = 0; i < rows; i++) {
        struct doppel_json *row = &log->held.items[backwards ? rows - 1 - i : i];
        output_object(log->output, row);
        doppel_json_free(row);
    }
    for (size_t i = 0; i < lines; i++) {
        char *line = log->sentences.items[backwards ? lines - 1 - i : i];
        printf("%s\n", line);
        free(line);
    }
    array_free(&log->held);
    array_free(&log->sentences);
}

/* ---- as it grows ---- */

/* Whoever waits for a line does not notice by a write that failed. */
static bool has_log_reader(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    if (poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLNVAL))
        signals_closed_pipe();
    return !signals_stopped();
}

static bool show_followed(void *context, struct doppel_error *error)
{
    struct log_command *log = context;
    (void)error;
    show_held(log, false);
    if (log->output)
        output_flush(log->output);
    else
        (void)fflush(stdout);
    return has_log_reader();
}

/* Nothing of the library is held while it is printed: who reads it may be slow. */
static enum doppel_status follow_log(struct log_command *log, struct doppel_log_query *query,
                                     struct doppel_error *error)
{
    const struct doppel_log_follower follower = {show_entry, show_followed, log};
    struct doppel_log_follow_options options = {.query = *query, .follow = true};
    if (log->latest)
        options.query.first = log->latest + 1;
    log->holds = true;
    enum doppel_status status =
        doppel_log_follow(log->report->run, log->library, &options, &follower, error);
    show_held(log, false);
    if (signals_interrupted())
        signals_forget(); /* that is how it ends */
    return status;
}

/* ---- whose ---- */

struct named_verb {
    const char *name, *path;
    uint64_t id;
};

/* The last item that the log knows under a name. */
static bool take_named(void *context, const struct doppel_log_entry *entry,
                       const struct doppel_error *error)
{
    struct named_verb *named = context;
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
static uint64_t find_named(const struct log_command *log, const char *name,
                           struct doppel_error *error)
{
    const struct doppel_log_query newest = {.newest_first = true};
    struct doppel_reference called;
    uint64_t id;
    enum doppel_status status = doppel_library_resolve(log->library, name, &called, error);
    if (doppel_reference_number(name, &id) && (status || called.id != id) &&
        has_story(log->library, id))
        return id;
    if (!status) {
        notice_other_reference(log->library, name, log->report);
        return called.id;
    }
    char *path = must_have(absolute_path(name));
    const char *id_in_name = doppel_reference_external_id(name);
    struct named_verb named = {.name = id_in_name ? id_in_name : name, .path = path};
    doppel_library_each_log(log->library, &newest, take_named, &named, error);
    free(path);
    return named.id;
}

static enum doppel_status print_log(struct log_command *log, struct doppel_error *error)
{
    const struct settings *settings = log->settings;
    const char *name = settings->operands.count ? settings->operands.items[0] : NULL;
    struct doppel_log_query query = {
        .first = settings->after + 1, .limit = settings->last, .newest_first = settings->last};
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
    enum doppel_status status = DOPPEL_OK;
    log->holds = settings->last;
    if (settings->last || !settings->follow)
        status = doppel_library_each_log(log->library, &query, show_entry, log, error);
    if (status == DOPPEL_E_CANCELLED)
        status = DOPPEL_OK;
    show_held(log, true);
    if (!status && settings->follow)
        return follow_log(log, &query, error);
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
    if (settings->sink || settings->sink_name)
        return log_to_sink(settings, report);
    struct log_command log = {.settings = settings, .report = report};
    if (open_library(settings, false, true, &log.library, &error))
        return report_fatal(report, "%s", error.message);
    bool story = settings->operands.count && settings->format == FORMAT_TABLE;
    log.output = story ? NULL : output_new(settings, &layout, report);
    enum doppel_status status = print_log(&log, &error);
    bool written = story ? fflush(stdout) == 0 : output_finish(log.output);
    doppel_library_close(log.library);
    if (status)
        return report_refusal(report, status, &error);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
