/* doppel undo [RUN]: take back what a run of --action did. */
#include <stdlib.h>
#include <string.h>

#include "act/undo.h"
#include "tools/args/commands.h"
#include "tools/output/output.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "tools/signals.h"
#include "core/values.h"

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

struct undoing {
    const struct settings *settings;
    struct report *report;
    struct output *output;
    struct journal *journal;
    struct journal_content content;
    uint64_t files, refused;
};

/* ---- the runs ---- */

static void list_run(struct output *output, const struct journal_content *content,
                     const struct journal_run *run)
{
    uint64_t counts[STEP_UNDONE + 1] = {0}, bytes = 0;
    for (size_t i = 0; i < content->steps.count; i++) {
        const struct step *step = &content->steps.items[i];
        if (step->run != run->run)
            continue;
        counts[step->end]++;
        bytes +=
            step->end == STEP_DONE || step->end == STEP_UNDONE ? (uint64_t)step->stamp.size : 0;
    }
    struct doppel_json *row = output_begin(output);
    doppel_json_integer(row, "run", run->run);
    doppel_json_integer(row, "time", (uint64_t)run->time_s);
    doppel_json_text(row, "action", action_name(run->action));
    doppel_json_integer(row, "files", counts[STEP_DONE] + counts[STEP_UNDONE]);
    doppel_json_integer(row, "size", bytes);
    doppel_json_integer(row, "undone", counts[STEP_UNDONE]);
    if (counts[STEP_OPEN])
        doppel_json_integer(row, "open", counts[STEP_OPEN]);
    output_end(output);
}

static void say_unreadable(struct report *report, const struct journal_content *content)
{
    if (content->unreadable)
        report_notice(report, "%llu damaged line%s of the journal passed over",
                      (unsigned long long)content->unreadable, content->unreadable == 1 ? "" : "s");
}

static int list_runs(const struct settings *settings, struct report *report, const char *path)
{
    struct doppel_error error;
    struct journal_content content;
    if (journal_read(path, &content, &error))
        return report_fatal(report, "%s", error.message);
    struct output *output = output_new(settings, &run_layout, report);
    for (size_t i = 0; i < content.runs.count; i++)
        list_run(output, &content, &content.runs.items[i]);
    say_unreadable(report, &content);
    if (!content.runs.count)
        report_notice(report, "nothing was done yet");
    journal_content_free(&content);
    return output_finish(output) ? EXIT_DONE : EXIT_WRONG_USE;
}

/* ---- undoing ---- */

static bool may_be_undone(const struct step *step)
{
    return step->end == STEP_DONE || step->end == STEP_OPEN;
}

/* The last run that did anything. 0: there is none */
static uint64_t last_run(const struct journal_content *content)
{
    for (size_t i = content->steps.count; i-- > 0;)
        if (content->steps.items[i].end != STEP_FAILED)
            return content->steps.items[i].run;
    return 0;
}

static void tell(const struct undoing *undoing, const struct step *step, bool done,
                 const char *reason)
{
    struct doppel_json *row = output_begin(undoing->output);
    doppel_json_integer(row, "run", step->run);
    doppel_json_text(row, "action", action_name(step->action));
    doppel_json_path(row, "path", step->path);
    if (step->action == ACTION_TRASH || step->action == ACTION_MOVE_TO)
        doppel_json_path(row, "target", step->target ? step->target : "");
    doppel_json_boolean(row, "done", done);
    doppel_json_text(row, "reason", reason);
    output_end(undoing->output);
}

static enum doppel_status undo_one(struct undoing *undoing, const struct step *step,
                                   struct doppel_error *error)
{
    struct doppel_error reason;
    bool dry_run = undoing->settings->dry_run;
    enum undone undone = step_undo(step, dry_run, &reason);
    undoing->files += undone == UNDO_DONE;
    undoing->refused += undone == UNDO_REFUSED;
    bool never_taken = undone == UNDO_NOTHING && step->end == STEP_OPEN; /* a run was cut short */
    if (!never_taken)
        tell(undoing, step, undone == UNDO_DONE && !dry_run,
             undone == UNDO_DONE ? NULL : reason.message);
    if (undone == UNDO_REFUSED)
        report_input(undoing->report, step->path, reason.message);
    if (undone == UNDO_REFUSED || dry_run)
        return DOPPEL_OK;
    return journal_end(undoing->journal, step, never_taken ? STEP_FAILED : STEP_UNDONE, error);
}

/* The last step first. */
static enum doppel_status undo_run(struct undoing *undoing, uint64_t run,
                                   struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bool any = false;
    for (size_t i = undoing->content.steps.count; i-- > 0 && !status && !signals_stopped();) {
        const struct step *step = &undoing->content.steps.items[i];
        if (step->run != run || !may_be_undone(step))
            continue;
        any = true;
        status = undo_one(undoing, step, error);
    }
    if (!any)
        report_notice(undoing->report, "run %llu: nothing is left to be undone",
                      (unsigned long long)run);
    else
        report_notice(undoing->report, "run %llu: %llu file%s %s", (unsigned long long)run,
                      (unsigned long long)undoing->files, undoing->files == 1 ? "" : "s",
                      undoing->settings->dry_run ? "would be brought back" : "brought back");
    return status;
}

static bool has_run(const struct journal_content *content, uint64_t run)
{
    for (size_t i = 0; i < content->runs.count; i++)
        if (content->runs.items[i].run == run)
            return true;
    return false;
}

static enum doppel_status undo_wanted(struct undoing *undoing, struct doppel_error *error)
{
    const struct strings *operands = &undoing->settings->operands;
    uint64_t run = last_run(&undoing->content);
    if (operands->count &&
        (!parse_whole(operands->items[0], 1, INT64_MAX, &run) || !has_run(&undoing->content, run)))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "there is no run '%s'; see 'doppel undo --list'", operands->items[0]);
    if (!run) {
        report_notice(undoing->report, "nothing was done yet");
        return DOPPEL_OK;
    }
    undoing->output = output_new(undoing->settings, &layout, undoing->report);
    enum doppel_status status = undo_run(undoing, run, error);
    if (!output_finish(undoing->output) && !status)
        status = doppel_fail(error, DOPPEL_E_IO, "not all could be told");
    return status;
}

static int undo(const struct settings *settings, struct report *report, const char *path)
{
    struct undoing undoing = {.settings = settings, .report = report};
    struct doppel_error error, late;
    if (settings->dry_run ? journal_read(path, &undoing.content, &error)
                          : journal_open(path, &undoing.journal, &undoing.content, &error))
        return report_fatal(report, "%s", error.message);
    say_unreadable(report, &undoing.content);
    enum doppel_status status = undo_wanted(&undoing, &error);
    journal_content_free(&undoing.content);
    if (journal_close(undoing.journal, &late) && !status)
        status = doppel_fail(&error, DOPPEL_E_IO, "%s", late.message);
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}

int cmd_undo(const struct settings *settings, struct report *report)
{
    char *path = journal_file(settings);
    if (!path)
        return report_fatal(report, "no home for a journal: give '--journal FILE'");
    int code =
        settings->list_runs ? list_runs(settings, report, path) : undo(settings, report, path);
    free(path);
    return code;
}
