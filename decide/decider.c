/* One stream of decisions about records and files. */
#include "decide/decider.h"

#include <stdlib.h>

#include "corpus/ingest/ingest.h"

struct doppel_decider {
    const struct decider_options *options;
    struct doppel_run *run;
    struct ingest *records;
    struct file_stream *files; /* NULL: no file was met yet */
    struct file_stream_options file_options;
    bool in_files; /* those that were met last are not all decided about */
};

static bool is_walk(const struct doppel_decider *decider)
{
    return !decider->options->records.files.count;
}

/* ---- records ---- */

static bool show_progress(void *context, uint64_t done, uint64_t total, uint64_t records)
{
    struct doppel_decider *decider = context;
    (void)records;
    if (!decider->files) {
        doppel_run_set_total(decider->run, total >> 20);
        doppel_run_advance(decider->run, done >> 20);
    }
    return !doppel_run_cancelled(decider->run);
}

static enum doppel_status open_records(struct doppel_decider *decider, struct doppel_error *error)
{
    struct doppel_ingest_options options = decider->options->records;
    options.progress = show_progress;
    options.context = decider;
    doppel_run_begin(decider->run, "MB", 0);
    return ingest_new(decider->options->files.library, &options, decider->options->streams,
                      &decider->records, error);
}

/* ---- files ---- */

static enum doppel_status open_files(struct doppel_decider *decider, struct doppel_error *error)
{
    if (decider->files)
        return DOPPEL_OK;
    decider->file_options = decider->options->files;
    decider->file_options.fed = !is_walk(decider);
    return file_stream_new(&decider->file_options, &decider->files, error);
}

static enum doppel_status next_file(struct doppel_decider *decider, struct decided *out,
                                    struct doppel_error *error)
{
    *out = (struct decided){.is_file = true};
    return file_stream_next(decider->files, &out->file, error);
}

static enum doppel_status begin_files(struct doppel_decider *decider,
                                      const struct ingest_found *found, struct doppel_error *error)
{
    enum doppel_status status = open_files(decider, error);
    if (status)
        return status;
    file_stream_feed(decider->files, found->files, found->file_count);
    decider->in_files = true;
    return DOPPEL_OK;
}

/* ---- both ---- */

enum doppel_status doppel_decider_pull(struct doppel_decider *decider, struct decided *out,
                                       struct doppel_error *error)
{
    struct ingest_found found;
    if (is_walk(decider))
        return next_file(decider, out, error);
    for (;;) {
        enum doppel_status status = DOPPEL_E_NOT_FOUND;
        if (decider->in_files)
            status = next_file(decider, out, error);
        if (status != DOPPEL_E_NOT_FOUND)
            return status;
        decider->in_files = false;
        status = ingest_next(decider->records, &found, error);
        if (!status && found.files)
            status = begin_files(decider, &found, error);
        if (status)
            return status;
        if (found.files)
            continue;
        *out = (struct decided){.record = found.decision};
        return DOPPEL_OK;
    }
}

size_t doppel_decider_waiting(const struct doppel_decider *decider)
{
    return decider->in_files || is_walk(decider) ? file_stream_waiting(decider->files)
                                                 : ingest_waiting(decider->records);
}

enum doppel_status doppel_decider_new(const struct decider_options *options,
                                      struct doppel_decider **out, struct doppel_error *error)
{
    struct doppel_decider *decider = calloc(1, sizeof *decider);
    if (!decider)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decide");
    decider->options = options;
    decider->run = options->files.run;
    enum doppel_status status =
        is_walk(decider) ? open_files(decider, error) : open_records(decider, error);
    if (status)
        doppel_decider_free(decider);
    else
        *out = decider;
    return status;
}

void doppel_decider_free(struct doppel_decider *decider)
{
    if (!decider)
        return;
    file_stream_free(decider->files);
    ingest_free(decider->records);
    free(decider);
}
