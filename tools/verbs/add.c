/* doppel add PATH...: fingerprint files and remember them in the library. */
#include <stdlib.h>
#include <time.h>

#include "tools/args/engine_options.h"
#include "tools/memory.h"
#include "tools/output/messages.h"
#include "tools/args/metadata_options.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "intake/reader.h"
#include "decide/known_failures.h"
#include "intake/open_cache.h"
#include "tools/clustered/clustered.h"
#include "tools/output/added.h"
#include "decide/refresh.h"

/* What is added is made permanent at least so often. */
enum { COMMIT_FILES = 500, COMMIT_SECONDS = 1 };

struct add {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct output *output;
    struct doppel_json pending[COMMIT_FILES]; /* rows are printed once what they say is permanent */
    size_t pending_count, uncommitted;
    time_t committed;
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE]; /* by enum doppel_added */
    enum doppel_status status;               /* of a commit while files failed */
    struct doppel_error error;
};

static void end_transaction(struct add *add, bool permanent)
{
    for (size_t i = 0; i < add->pending_count; i++) {
        if (permanent)
            output_object(add->output, &add->pending[i]);
        doppel_json_free(&add->pending[i]);
    }
    add->pending_count = 0;
    add->uncommitted = 0;
    add->committed = time(NULL);
}

static enum doppel_status commit(struct add *add, struct doppel_error *error)
{
    enum doppel_status status = doppel_library_commit(add->library, error);
    end_transaction(add, status == DOPPEL_OK);
    return status;
}

static enum doppel_status commit_if_due(struct add *add, struct doppel_error *error)
{
    add->uncommitted++;
    bool due = add->uncommitted == COMMIT_FILES || time(NULL) - add->committed >= COMMIT_SECONDS;
    return due ? commit(add, error) : DOPPEL_OK;
}

/* The item of an unchanged file, of whatever kind. */
static enum doppel_status find_known(const struct add *add, const char *path,
                                     const struct doppel_file_stamp *stamp, uint64_t *out_id)
{
    static const enum doppel_kind kinds[] = {DOPPEL_KIND_IMAGE, DOPPEL_KIND_TEXT, DOPPEL_KIND_VIDEO,
                                             DOPPEL_KIND_AUDIO};
    bool videos = settings_scheme(add->settings, DOPPEL_KIND_VIDEO);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct doppel_scheme *scheme = settings_scheme(add->settings, kinds[i]);
        if (videos && kinds[i] == DOPPEL_KIND_AUDIO && named_as_video(path))
            continue; /* its audio may have been added alone, before */
        if (scheme && doppel_library_known(add->library, path, stamp, scheme, out_id) == DOPPEL_OK)
            return DOPPEL_OK;
    }
    return DOPPEL_E_NOT_FOUND;
}

/* It may have been read in another way. */
static bool is_asked_anew(const struct add *add)
{
    return add->settings->text_format >= 0 || add->settings->pcm.format;
}

static bool library_knows(void *context, const char *path, const struct doppel_file_stamp *stamp)
{
    const struct add *add = context;
    uint64_t id;
    if (is_asked_anew(add))
        return false;
    char *absolute = must_have(absolute_path(path));
    bool known = find_known(add, absolute, stamp, &id) == DOPPEL_OK;
    free(absolute);
    return known;
}

static bool fails(void *context, const char *path, const struct doppel_file_stamp *stamp,
                  struct doppel_error *out)
{
    const struct add *add = context;
    if (is_asked_anew(add))
        return false;
    char *absolute = must_have(absolute_path(path));
    bool known = failure_is_known(add->report->run, add->library, absolute, stamp, out);
    free(absolute);
    return known;
}

static void remember_failure(void *context, const char *path, const struct doppel_file_stamp *stamp,
                             const struct doppel_error *reason)
{
    struct add *add = context;
    char *absolute = must_have(absolute_path(path));
    add->status =
        failure_keep(add->report->run, add->library, absolute, stamp, reason, &add->error);
    free(absolute);
    if (!add->status)
        add->status = commit_if_due(add, &add->error);
}

