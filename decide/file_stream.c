/* Files, decided one after the other. */
#include "decide/file_stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/output/decision_row.h"
#include "decide/file_decider.h"
#include "intake/intake.h"
#include "tools/memory.h"
#include "intake/open_cache.h"
#include "intake/walk.h"

/* So many files are kept together at most. For so long others who write are waited for, and for so
 * long recordings and videos are held without letting others have their turn. */
enum { GROUP_FILES = 256, PATIENCE_SECONDS = 120, HOLD_SECONDS = 1 };

struct file_stream {
    const struct file_stream_options *options;
    struct file_decider *decider;
    struct doppel_cache *cache;
    struct walk_options walk;
    struct intake_options intake_options;
    struct intake *intake;

    bool waited; /* for another process, and said so */

    /* what is fed: borrowed for the call */
    const struct doppel_ingest_file *fed;
    size_t fed_count, fed_in, fed_out; /* taken in, and decided */

    struct intake_file files[GROUP_FILES];
    struct file_decision decisions[GROUP_FILES];
    size_t count;
    time_t held; /* the right to change recordings and videos, since then; 0: not */
};

/* ---- life ---- */

static const char *next_fed(void *context)
{
    struct file_stream *stream = context;
    return stream->fed_in < stream->fed_count ? stream->fed[stream->fed_in++].path : NULL;
}

static struct walk_options walk_of(struct file_stream *stream)
{
    const struct file_stream_options *options = stream->options;
    struct walk_options walk = options->walk;
    if (options->fed) {
        walk.paths = (struct strings){0};
        walk.feed = next_fed;
        walk.feed_context = stream;
    }
    walk.every_name = true; /* each input is answered */
    return walk;
}

enum doppel_status file_stream_new(const struct file_stream_options *options,
                                   struct file_stream **out, struct doppel_error *error)
{
    struct file_stream *stream = must_allocate(sizeof *stream);
    stream->options = options;
    stream->walk = walk_of(stream);
    enum doppel_status status = open_cache(options->run, &stream->cache, error);
    if (!status)
        status = file_decider_new(options->settings, &options->compare, options->run,
                                  options->library, &stream->decider, error);
    stream->intake_options = (struct intake_options){
        .read = options->read,
        .run = options->run,
        .walk = &stream->walk,
        .cache = stream->cache,
        .attachments = true,
        .failures = true,
        .known = file_is_known,
        .fails = file_fails,
        .recall = file_recall,
        .exact_kinds = file_exact_kinds,
        .listed = file_is_listed,
        .known_context = stream->decider,
    };
    if (!status)
        status = intake_new(&stream->intake_options, &stream->intake, error);
    if (status)
        file_stream_free(stream);
    else
        *out = stream;
    return status;
}

static void forget_group(struct file_stream *stream)
{
    for (size_t i = 0; i < stream->count; i++) {
        intake_file_free(&stream->files[i]);
        file_decision_free(&stream->decisions[i]);
    }
    stream->count = 0;
}

void file_stream_free(struct file_stream *stream)
{
    if (!stream)
        return;
    forget_group(stream);
    intake_free(stream->intake);
    file_decider_free(stream->decider);
    doppel_cache_close(stream->cache);
    free(stream);
}

/* ---- taking turns with others ---- */

/* Whether it is worth to try again: another process writes, and nobody has lost patience. */
static bool waits(struct file_stream *stream, enum doppel_status status, time_t since)
{
    if (status != DOPPEL_E_BUSY || doppel_run_cancelled(stream->options->run) ||
        time(NULL) - since >= PATIENCE_SECONDS)
        return false;
    if (!stream->waited)
        doppel_run_notice(stream->options->run,
                          "another process is writing to the library: waiting");
    stream->waited = true;
    return true;
}

/* The right to change recordings and videos comes first, then the transaction: in this order nobody
 * waits for somebody who waits. */
static enum doppel_status prepare(struct file_stream *stream, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bool tracks = false;
    time_t since = time(NULL);
    for (size_t i = 0; i < stream->count && !status; i++) {
        const struct intake_file *file = &stream->files[i];
        if (file->known || file->record.error.status)
            continue;
        do
            status = file_decider_prepare(stream->decider, file, &tracks, error);
        while (waits(stream, status, since));
    }
    if (tracks && !stream->held)
        stream->held = time(NULL);
    return status;
}

static enum doppel_status begin(struct file_stream *stream, struct doppel_error *error)
{
    enum doppel_status status;
    time_t since = time(NULL);
    do
        status = doppel_library_begin(stream->options->library, NULL, error);
    while (waits(stream, status, since));
    return status;
}

