/* Acting on groups: a row for each file, what it came to, and the shell script that would do it. */
#include "tools/output/actions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/held.h"
#include "core/text/printable.h"
#include "tools/args/engine_options.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"
#include "tools/signals.h"

static const struct column columns[] = {
    {"action", "action", CELL_TEXT}, {"group", NULL, CELL_NUMBER}, {"done", "done", CELL_BOOL},
    {"size", "size", CELL_SIZE},     {"path", "path", CELL_PATH},  {"target", "target", CELL_PATH},
    {"keep", NULL, CELL_PATH},       {"reason", NULL, CELL_TEXT},  {"freed", NULL, CELL_NUMBER},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

enum doppel_status new_plan(const struct settings *settings, struct doppel_plan **out,
                            struct doppel_error *error)
{
    struct doppel_act_policy policy = act_policy_from(settings);
    char *journal = policy.dry_run ? NULL : journal_file(settings), *trash = trash_folder();
    const struct doppel_read_options read = read_options_from(settings);
    const struct doppel_compare_options compare = compare_options_from(settings);
    policy.journal = journal;
    policy.trash = trash;
    policy.read = &read;
    policy.compare = &compare;
    enum doppel_status status =
        policy.dry_run || journal
            ? doppel_plan_new(&policy, out, error)
            : doppel_fail(error, DOPPEL_E_ARGUMENT, "no home for a journal: give '--journal FILE'");
    free(journal);
    free(trash);
    return status;
}

/* ---- rows ---- */

struct action_rows {
    const struct settings *settings;
    struct report *report;
    struct output *output; /* NULL until the first row */
};

static struct output *action_output(struct action_rows *rows)
{
    if (!rows->output)
        rows->output = output_new(rows->settings, &layout, rows->report);
    return rows->output;
}

/* For people, what is left alone is no row of the table. */
static void print_action(void *context, const struct doppel_act_step *step)
{
    struct action_rows *rows = context;
    bool done = step->result == DOPPEL_ACT_DONE;
    if (!done && step->result != DOPPEL_ACT_WOULD && rows->settings->format == FORMAT_TABLE)
        return;
    struct doppel_json *row = output_begin(action_output(rows));
    doppel_json_text(row, "action", doppel_action_name(step->action));
    doppel_json_integer(row, "group", step->group);
    doppel_json_path(row, "path", step->path);
    if (step->target)
        doppel_json_path(row, "target", step->target);
    doppel_json_path(row, "keep", step->keep);
    doppel_json_integer(row, "size", step->size_bytes);
    if (step->result == DOPPEL_ACT_DONE || step->result == DOPPEL_ACT_WOULD)
        doppel_json_integer(row, "freed", step->freed_bytes);
    doppel_json_boolean(row, "done", done);
    doppel_json_text(row, "reason", step->reason);
    output_end(rows->output);
}

static void report_actions(const struct action_rows *rows, const struct doppel_act_summary *summary)
{
    static const char *const words[] = {
        [DOPPEL_ACTION_HARDLINK] = "hardlinked", [DOPPEL_ACTION_REFLINK] = "reflinked",
        [DOPPEL_ACTION_SYMLINK] = "symlinked",   [DOPPEL_ACTION_TRASH] = "put into the trash",
        [DOPPEL_ACTION_MOVE_TO] = "moved",
    };
    char size[32], rest[96] = "";
    const char *word = words[rows->settings->action];
    const char *freed = rows->settings->action < DOPPEL_ACTION_TRASH ? " freed" : "";
    const char *plural = summary->files == 1 ? "" : "s";
    unsigned long long files = summary->files, run = summary->run, left = summary->left;
    human_size((double)summary->bytes, size, sizeof size);
    if (left)
        snprintf(rest, sizeof rest, "; %llu left as %s", left, left == 1 ? "it is" : "they are");
    if (rows->settings->yes && files)
        report_notice(rows->report, "%llu file%s %s, %s%s%s; 'doppel undo %llu' takes it back",
                      files, plural, word, size, freed, rest, run);
    else if (rows->settings->yes)
        report_notice(rows->report, "no file %s%s", word, rest);
    else
        report_notice(rows->report,
                      "%llu file%s would be %s, %s%s%s; nothing is done without --yes", files,
                      plural, word, size, freed, rest);
}

enum doppel_status run_plan(const struct doppel_plan *plan, const struct settings *settings,
                            struct report *report, struct doppel_error *error)
{
    struct action_rows rows = {settings, report, NULL};
    const struct doppel_act_visitor visitor = {print_action, &rows};
    struct doppel_act_summary summary;
    enum doppel_status status = doppel_plan_run(report->run, plan, &visitor, &summary, error);
    if (!summary.begun)
        return status;
    if (!output_finish(action_output(&rows)) && !status)
        status = signals_stopped() ? DOPPEL_E_CANCELLED
                                   : doppel_fail(error, DOPPEL_E_IO, "not all could be told");
    if (!status || summary.files)
        report_actions(&rows, &summary);
    return status;
}

/* ---- the script ---- */

static const char beginning[] =
    "#!/bin/sh\n"
    "# Made by doppel: each duplicate becomes a hard link to the file that is kept, if the two "
    "still\n"
    "# have the same bytes. Read it, change it, then run it with sh.\n"
    "status=0\n"
    "\n"
    "# What is done: $1 is kept, $2 is its duplicate. Something else would be: rm -- \"$2\"\n"
    "act() {\n"
    "    beside=${2%/*}/.doppel-$$\n"
    "    ln -- \"$1\" \"$beside\" && mv -f -- \"$beside\" \"$2\"\n"
    "}\n"
    "\n"
    "duplicate() {\n"
    "    if [ -h \"$2\" ] || ! cmp -s -- \"$1\" \"$2\"; then\n"
    "        printf 'left alone, not the same as %s: %s\\n' \"$1\" \"$2\" >&2\n"
    "        status=3\n"
    "    elif ! [ \"$1\" -ef \"$2\" ]; then\n"
    "        act \"$1\" \"$2\" || status=3\n"
    "    fi\n"
    "}\n";

/* 'it'\''s': between single quotes nothing means anything to a shell but the next one. */
static void print_shell_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

/* Absolute, so that the script may be run anywhere; as it is when its folder is gone. */
static char *script_place(const char *path)
{
    char *place = real_place(path);
    if (!place && asprintf(&place, "./%s", path) < 0)
        place = NULL;
    return place;
}

static void print_duplicate(const struct doppel_plan_file *file,
                            const struct doppel_plan_file *kept)
{
    char *path = script_place(file->path), *keep = script_place(kept->path);
    if (path && keep) {
        fputs("duplicate ", stdout);
        print_shell_quoted(keep);
        putchar(' ');
        print_shell_quoted(path);
        putchar('\n');
    }
    free(path);
    free(keep);
}

static void print_left(const struct doppel_plan_file *file, const char *reason)
{
    fputs("# ", stdout);
    print_printable(stdout, file->path, false);
    printf(": %s\n", reason);
}

static void print_group_head(const struct doppel_plan *plan, size_t keep)
{
    size_t files = 0;
    uint64_t bytes = 0;
    char size[32];
    for (size_t i = keep + 1; i < doppel_plan_count(plan); i++) {
        const struct doppel_plan_file *file = doppel_plan_get(plan, i);
        if (file->keep != keep)
            break;
        bool acts = file->duplicate_of != i && !file->left;
        files += acts;
        bytes += acts ? file->freed_bytes : 0;
    }
    human_size((double)bytes, size, sizeof size);
    printf("\n# group %llu: %zu file%s, %s\n",
           (unsigned long long)doppel_plan_get(plan, keep)->group, files, files == 1 ? "" : "s",
           size);
}

enum doppel_status print_script(const struct doppel_plan *plan, struct doppel_error *error)
{
    errno = 0;
    fputs(beginning, stdout);
    for (size_t i = 0; i < doppel_plan_count(plan); i++) {
        const struct doppel_plan_file *file = doppel_plan_get(plan, i);
        if (file->keep == i)
            print_group_head(plan, i);
        else if (file->duplicate_of == i)
            print_left(file, "lies in a reference folder");
        else if (file->left)
            print_left(file, file->left);
        else
            print_duplicate(file, doppel_plan_get(plan, file->duplicate_of));
    }
    fputs("\nexit $status\n", stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return DOPPEL_OK;
    if (errno == EPIPE) {
        signals_closed_pipe();
        return DOPPEL_E_CANCELLED;
    }
    return doppel_fail(error, DOPPEL_E_IO, "standard output: %s", strerror(errno));
}
