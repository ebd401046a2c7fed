/* doppel verify [--repair] [--files]: whether a library is whole, and what can be done if not. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <doppel/search_semantic.h>

#include "tools/args/engine_options.h"
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/memory.h"
#include "intake/open_cache.h"
#include "tools/output/output.h"
#include "tools/args/paths.h"
#include "decide/refresh.h"
#include "tools/signals.h"
#include "tools/verbs/verify/files.h"

static const struct column columns[] = {
    {"problem", "problem", CELL_TEXT},   {"id", "id", CELL_NUMBER},   {"detail", "", CELL_TEXT},
    {"repaired", "repaired", CELL_BOOL}, {"path", "path", CELL_PATH},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

/* An item that is damaged: told at the end, when it is known what became of it. */
struct damaged_item {
    uint64_t id;
    bool mended;
    const char *problem; /* "item" or "attachment" */
    char *path, *detail;
};

struct verifying {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct output *output;
    uint64_t problems, repaired;
    ARRAY(struct damaged_item) items;
};

static bool print_problem(void *context, const struct doppel_problem *problem)
{
    struct verifying *verifying = context;
    struct doppel_json *row = output_begin(verifying->output);
    doppel_json_text(row, "problem", problem->problem);
    if (problem->id)
        doppel_json_integer(row, "id", problem->id);
    if (problem->path)
        doppel_json_path(row, "path", problem->path);
    doppel_json_text(row, "detail", problem->detail);
    doppel_json_boolean(row, "repaired", problem->repaired);
    progress_clear(&verifying->report->progress);
    output_end(verifying->output);
    verifying->problems += !problem->is_news;
    verifying->repaired += problem->repaired && !problem->is_news;
    return !signals_stopped();
}

/* ---- damaged items ---- */

static bool take_problem(void *context, const struct doppel_problem *problem)
{
    struct verifying *verifying = context;
    const char *name = strcmp(problem->problem, "item") == 0         ? "item"
                       : strcmp(problem->problem, "attachment") == 0 ? "attachment"
                                                                     : NULL;
    if (!verifying->settings->repair || !name || problem->repaired || !problem->path)
        return print_problem(verifying, problem);
    const struct damaged_item item = {.id = problem->id,
                                      .problem = name,
                                      .path = must_copy(problem->path),
                                      .detail = must_copy(problem->detail)};
    if (!array_push(&verifying->items, item))
        no_memory();
    return !signals_stopped();
}

static bool add_to_list(void *context, const struct doppel_item *item)
{
    const char *path = item->path;
    struct refresh_list *list = context;
    if (path[0] == '/' && access(path, F_OK) == 0)
        (void)refresh_list_add(list, item, path, NULL);
    return false;
}

static enum doppel_status mend_file(void *context, struct intake_file *file,
                                    struct doppel_error *error)
{
    struct verifying *verifying = context;
    enum doppel_added added;
    uint64_t id = 0;
    enum doppel_status status = doppel_library_add(verifying->library, file->path, &file->stamp,
                                                   &file->record, &added, &id, error);
    for (size_t i = 0; i < verifying->items.count && !status; i++)
        if (verifying->items.items[i].id == id ||
            strcmp(verifying->items.items[i].path, file->path) == 0)
            verifying->items.items[i].mended = true;
    return status;
}

/* Their files are read again, where they are there. */
static enum doppel_status mend_from_files(struct verifying *verifying, struct doppel_error *error)
{
    struct doppel_cache *cache;
    struct refresh_list list = {0};
    enum doppel_status status = open_cache(verifying->report->run, &cache, error);
    if (status)
        return status;
    const struct refresh refresh = {read_options_from(verifying->settings), verifying->report->run,
                                    cache, mend_file, verifying};
    for (size_t i = 0; i < verifying->items.count; i++)
        (void)doppel_library_each_from(verifying->library, verifying->items.items[i].id,
                                       add_to_list, &list, NULL);
    status = refresh_run(&refresh, &list, error);
    refresh_list_free(&list);
    leave_cache(verifying->report->run, cache);
    return status ? status : doppel_library_commit(verifying->library, error);
}

/* What could not be mended leaves the library. */
static enum doppel_status give_up(struct verifying *verifying, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < verifying->items.count && !status; i++) {
        const struct damaged_item *item = &verifying->items.items[i];
        char detail[256];
        snprintf(detail, sizeof detail, "%s; %s", item->detail,
                 item->mended ? "recomputed from its file" : "quarantined");
        const struct doppel_problem problem = {.problem = item->problem,
                                               .id = item->id,
                                               .path = item->path,
                                               .detail = detail,
                                               .repaired = true};
        if (!item->mended)
            status = doppel_library_set_aside(verifying->library, item->id, error);
        if (status == DOPPEL_E_NOT_FOUND) /* told twice */
            status = DOPPEL_OK;
        else if (!status)
            print_problem(verifying, &problem);
    }
    return status ? status : doppel_library_commit(verifying->library, error);
}

