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

struct file_batch {
    const struct clustered_reading *reading;
    struct intake *intake;
    struct intake_file *files; /* room for CLUSTERED_FILES */
    size_t count;
};

/* Wait for a file, and take those that are ready behind it. DOPPEL_E_NOT_FOUND at the end */
static enum doppel_status gather_ready_files(struct file_batch *batch, struct doppel_error *error)
{
    enum doppel_status status = intake_next(batch->intake, &batch->files[0], error);
    for (batch->count = !status; !status && batch->count < CLUSTERED_FILES;)
        if (!(status = intake_next_ready(batch->intake, &batch->files[batch->count], error)))
            batch->count++;
    return status == DOPPEL_E_TIMEOUT ? DOPPEL_OK : status;
}

static enum doppel_status take_batch(struct file_batch *batch, struct doppel_error *error)
{
    const struct clustered_reading *reading = batch->reading;
    enum doppel_status status = DOPPEL_OK;
    progress_clear(&reading->report->progress);
    if (batch->count)
        status = reading->take(reading->context, batch->files, batch->count, error);
    for (size_t i = 0; i < batch->count; i++)
        intake_file_free(&batch->files[i]);
    batch->count = 0;
    return status;
}

/* Until the walk is at its end. */
static enum doppel_status take_batches(struct file_batch *batch, bool *out_any,
                                       struct doppel_error *error)
{
    for (;;) {
        struct doppel_error ended;
        const enum doppel_status gathered = gather_ready_files(batch, &ended);
        *out_any |= batch->count > 0;
        const enum doppel_status status = take_batch(batch, error);
        if (status || gathered == DOPPEL_E_NOT_FOUND)
            return status;
        if (gathered)
            return doppel_fail(error, gathered, "%s", ended.message);
    }
}

/* Paths that come by and by are walked as they come. */
static enum doppel_status take_all(struct file_batch *batch, struct path_feed *feed, bool *out_any,
                                   struct doppel_error *error)
{
    enum doppel_status status = take_batches(batch, out_any, error);
    while (feed && !status && path_feed_wait(feed, batch->reading->report->run)) {
        intake_resume(batch->intake);
        status = take_batches(batch, out_any, error);
    }
    return !status && doppel_run_cancelled(batch->reading->report->run)
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
    struct doppel_walk_options walk = walk_options_from(settings);
    struct path_feed feed = {.separator = settings->null_separated ? '\0' : '\n'};
    struct file_batch batch = {.reading = reading,
                               .files = must_allocate(CLUSTERED_FILES * sizeof *batch.files)};
    struct doppel_cache *cache = NULL;
    const struct intake_options options = {.read = read_options_from(settings),
                                           .run = reading->report->run,
                                           .walk = &walk,
                                           .failures = true};
    struct intake_options cached = options;
    enum doppel_status status;
    *out_any = false;
    walk.every_name = reading->every_name;
    walk.stdin_operand = reading->stdin_operand;
    if (is_fed(settings)) {
        walk.files_from = NULL;
        walk.feed = path_feed_next;
        walk.feed_context = &feed;
    }
    TRY(open_cache(reading->report->run, &cache, error));
    cached.cache = cache;
    TRY(intake_new(&cached, &batch.intake, error));
    TRY(take_all(&batch, walk.feed ? &feed : NULL, out_any, error));
done:
    intake_free(batch.intake);
    leave_cache(reading->report->run, cache);
    path_feed_free(&feed);
    free(batch.files);
    return status;
}

const char *clustered_obstacle(const struct intake_file *file)
{
    const struct doppel_record *record = &file->record;
    return record->error.status ? record->error.message : doppel_shards_obstacle(record);
}
