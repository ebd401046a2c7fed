/* doppel undo [RUN]: take back what a run of --action did. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <doppel/act.h>

#include "tools/args/commands.h"
#include "tools/output/output.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "core/text/values.h"

static const struct column columns[] = {
    {"run", "run", CELL_NUMBER},     {"action", "action", CELL_TEXT}, {"done", "undone", CELL_BOOL},
    {"reason", "reason", CELL_TEXT}, {"path", "path", CELL_PATH},     {"target", "from", CELL_PATH},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static const struct column run_columns[] = {
    {"run", "run", CELL_NUMBER},         {"time", "time", CELL_TIME},
    {"action", "action", CELL_TEXT},     {"files", "files", CELL_NUMBER},
    {"size", "size", CELL_SIZE},         {"undone", "undone", CELL_NUMBER},
    {"open", "unfinished", CELL_NUMBER},
};
static const struct layout run_layout = {run_columns, sizeof run_columns / sizeof *run_columns,
                                         NULL, NULL, NULL};

/* ---- the runs ---- */

struct run_rows {
    const struct settings *settings;
    struct report *report;
    struct output *output; /* NULL until the first row */
};

static void begin_runs(struct run_rows *rows)
{
    if (!rows->output)
        rows->output = output_new(rows->settings, &run_layout, rows->report);
}

static void print_run(void *context, const struct doppel_act_run *run)
{
    struct run_rows *rows = context;
    begin_runs(rows);
    struct doppel_json *row = output_begin(rows->output);
    doppel_json_integer(row, "run", run->number);
    doppel_json_integer(row, "time", (uint64_t)run->time_s);
    doppel_json_text(row, "action", doppel_action_name(run->action));
    doppel_json_integer(row, "files", run->files);
    doppel_json_integer(row, "size", run->bytes);
    doppel_json_integer(row, "undone", run->undone);
    if (run->unfinished)
        doppel_json_integer(row, "open", run->unfinished);
    output_end(rows->output);
}

static int list_runs(const struct settings *settings, struct report *report, const char *path)
{
    struct doppel_error error;
    struct run_rows rows = {settings, report, NULL};
    if (doppel_act_runs(report->run, path, print_run, &rows, &error))
        return report_fatal(report, "%s", error.message);
    if (!rows.output)
        report_notice(report, "nothing was done yet");
    begin_runs(&rows);
    return output_finish(rows.output) ? EXIT_DONE : EXIT_WRONG_USE;
}

/* ---- undoing ---- */

struct undo_rows {
    const struct settings *settings;
    struct report *report;
    struct output *output; /* NULL until the first row */
};

static struct output *undo_output(struct undo_rows *rows)
{
    if (!rows->output)
        rows->output = output_new(rows->settings, &layout, rows->report);
    return rows->output;
}

static void print_undone(void *context, const struct doppel_act_step *step)
{
    struct undo_rows *rows = context;
    bool moves = step->action == DOPPEL_ACTION_TRASH || step->action == DOPPEL_ACTION_MOVE_TO;
    struct doppel_json *row = output_begin(undo_output(rows));
    doppel_json_integer(row, "run", step->run);
    doppel_json_text(row, "action", doppel_action_name(step->action));
    doppel_json_path(row, "path", step->path);
    if (moves)
        doppel_json_path(row, "target", step->target);
    doppel_json_boolean(row, "done", step->result == DOPPEL_ACT_DONE);
    doppel_json_text(row, "reason", step->reason);
    output_end(rows->output);
}

static void say_undone(const struct undo_rows *rows, const struct doppel_act_summary *summary)
{
    unsigned long long run = summary->run, files = summary->files;
    if (!summary->steps)
        report_notice(rows->report, "run %llu: nothing is left to be undone", run);
    else
        report_notice(rows->report, "run %llu: %llu file%s %s", run, files, files == 1 ? "" : "s",
                      rows->settings->dry_run ? "would be brought back" : "brought back");
}

static int undo(const struct settings *settings, struct report *report, const char *path)
{
    struct undo_rows rows = {settings, report, NULL};
    const struct doppel_act_visitor visitor = {print_undone, &rows};
    const char *wanted = settings->operands.count ? settings->operands.items[0] : NULL;
    struct doppel_undo_options options = {path, 0, settings->dry_run};
    struct doppel_act_summary summary;
    struct doppel_error error;
    if (wanted && !parse_whole(wanted, 1, INT64_MAX, &options.number))
        return report_fatal(report, "a run is a number, not '%s'; see 'doppel undo --list'",
                            wanted);
    enum doppel_status status = doppel_undo(report->run, &options, &visitor, &summary, &error);
    if (status == DOPPEL_E_NOT_FOUND) {
        report_input(report, wanted, "there is no such run; see 'doppel undo --list'");
        return EXIT_DONE;
    }
    if (status == DOPPEL_E_CANCELLED)
        status = DOPPEL_OK;
    if (summary.run) {
        say_undone(&rows, &summary);
        if (!output_finish(undo_output(&rows)) && !status)
            status = doppel_fail(&error, DOPPEL_E_IO, "not all could be told");
    } else if (!status) {
        report_notice(report, "nothing was done yet");
    }
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}

int cmd_undo(const struct settings *settings, struct report *report)
{
    char *path = journal_file(settings);
    if (!path)
        return report_fatal(report, "no home for a journal: give '--journal FILE'");
    if (settings->journal && access(path, F_OK) && errno == ENOENT) {
        free(path);
        return report_fatal(report, "%s: there is no such journal", settings->journal);
    }
    int code =
        settings->list_runs ? list_runs(settings, report, path) : undo(settings, report, path);
    free(path);
    return code;
}
