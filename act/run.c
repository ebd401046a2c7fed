/* Taking the steps of a plan, or saying what they would be; what came of it, a line a file. */
#include "tools/output/messages.h"
#include "act/plan.h"

#include <stdlib.h>
#include <string.h>

#include "act/step.h"
#include "tools/output/output.h"
#include "tools/args/paths.h"
#include "tools/signals.h"

struct running {
    const struct settings *settings;
    struct report *report;
    struct output *output;
    struct journal *journal; /* NULL in a dry run */
    uint64_t run, steps;     /* 0: not begun */
    uint64_t files, left;
    int64_t bytes;
};

static const struct column columns[] = {
    {"action", "action", CELL_TEXT}, {"group", NULL, CELL_NUMBER}, {"done", "done", CELL_BOOL},
    {"size", "size", CELL_SIZE},     {"path", "path", CELL_PATH},  {"target", "target", CELL_PATH},
    {"keep", NULL, CELL_PATH},       {"reason", NULL, CELL_TEXT},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

/* ---- telling ---- */

/* What becomes of a file. */
struct outcome {
    const char *target; /* or NULL */
    const char *reason; /* why nothing is done; or NULL */
    bool done;
};

static void tell(struct running *running, const struct planned *file, const char *keep,
                 const struct outcome *outcome)
{
    json_t *row = json_object();
    put_text(row, "action", action_name(running->settings->action));
    put_integer(row, "group", file->group);
    put_path(row, "path", file->path);
    if (outcome->target)
        put_path(row, "target", outcome->target);
    put_path(row, "keep", keep);
    put_integer(row, "size", (uint64_t)file->stamp.size);
    put_bool(row, "done", outcome->done);
    if (outcome->reason)
        put_text(row, "reason", outcome->reason);
    output_row(running->output, row);
}

/* Nothing is done about a file. For people that is no row of the table. */
static void leave(struct running *running, const struct planned *file, const char *keep,
                  const char *reason)
{
    running->left++;
    if (running->settings->format != FORMAT_TABLE)
        tell(running, file, keep, &(struct outcome){NULL, reason, false});
}

static const char *done_word(enum action action)
{
    static const char *const words[] = {
        [ACTION_HARDLINK] = "hardlinked", [ACTION_REFLINK] = "reflinked",
        [ACTION_SYMLINK] = "symlinked",   [ACTION_TRASH] = "put into the trash",
        [ACTION_MOVE_TO] = "moved",
    };
    return words[action];
}

static void say_summary(const struct running *running)
{
    char size[32], rest[96] = "";
    bool frees = running->settings->action < ACTION_TRASH;
    const char *word = done_word(running->settings->action);
    const char *plural = running->files == 1 ? "" : "s";
    human_size((double)running->bytes, size, sizeof size);
    if (running->left)
        snprintf(rest, sizeof rest, "; %llu left as they are", (unsigned long long)running->left);
    if (running->settings->yes && running->files)
        report_notice(running->report, "%llu file%s %s, %s%s%s; 'doppel undo %llu' takes it back",
                      (unsigned long long)running->files, plural, word, size, frees ? " freed" : "",
                      rest, (unsigned long long)running->run);
    else if (running->settings->yes)
        report_notice(running->report, "no file %s%s", word, rest);
    else
        report_notice(
            running->report, "%llu file%s would be %s, %s%s%s; nothing is done without --yes",
            (unsigned long long)running->files, plural, word, size, frees ? " freed" : "", rest);
}

/* ---- doing ---- */

/* A step on the way into the journal and out again. What is written there decides. */
static enum doppel_status take_step(struct running *running, const struct pair *pair,
                                    struct step *step, struct doppel_error *reason,
                                    struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!running->run)
        status = journal_begin(running->journal, step->action, &running->run, error);
    if (status)
        return status;
    step_number(step, running->run, ++running->steps);
    status = journal_step(running->journal, step, error);
    if (status)
        return status;
    bool taken = step_take(pair, step, reason) == DOPPEL_OK;
    if (taken)
        reason->status = DOPPEL_OK; /* the sentence may be of a way that was tried first */
    return journal_end(running->journal, step, taken ? STEP_DONE : STEP_FAILED, error);
}

/* A duplicate on its way. */
struct act {
    const struct planned *file, *kept;
    bool identical;
    struct pair pair;
    struct doppel_error reason; /* why nothing was done */
};

/* What the row says that it became. */
static const char *told_target(const struct act *act, const struct step *step)
{
    if (step->action == ACTION_TRASH || step->action == ACTION_MOVE_TO)
        return step->target;
    return act->kept->path;
}