/* Let others have the recordings and videos. */
static enum doppel_status let_go(struct file_stream *stream, bool now, struct doppel_error *error)
{
    static const struct timespec turn = {.tv_nsec = 20 * 1000000L};
    if (!stream->held || (!now && time(NULL) - stream->held < HOLD_SECONDS))
        return DOPPEL_OK;
    stream->held = 0;
    enum doppel_status status = doppel_library_release(stream->options->library, error);
    if (!now)
        nanosleep(&turn, NULL);
    return status;
}

/* ---- a group ---- */

/* The record of file `i` of the group; NULL: of a walk. */
static const struct doppel_ingest_file *record_of(const struct file_stream *stream, size_t i)
{
    return stream->options->fed ? &stream->fed[stream->fed_out + i] : NULL;
}

static enum doppel_status decide_one(struct file_stream *stream, size_t i,
                                     struct doppel_error *error)
{
    const struct doppel_ingest_file *record = record_of(stream, i);
    const struct file_to_decide file = {
        .file = &stream->files[i],
        .id = record ? record->id : NULL,
        .source = record && record->source ? record->source : stream->options->settings->source,
        .date = record ? record->date : NULL,
        .said = record ? record->said : NULL,
    };
    return file_decide(stream->decider, &file, stream->options->only_asked, &stream->decisions[i],
                       error);
}

/* @param count of the first of the group. @return DOPPEL_E_CANCELLED: nobody reads on */
static enum doppel_status tell(struct file_stream *stream, size_t count)
{
    bool read = true;
    doppel_run_end(stream->options->run);
    for (size_t i = 0; i < count && read; i++)
        read = decision_row_tell(stream->options->output, &stream->files[i], record_of(stream, i),
                                 &stream->decisions[i]);
    read = read && decision_output_flush(stream->options->output);
    return read ? DOPPEL_OK : DOPPEL_E_CANCELLED;
}

/* Decide, keep, and only then tell. After a signal what was decided before it is kept. */
static enum doppel_status end_group(struct file_stream *stream, struct doppel_error *error)
{
    size_t done = 0;
    enum doppel_status status = DOPPEL_OK, kept = DOPPEL_OK;
    bool changes = !stream->options->only_asked;
    if (changes && stream->count)
        status = prepare(stream, error);
    if (!status && changes && stream->count)
        status = begin(stream, error);
    while (!status && done < stream->count)
        if (!(status = decide_one(stream, done, error)))
            done++;
    if (changes && (!status || status == DOPPEL_E_CANCELLED))
        kept = doppel_library_commit(stream->options->library, error);
    if (!kept && (!status || status == DOPPEL_E_CANCELLED) && tell(stream, done))
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    stream->fed_out += stream->count;
    forget_group(stream);
    file_decider_forget_folders(stream->decider);
    return status ? status : kept;
}

static bool is_track(const struct intake_file *file)
{
    return file->record.kind == DOPPEL_KIND_AUDIO || file->record.kind == DOPPEL_KIND_VIDEO;
}

/* A recording or a video is a group of its own. */
static enum doppel_status take(struct file_stream *stream, const struct intake_file *file,
                               struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (is_track(file))
        status = end_group(stream, error);
    stream->files[stream->count++] = *file;
    if (!status && (is_track(file) || stream->count == GROUP_FILES))
        status = end_group(stream, error);
    return status ? status : let_go(stream, !is_track(file), error);
}

/* Until there are no more files. */
static enum doppel_status run(struct file_stream *stream, struct doppel_error *error)
{
    for (;;) {
        struct intake_file file;
        enum doppel_status status = intake_next_ready(stream->intake, &file, error);
        if (status == DOPPEL_E_TIMEOUT || status == DOPPEL_E_NOT_FOUND) {
            enum doppel_status ended = end_group(stream, error);
            if (!ended)
                ended = let_go(stream, true, error);
            if (ended || status == DOPPEL_E_NOT_FOUND)
                return ended;
            status = intake_next(stream->intake, &file, error);
        }
        if (status == DOPPEL_E_NOT_FOUND)
            return DOPPEL_OK;
        if (!status)
            status = take(stream, &file, error);
        if (status)
            return status;
    }
}

/* What was gathered before a signal is decided all the same. */
static enum doppel_status run_to_end(struct file_stream *stream, struct doppel_error *error)
{
    struct doppel_error last;
    enum doppel_status status = run(stream, error);
    if (status == DOPPEL_E_CANCELLED && stream->count)
        (void)end_group(stream, &last);
    if (status)
        (void)let_go(stream, true, &last);
    forget_group(stream);
    return status;
}

enum doppel_status file_stream_feed(struct file_stream *stream,
                                    const struct doppel_ingest_file *files, size_t count,
                                    struct doppel_error *error)
{
    stream->fed = files;
    stream->fed_count = count;
    stream->fed_in = stream->fed_out = 0;
    intake_resume(stream->intake);
    return run_to_end(stream, error);
}

enum doppel_status file_stream_walk(struct file_stream *stream, struct doppel_error *error)
{
    return run_to_end(stream, error);
}
