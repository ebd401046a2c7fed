/* doppel stats: what a library holds, in numbers. */

#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/clustered/clustered.h"
#include "tools/output/output.h"

/* A line a number, for people and CSV; JSON is one object. */
static const struct column columns[] = {
    {"what", "what", CELL_TEXT},         {"name", "", CELL_TEXT},
    {"version", "version", CELL_NUMBER}, {"count", "count", CELL_NUMBER},
    {"bytes", "size", CELL_SIZE},        {"time", "time", CELL_TIME},
    {"old", "old version", CELL_BOOL},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static void print_object(struct output *output, const struct doppel_library_stats *stats)
{
    doppel_library_stats_to_json(output_begin(output), stats);
    output_end(output);
}

static struct doppel_json *begin_stats_row(struct output *output, const char *what,
                                           const char *name)
{
    struct doppel_json *row = output_begin(output);
    doppel_json_text(row, "what", what);
    doppel_json_text(row, "name", name);
    return row;
}

static void print_count(struct output *output, const char *what, const char *name, uint64_t count)
{
    doppel_json_integer(begin_stats_row(output, what, name), "count", count);
    output_end(output);
}

static void print_bytes(struct output *output, const char *name, uint64_t bytes)
{
    doppel_json_integer(begin_stats_row(output, "size", name), "bytes", bytes);
    output_end(output);
}

static void print_time(struct output *output, const char *name, int64_t time_ns)
{
    if (!time_ns)
        return;
    doppel_json_number(begin_stats_row(output, "added", name), "time", (double)time_ns / 1e9, 3);
    output_end(output);
}

static void print_shares(struct output *output, const struct doppel_library_stats *stats)
{
    for (size_t i = 0; i < stats->share_count; i++) {
        const struct doppel_library_share *share = &stats->shares[i];
        struct doppel_json *row = begin_stats_row(output, doppel_kind_name(share->kind),
                                                  doppel_library_share_scheme(share));
        doppel_json_integer(row, "version", share->version);
        doppel_json_integer(row, "count", share->items);
        doppel_json_boolean(row, "old", share->old);
        output_end(output);
    }
}

static void print_lines(struct output *output, const struct doppel_library_stats *stats)
{
    print_count(output, "items", NULL, stats->items);
    print_shares(output, stats);
    print_count(output, "records", NULL, stats->texts);
    for (size_t i = 0; i < DOPPEL_LIBRARY_DECISIONS; i++)
        if (stats->decisions[i])
            print_count(output, "records", doppel_decision_name((enum doppel_decision)i),
                        stats->decisions[i]);
    print_count(output, "groups", "ingest, mark", stats->groups);
    print_count(output, "duplicates", "ingest, mark", stats->followers);
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
    print_bytes(output, "recordings", stats->audio_bytes);
    print_bytes(output, "videos", stats->videos_bytes);
    print_bytes(output, "parts", stats->parts_bytes);
    print_bytes(output, "images/texts", stats->codes_bytes);
}

int cmd_stats(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    struct doppel_library_stats stats;
    if (settings->clustered)
        return clustered_stats(settings, report, output_new(settings, &layout, report));
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = doppel_library_stats(library, &stats, &error);
    doppel_library_close(library);
    if (status)
        return report_fatal(report, "%s", error.message);
    struct output *output = output_new(settings, &layout, report);
    if (settings->format == FORMAT_JSON)
        print_object(output, &stats);
    else
        print_lines(output, &stats);
    notice_old_items(report, stats.old_items);
    return output_finish(output) ? EXIT_DONE : EXIT_WRONG_USE;
}