/* Both files are open. @param error ends the run */
static enum doppel_status act_on_pair(struct running *running, struct act *act,
                                      struct doppel_error *error)
{
    const struct settings *settings = running->settings;
    const struct step_wish wish = {settings->action, settings->move_to, !settings->yes};
    const struct stat *stat = &act->pair.twin.stat;
    struct step step = {0};
    enum doppel_status status = DOPPEL_OK;
    if (settings->yes && act->identical)
        held_same_bytes(&act->pair.twin, &act->pair.kept, &act->reason);
    if (!act->reason.status)
        step_make(&act->pair, &wish, &step, &act->reason);
    if (!act->reason.status && settings->yes)
        status = take_step(running, &act->pair, &step, &act->reason, error);
    if (!status && !act->reason.status) {
        tell(running, act->file, act->kept->path,
             &(struct outcome){told_target(act, &step), NULL, settings->yes});
        running->files++;
        running->bytes +=
            settings->action >= ACTION_TRASH || stat->st_nlink == 1 ? stat->st_size : 0;
    }
    step_free(&step);
    return status;
}

static enum doppel_status act_on(struct running *running, struct act *act,
                                 struct doppel_error *error)
{
    struct pair_files files = {act->file->path, act->kept->path, act->file->stamp, act->kept->stamp,
                               act->identical};
    enum doppel_status status = DOPPEL_OK;
    if (!act->reason.status &&
        !pair_open(&files, running->settings->action, &act->pair, &act->reason)) {
        status = act_on_pair(running, act, error);
        pair_close(&act->pair);
    }
    if (act->reason.status == DOPPEL_E_CANCELLED)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "%s", act->reason.message);
    if (status || !act->reason.status)
        return status;
    leave(running, act->file, act->kept->path, act->reason.message);
    if (act->reason.status != DOPPEL_E_EMPTY && act->reason.status != DOPPEL_E_NOT_FOUND)
        report_input(running->report, act->file->path, act->reason.message);
    return DOPPEL_OK;
}

static enum doppel_status act_on_all(struct running *running, const struct plan *plan,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < plan->files.count && !status; i++) {
        struct verdict verdict = act_plan_verdict(plan, i, running->settings);
        struct act act = {
            .file = &plan->files.items[i], .kept = verdict.kept, .identical = verdict.identical};
        if (signals_stopped())
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        if (!verdict.kept)
            continue;
        if (verdict.refused)
            doppel_fail(&act.reason, DOPPEL_E_ARGUMENT, "%s", verdict.left);
        if (verdict.left && !verdict.refused)
            leave(running, act.file, act.kept->path, verdict.left);
        else
            status = act_on(running, &act, error);
    }
    return status;
}

static void say_cut_short(struct report *report, const struct journal_content *content)
{
    for (size_t i = content->steps.count; i-- > 0;)
        if (content->steps.items[i].end == STEP_OPEN) {
            unsigned long long run = content->steps.items[i].run;
            report_notice(report, "run %llu was cut short: 'doppel undo %llu' takes it back", run,
                          run);
            return;
        }
}

static enum doppel_status open_journal(struct running *running, struct doppel_error *error)
{
    struct journal_content content;
    char *path = journal_file(running->settings);
    enum doppel_status status = path ? journal_open(path, &running->journal, &content, error)
                                     : doppel_fail(error, DOPPEL_E_ARGUMENT,
                                                   "no home for a journal: give '--journal FILE'");
    free(path);
    if (status)
        return status;
    say_cut_short(running->report, &content);
    journal_content_free(&content);
    return DOPPEL_OK;
}

enum doppel_status act_plan_run(const struct plan *plan, const struct settings *settings,
                                struct report *report, struct doppel_error *error)
{
    struct running running = {.settings = settings, .report = report};
    struct doppel_error late;
    enum doppel_status status = settings->yes ? open_journal(&running, error) : DOPPEL_OK;
    if (status)
        return status;
    running.output = output_new(settings, &layout, report);
    status = act_on_all(&running, plan, error);
    if (journal_close(running.journal, &late) && !status)
        status = doppel_fail(error, DOPPEL_E_IO, "%s", late.message);
    if (!output_finish(running.output) && !status)
        status = signals_stopped() ? DOPPEL_E_CANCELLED
                                   : doppel_fail(error, DOPPEL_E_IO, "not all could be told");
    if (!status || running.files)
        say_summary(&running);
    return status;
}
