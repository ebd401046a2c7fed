/* Files, read by the workers and handed on in batches of those that are ready. */
#include "tools/clustered/files.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/shards.h>

#include "core/try.h"
#include "intake/open_cache.h"
#include "tools/args/engine_options.h"
#include "tools/clustered/path_feed.h"
#include "tools/memory.h"

struct clustered_walk {
    const struct clustered_reading *reading;
    struct intake *intake;
    struct path_feed *feed; /* NULL: no paths come by and by */
    struct clustered_batch *batch;
};

/* Wait for a file, and take those that are ready behind it. DOPPEL_E_NOT_FOUND at the end */
static enum doppel_status gather_ready_files(struct clustered_walk *walk,
                                             struct doppel_error *error)
{
    struct clustered_batch *batch = walk->batch;
    enum doppel_status status = DOPPEL_OK;
    while (!status && batch->count < CLUSTERED_FILES) {
        struct intake_file *file = &batch->files[batch->count];
        status = (batch->count ? intake_next_ready : intake_next)(walk->intake, file, error);
        if (status)
            break;
        batch->lines[batch->count++] = walk->feed ? path_feed_line(walk->feed, file->path) : 0;
    }
    return status == DOPPEL_E_TIMEOUT ? DOPPEL_OK : status;
}

static enum doppel_status take_batch(struct clustered_walk *walk, struct doppel_error *error)
{
    const struct clustered_reading *reading = walk->reading;
    struct clustered_batch *batch = walk->batch;
    enum doppel_status status = DOPPEL_OK;
    progress_clear(&reading->report->progress);
    if (batch->count)
        status = reading->take(reading->context, batch, error);
    for (size_t i = 0; i < batch->count; i++)
        intake_file_free(&batch->files[i]);
    batch->count = 0;
    return status;
}

/* Until the walk is at its end. */
static enum doppel_status take_batches(struct clustered_walk *walk, bool *out_any,
                                       struct doppel_error *error)
{
    for (;;) {
        struct doppel_error ended;
        const enum doppel_status gathered = gather_ready_files(walk, &ended);
        *out_any |= walk->batch->count > 0;
        const enum doppel_status status = take_batch(walk, error);
        if (status || gathered == DOPPEL_E_NOT_FOUND)
            return status;
        if (gathered)
            return doppel_fail(error, gathered, "%s", ended.message);
    }
}

/* Paths that come by and by are walked as they come. */
static enum doppel_status take_all(struct clustered_walk *walk, bool *out_any,
                                   struct doppel_error *error)
{
    const struct doppel_run *run = walk->reading->report->run;
    enum doppel_status status = take_batches(walk, out_any, error);
    while (walk->feed && !status && path_feed_wait(walk->feed, run)) {
        intake_resume(walk->intake);
        status = take_batches(walk, out_any, error);
    }
    return !status && doppel_run_cancelled(run)
               ? doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted")
               : status;
}

/* Whether paths come on standard input, which may be the pipe of a program that waits for answers.
 */
static bool is_fed(const struct settings *settings)
{
    return settings->files_from && strcmp(settings->files_from, "-") == 0;
}

enum doppel_status clustered_read(const struct clustered_reading *reading, bool *out_any,
                                  struct doppel_error *error)
{
    const struct settings *settings = reading->settings;
    struct doppel_walk_options files = walk_options_from(settings);
    struct path_feed feed = {.separator = settings->null_separated ? '\0' : '\n'};
    struct clustered_walk walk = {.reading = reading, .batch = must_allocate(sizeof *walk.batch)};
    struct intake_options options = {.read = read_options_from(settings),
                                     .run = reading->report->run,
                                     .walk = &files,
                                     .failures = true};
    enum doppel_status status;
    *out_any = false;
    files.every_name = reading->every_name;
    files.stdin_operand = reading->stdin_operand;
    if (is_fed(settings)) {
        walk.feed = &feed;
        files.files_from = NULL;
        files.feed = path_feed_next;
        files.feed_context = &feed;
    }
    TRY(open_cache(reading->report->run, &options.cache, error));
    TRY(intake_new(&options, &walk.intake, error));
    TRY(take_all(&walk, out_any, error));
done:
    intake_free(walk.intake);
    leave_cache(reading->report->run, options.cache);
    path_feed_free(&feed);
    free(walk.batch);
    return status;
}

const char *clustered_obstacle(const struct intake_file *file)
{
    const struct doppel_record *record = &file->record;
    return record->error.status ? record->error.message : doppel_shards_obstacle(record);
}