static enum doppel_status mend_items(struct verifying *verifying, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (verifying->items.count)
        status = mend_from_files(verifying, error);
    if (!status)
        status = give_up(verifying, error);
    return status;
}

static void forget_items(struct verifying *verifying)
{
    for (size_t i = 0; i < verifying->items.count; i++) {
        free(verifying->items.items[i].path);
        free(verifying->items.items[i].detail);
    }
    array_free(&verifying->items);
}

/* ---- all ---- */

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
    verifying->repaired = verifying->problems; /* of the pages, which the salvage leaves behind */
    enum doppel_status status = doppel_library_salvage(directory, print_problem, verifying, error);
    free(directory);
    return status ? status
                  : open_library(verifying->settings, false, false, &verifying->library, error);
}

/* A check that is told to stop: SQLite looks at no flag of ours. */
struct verify_watch {
    struct doppel_library *library;
    atomic_bool done;
};

static void *watch(void *context)
{
    struct verify_watch *self = context;
    const struct timespec pause = {.tv_nsec = 50000000};
    while (!atomic_load(&self->done)) {
        if (signals_stopped())
            doppel_library_interrupt(self->library);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Signals are the main thread's. */
static bool start_watch(struct verify_watch *self, pthread_t *out)
{
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    bool started = pthread_create(out, NULL, watch, self) == 0;
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return started;
}

static enum doppel_status verify_watched(struct verifying *verifying, struct doppel_error *error)
{
    pthread_t thread;
    struct verify_watch self = {.library = verifying->library};
    bool watched = start_watch(&self, &thread);
    enum doppel_status status = doppel_library_verify(
        verifying->library, verifying->settings->repair, take_problem, verifying, error);
    atomic_store(&self.done, true);
    if (watched)
        pthread_join(thread, NULL);
    return status;
}

/* The mark that tells whose a catalogue is may be what is damaged. */
static enum doppel_status salvage_unmarked(struct verifying *verifying, struct doppel_error *error)
{
    struct doppel_error other;
    enum doppel_status status = salvage(verifying, &other);
    if (status && status != DOPPEL_E_FORMAT)
        *error = other;
    return status;
}

/* Pages first: what stands on damaged ones is not asked. */
static enum doppel_status verify(struct verifying *verifying, struct doppel_error *error)
{
    bool repair = verifying->settings->repair;
    enum doppel_status status =
        open_library(verifying->settings, false, !repair, &verifying->library, error);
    if (status == DOPPEL_E_FORMAT && repair)
        status = salvage_unmarked(verifying, error);
    if (status == DOPPEL_E_CORRUPT && !repair)
        return tell_unopened(verifying, error);
    if (!status)
        status = verify_watched(verifying, error);
    if (status == DOPPEL_E_CORRUPT && !repair)
        return verifying->problems ? DOPPEL_OK : tell_unopened(verifying, error);
    if (status == DOPPEL_E_CORRUPT) {
        status = salvage_unmarked(verifying, error);
        if (!status)
            status = verify_watched(verifying, error);
    }
    if (!status && repair)
        status = mend_items(verifying, error);
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
    report->problems += problems;
    if (!problems)
        report_notice(report, "no problems");
    else if (verifying->settings->repair && repaired == problems)
        report_notice(report, "%" PRIu64 " problem%s, %srepaired", problems,
                      problems == 1 ? "" : "s", problems == 1 ? "" : "all ");
    else if (verifying->settings->repair)
        report_notice(report, "%" PRIu64 " problem%s, %" PRIu64 " of them repaired", problems,
                      problems == 1 ? "" : "s", repaired);
    else
        report_notice(report,
                      "%" PRIu64 " problem%s; 'doppel verify --repair' mends what is the library's "
                      "own, 'doppel add' and 'doppel remove --gone' follow files",
                      problems, problems == 1 ? "" : "s");
}

static void say_old(const struct verifying *verifying)
{
    struct doppel_library_stats stats;
    if (verifying->library && !doppel_library_stats(verifying->library, &stats, NULL))
        notice_old_items(verifying->report, stats.old_items);
}

static enum doppel_status verify_vectors(struct verifying *verifying, struct doppel_error *error)
{
    char *directory = library_directory(verifying->settings);
    const struct doppel_semantic_check check = {
        verifying->library, directory, verifying->settings->repair, print_problem, verifying};
    enum doppel_status status = doppel_semantic_verify(&check, error);
    free(directory);
    return status;
}

int cmd_verify(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct verifying verifying = {
        .settings = settings, .report = report, .output = output_new(settings, &layout, report)};
    enum doppel_status status = verify(&verifying, &error);
    if (!status)
        status = verify_vectors(&verifying, &error);
    bool written = output_finish(verifying.output);
    forget_items(&verifying);
    if (!status)
        say_old(&verifying);
    doppel_library_close(verifying.library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!status)
        say_summary(&verifying);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