/* @param path under which the library has it, or is to have it */
static enum doppel_status add_as(struct add *add, const struct intake_file *file, const char *path,
                                 struct doppel_error *error)
{
    enum doppel_added added = DOPPEL_ADDED_UNCHANGED;
    uint64_t id = 0;
    enum doppel_status status = DOPPEL_OK;
    if (file->known)
        status = find_known(add, path, &file->stamp, &id);
    else
        status =
            doppel_library_add(add->library, path, &file->stamp, &file->record, &added, &id, error);
    if (status == DOPPEL_OK)
        status = about_tell(add->settings, add->library, id, error);
    if (status == DOPPEL_OK && !file->known)
        status = doppel_library_forget_failure(add->library, path, error);
    if (status == DOPPEL_OK && added_is_printed(add->settings)) {
        struct doppel_json *row = &add->pending[add->pending_count++];
        *row = (struct doppel_json){0};
        added_to_json(row, id, path, added);
    }
    add->counts[added] += status == DOPPEL_OK;
    return status ? status : commit_if_due(add, error);
}

static enum doppel_status add_read_file(struct add *add, const struct intake_file *file,
                                        struct doppel_error *error)
{
    char *path = must_have(absolute_path(file->path));
    enum doppel_status status = add_as(add, file, path, error);
    free(path);
    return status;
}

/* ---- items that are there ---- */

static enum doppel_status add_known_file(void *context, struct intake_file *file,
                                         struct doppel_error *error)
{
    return add_as(context, file, file->path, error);
}

static enum doppel_status refresh_items(struct add *add, struct doppel_cache *cache,
                                        struct doppel_error *error)
{
    struct refresh_list list = {0};
    const struct refresh refresh = {read_options_from(add->settings), add->report->run, cache,
                                    add_known_file, add};
    enum doppel_status status =
        refresh_list_choose(&add->settings->operands, add->report->run, add->library, &list, error);
    if (!status)
        status = refresh_run(&refresh, &list, error);
    refresh_list_free(&list);
    return status;
}

/* ---- files ---- */

static enum doppel_status add_all_files(struct add *add, struct intake *intake,
                                        struct doppel_error *error)
{
    struct intake_file file;
    enum doppel_status status;
    while ((status = intake_next(intake, &file, error)) == DOPPEL_OK) {
        status = add->status ? doppel_fail(error, add->status, "%s", add->error.message)
                             : add_read_file(add, &file, error);
        intake_file_free(&file);
        if (status)
            return status;
    }
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status walk_files(struct add *add, struct doppel_cache *cache,
                                     struct doppel_error *error)
{
    struct doppel_walk_options walk = walk_options_from(add->settings);
    struct intake_options options = {
        .read = read_options_from(add->settings),
        .run = add->report->run,
        .walk = &walk,
        .cache = cache,
        .attachments = true,
        .known = library_knows,
        .fails = fails,
        .failed = remember_failure,
        .known_context = add,
    };
    struct intake *intake = NULL;
    enum doppel_status status = intake_new(&options, &intake, error);
    if (status == DOPPEL_OK)
        status = add_all_files(add, intake, error);
    intake_free(intake);
    return status;
}

static enum doppel_status add_operands(struct add *add, struct doppel_error *error)
{
    struct doppel_cache *cache;
    enum doppel_status status = open_cache(add->report->run, &cache, error);
    if (status)
        return status;
    status = (add->settings->refresh ? refresh_items : walk_files)(add, cache, error);
    leave_cache(add->report->run, cache);
    /* After Ctrl-C too, what was read is kept. */
    if (status == DOPPEL_OK || status == DOPPEL_E_CANCELLED)
        status = commit(add, error);
    end_transaction(add, false);
    return status;
}

int cmd_add(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct add add = {.settings = settings, .report = report, .committed = time(NULL)};
    if (settings->clustered)
        return clustered_add(settings, report);
    if (about_check(settings, &error) ||
        open_library(settings, !settings->refresh, false, &add.library, &error))
        return report_fatal(report, "%s", error.message);
    struct settings adopted = *settings;
    bool has_records = !doppel_library_text_options(add.library, NULL, NULL, NULL);
    if (!settings->refresh || has_records)
        adopt_unit(&adopted, add.library);
    add.settings = settings = &adopted;
    add.output = added_output(settings, report);
    enum doppel_status status = add_operands(&add, &error);
    bool written = output_finish(add.output);
    doppel_library_close(add.library);
    if (status)
        return report_fatal(report, "%s", error.message);
    added_report(settings, report, add.counts);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
