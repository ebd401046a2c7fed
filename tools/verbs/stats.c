/* doppel stats: what a library holds, in numbers. */
#include <stdio.h>

#include "library/items/collection.h"
#include "tools/args/commands.h"
#include "tools/output/output.h"

/* A line a number, for people and CSV; JSON is one object. */
static const struct column columns[] = {
    {"what", "what", CELL_TEXT},         {"name", "", CELL_TEXT},
    {"version", "version", CELL_NUMBER}, {"count", "count", CELL_NUMBER},
    {"bytes", "size", CELL_SIZE},        {"time", "time", CELL_TIME},
    {"old", "old version", CELL_BOOL},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static const char *const decision_names[DOPPEL_LIBRARY_DECISIONS] = {
    "new", "duplicate", "revision", "part", "too_short", "unreadable", "conflict"};

static const char *scheme_name(const struct doppel_library_share *share)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(share->scheme);
    return scheme ? scheme->name : share->scheme == DOPPEL_SCHEME_NONE ? "none" : "unknown";
}

/* ---- JSON ---- */

static json_t *shares_of(const struct doppel_library_stats *stats)
{
    json_t *list = json_array();
    for (size_t i = 0; i < stats->share_count; i++) {
        const struct doppel_library_share *share = &stats->shares[i];
        json_t *row = json_object();
        put_text(row, "kind", doppel_kind_name(share->kind));
        put_text(row, "scheme", scheme_name(share));
        put_integer(row, "version", share->version);
        put_integer(row, "items", share->items);
        put_bool(row, "old", share->old);
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *object_of(const struct doppel_library_stats *stats)
{
    json_t *object = json_object(), *decisions = json_object(), *lists = json_object();
    for (size_t i = 0; i < DOPPEL_LIBRARY_DECISIONS; i++)
        put_integer(decisions, decision_names[i], stats->decisions[i]);
    for (int i = 0; i < DOPPEL_LIBRARY_STATES; i++)
        put_integer(lists, doppel_list_state_name((enum doppel_list_state)i), stats->lists[i]);
    put_integer(object, "items", stats->items);
    put_integer(object, "old_items", stats->old_items);
    put_value(object, "kinds", shares_of(stats));
    put_integer(object, "records", stats->texts);
    put_value(object, "decisions", decisions);
    put_integer(object, "groups", stats->groups);
    put_integer(object, "duplicates", stats->followers);
    put_value(object, "lists", lists);
    put_integer(object, "listed", stats->listed);
    put_integer(object, "labels", stats->labels);
    put_integer(object, "sources", stats->sources);
    put_integer(object, "marks", stats->marks);
    put_integer(object, "digests", stats->digests);
    put_integer(object, "failures", stats->failures);
    put_integer(object, "log_entries", stats->log_entries);
    if (stats->oldest_ns) {
        put_number(object, "oldest", (double)stats->oldest_ns / 1e9, 3);
        put_number(object, "newest", (double)stats->newest_ns / 1e9, 3);
    }
    put_integer(object, "catalogue_bytes", stats->catalogue_bytes);
    put_integer(object, "sounds_bytes", stats->audio_bytes);
    put_integer(object, "videos_bytes", stats->videos_bytes);
    return object;
}

/* ---- lines ---- */

static json_t *line(const char *what, const char *name)
{
    json_t *row = json_object();
    put_text(row, "what", what);
    if (name)
        put_text(row, "name", name);
    return row;
}

static void print_count(struct output *output, const char *what, const char *name, uint64_t count)
{
    json_t *row = line(what, name);
    put_integer(row, "count", count);
    output_row(output, row);
}

static void print_bytes(struct output *output, const char *name, uint64_t bytes)
{
    json_t *row = line("size", name);
    put_integer(row, "bytes", bytes);
    output_row(output, row);
}

static void print_time(struct output *output, const char *name, int64_t time_ns)
{
    json_t *row = line("added", name);
    put_number(row, "time", (double)time_ns / 1e9, 3);
    if (time_ns)
        output_row(output, row);
    else
        json_decref(row);
}

static void print_shares(struct output *output, const struct doppel_library_stats *stats)
{
    for (size_t i = 0; i < stats->share_count; i++) {
        const struct doppel_library_share *share = &stats->shares[i];
        json_t *row = line(doppel_kind_name(share->kind), scheme_name(share));
        put_integer(row, "version", share->version);
        put_integer(row, "count", share->items);
        put_bool(row, "old", share->old);
        output_row(output, row);
    }
}

static void print_lines(struct output *output, const struct doppel_library_stats *stats)
{
    print_count(output, "items", NULL, stats->items);
    print_shares(output, stats);
    print_count(output, "records", NULL, stats->texts);
    for (size_t i = 0; i < DOPPEL_LIBRARY_DECISIONS; i++)
        if (stats->decisions[i])
            print_count(output, "records", decision_names[i], stats->decisions[i]);
    print_count(output, "groups", "linked", stats->groups);
    print_count(output, "duplicates", "linked", stats->followers);
    for (int i = 0; i < DOPPEL_LIBRARY_STATES; i++)
        if (stats->lists[i])
            print_count(output, "lists", doppel_list_state_name((enum doppel_list_state)i),
                        stats->lists[i]);
    print_count(output, "items on lists", NULL, stats->listed);
    print_count(output, "labels", NULL, stats->labels);
    print_count(output, "sources", "of authority", stats->sources);
    print_count(output, "marks", NULL, stats->marks);
    print_count(output, "digests", "imported", stats->digests);
    print_count(output, "failures", NULL, stats->failures);
    print_count(output, "log entries", NULL, stats->log_entries);
    print_time(output, "first", stats->oldest_ns);
    print_time(output, "last", stats->newest_ns);
    print_bytes(output, "catalogue", stats->catalogue_bytes);
    print_bytes(output, "sounds", stats->audio_bytes);
    print_bytes(output, "videos", stats->videos_bytes);
}

int cmd_stats(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    struct doppel_library_stats stats;
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = doppel_library_stats(library, &stats, &error);
    doppel_library_close(library);
    if (status)
        return report_fatal(report, "%s", error.message);
    struct output *output = output_new(settings, &layout, report);
    if (settings->format == FORMAT_JSON)
        output_row(output, object_of(&stats));
    else
        print_lines(output, &stats);
    say_old_items(report, stats.old_items);
    return output_finish(output) ? EXIT_DONE : EXIT_WRONG_USE;
}
