/* doppel verify [--repair] [--files]: whether a library is whole, and what can be done if not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/collection.h"
#include "tools/commands.h"
#include "tools/output.h"
#include "tools/paths.h"
#include "tools/signals.h"
#include "tools/verify_files.h"

static const struct column columns[] = {
    {"problem", "problem", CELL_TEXT},   {"id", "id", CELL_NUMBER},   {"detail", "", CELL_TEXT},
    {"repaired", "repaired", CELL_BOOL}, {"path", "path", CELL_PATH},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

struct verifying {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct output *output;
    uint64_t problems, repaired;
};

static bool print_problem(void *context, const struct doppel_problem *problem)
{
    struct verifying *verifying = context;
    json_t *row = json_object();
    put_text(row, "problem", problem->problem);
    if (problem->id)
        put_integer(row, "id", problem->id);
    if (problem->path)
        put_path(row, "path", problem->path);
    put_text(row, "detail", problem->detail);
    put_bool(row, "repaired", problem->repaired);
    progress_clear(&verifying->report->progress);
    output_row(verifying->output, row);
    verifying->problems++;
    verifying->repaired += problem->repaired;
    return !signals_stopped();
}

/* A catalogue that cannot be opened for its damage is a finding, too. */
static enum doppel_status tell_unopened(struct verifying *verifying,
                                        const struct doppel_error *error)
{
    const struct doppel_problem problem = {.problem = "catalogue", .detail = error->message};
    print_problem(verifying, &problem);
    return DOPPEL_OK;
}

static enum doppel_status salvage(struct verifying *verifying, struct doppel_error *error)
{
    char *directory = library_directory(verifying->settings);
    doppel_library_close(verifying->library);
    verifying->library = NULL;
    enum doppel_status status = doppel_library_salvage(directory, print_problem, verifying, error);
    free(directory);
    return status ? status
                  : open_library(verifying->settings, false, false, &verifying->library, error);
}

/* Pages first: what stands on damaged ones is not asked. */
static enum doppel_status verify(struct verifying *verifying, struct doppel_error *error)
{
    bool repair = verifying->settings->repair;
    enum doppel_status status =
        open_library(verifying->settings, false, !repair, &verifying->library, error);
    if (status == DOPPEL_E_CORRUPT && !repair)
        return tell_unopened(verifying, error);
    if (!status)
        status = doppel_library_verify(verifying->library, repair, print_problem, verifying, error);
    if (status == DOPPEL_E_CORRUPT && !repair)
        return verifying->problems ? DOPPEL_OK : tell_unopened(verifying, error);
    if (status == DOPPEL_E_CORRUPT) {
        status = salvage(verifying, error);
        if (!status)
            status =
                doppel_library_verify(verifying->library, true, print_problem, verifying, error);
    }
    if (!status && verifying->settings->files)
        status = verify_files(verifying->settings, verifying->report, verifying->library,
                              print_problem, verifying, error);
    return status;
}

/* For people; the exit code says the rest. */
static void say_summary(const struct verifying *verifying)
{
    struct report *report = verifying->report;
    uint64_t problems = verifying->problems, repaired = verifying->repaired;
    report->errors += problems;
    if (!problems)
        report_notice(report, "no problems");
    else if (verifying->settings->repair)
        report_notice(report, "%" PRIu64 " problem%s, %" PRIu64 " repaired", problems,
                      problems == 1 ? "" : "s", repaired);
    else
        report_notice(report, "%" PRIu64 " problem%s (--repair mends)", problems,
                      problems == 1 ? "" : "s");
}

static void say_old(const struct verifying *verifying)
{
    struct doppel_library_stats stats;
    if (verifying->library && !doppel_library_stats(verifying->library, &stats, NULL))
        say_old_items(verifying->report, stats.old_items);
}

int cmd_verify(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct verifying verifying = {
        .settings = settings, .report = report, .output = output_new(settings, &layout, report)};
    enum doppel_status status = verify(&verifying, &error);
    bool written = output_finish(verifying.output);
    if (!status)
        say_old(&verifying);
    doppel_library_close(verifying.library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!status)
        say_summary(&verifying);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
