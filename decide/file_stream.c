/* Files, decided one after the other as they are asked for. */
#include "decide/file_stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/try.h"
#include "intake/open_cache.h"
#include "intake/walk.h"

/* So many files are kept together at most. For so long others who write are waited for, and for so
 * long recordings and videos are held without letting others have their turn. */
enum { GROUP_FILES = 256, PATIENCE_SECONDS = 120, HOLD_SECONDS = 1 };

struct file_stream {
    const struct file_stream_options *options;
    struct file_decider *decider;
    struct doppel_cache *cache;
    struct doppel_walk_options walk;
    struct intake_options intake_options;
    struct intake *intake;

    bool waited; /* for another process, and said so */

    /* what is fed: borrowed until its end */
    const struct record_file *fed;
    size_t fed_count, fed_in, fed_out; /* taken in, and decided */

    struct intake_file files[GROUP_FILES];
    struct file_decision decisions[GROUP_FILES];
    size_t count, done, told; /* of the group: gathered, decided and kept, given */
    struct intake_file next;  /* of the group behind */
    bool has_next;
    struct doppel_error ended; /* status != OK: there is nothing behind the group */
    time_t held;               /* the right to change recordings and videos, since then; 0: not */
};

/* ---- life ---- */

static const char *next_fed_path(void *context)
{
    struct file_stream *stream = context;
    return stream->fed_in < stream->fed_count ? stream->fed[stream->fed_in++].path : NULL;
}

static struct doppel_walk_options walk_of_stream(struct file_stream *stream)
{
    const struct file_stream_options *options = stream->options;
    struct doppel_walk_options walk = options->walk;
    if (options->fed) {
        walk.paths = (struct doppel_strings){0};
        walk.feed = next_fed_path;
        walk.feed_context = stream;
    }
    walk.every_name = true; /* each input is answered */
    return walk;
}

static void forget_group(struct file_stream *stream)
{
    for (size_t i = 0; i < stream->count; i++) {
        intake_file_free(&stream->files[i]);
        file_decision_free(&stream->decisions[i]);
    }
    stream->fed_out += stream->count;
    stream->count = stream->done = stream->told = 0;
}

/* ---- taking turns with others ---- */

/* Whether it is worth to try again: another process writes, and nobody has lost patience. */
static bool waits_for_writer(struct file_stream *stream, enum doppel_status status, time_t since)
{
    if (status != DOPPEL_E_BUSY || doppel_run_cancelled(stream->options->decider.run) ||
        time(NULL) - since >= PATIENCE_SECONDS)
        return false;
    if (!stream->waited)
        doppel_run_notice(stream->options->decider.run,
                          "another process is writing to the library: waiting");
    stream->waited = true;
    return true;
}

/* The record of file `i` of the group; NULL: of a walk. */
static const struct record_file *record_naming(const struct file_stream *stream, size_t i)
{
    return stream->options->fed ? &stream->fed[stream->fed_out + i] : NULL;
}

/* Whether file `i` of the group has no path. */
static bool is_nowhere(const struct file_stream *stream, size_t i)
{
    const struct record_file *record = record_naming(stream, i);
    return record && record->read;
}

/* The right to change recordings and videos comes first, then the transaction: in this order nobody
 * waits for somebody who waits. */
static enum doppel_status prepare_group(struct file_stream *stream, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bool tracks = false;
    time_t since = time(NULL);
    for (size_t i = 0; i < stream->count && !status; i++) {
        const struct intake_file *file = &stream->files[i];
        if (file->known || file->record.error.status)
            continue;
        do
            status =
                file_decider_prepare(stream->decider, file, is_nowhere(stream, i), &tracks, error);
        while (waits_for_writer(stream, status, since));
    }
    if (tracks && !stream->held)
        stream->held = time(NULL);
    return status;
}

static enum doppel_status begin_group(struct file_stream *stream, struct doppel_error *error)
{
    enum doppel_status status;
    time_t since = time(NULL);
    do
        status = doppel_library_begin(stream->options->decider.library, NULL, error);
    while (waits_for_writer(stream, status, since));
    return status;
}

/* Let others have the recordings and videos. */
static enum doppel_status release_tracks(struct file_stream *stream, bool now,
                                         struct doppel_error *error)
{
    static const struct timespec turn = {.tv_nsec = 20 * 1000000L};
    if (!stream->held || (!now && time(NULL) - stream->held < HOLD_SECONDS))
        return DOPPEL_OK;
    stream->held = 0;
    enum doppel_status status = doppel_library_release(stream->options->decider.library, error);
    if (!now)
        nanosleep(&turn, NULL);
    return status;
}

/* ---- a group ---- */

static const char *default_source(const struct file_stream *stream)
{
    const struct doppel_metadata *metadata = stream->options->decider.decide->metadata;
    return metadata ? metadata->source : NULL;
}

static enum doppel_status decide_next_file(struct file_stream *stream, size_t i,
                                           struct doppel_error *error)
{
    const struct record_file *record = record_naming(stream, i);
    const struct file_to_decide file = {
        .file = &stream->files[i],
        .id = record ? record->id : NULL,
        .source = record && record->source ? record->source : default_source(stream),
        .date = record ? record->date : NULL,
        .said = record ? record->said : NULL,
        .is_nowhere = is_nowhere(stream, i),
    };
    struct doppel_library *library = stream->options->decider.library;
    if (record && record->client)
        doppel_library_set_client(library, record->client);
    enum doppel_status status = file_decide(stream->decider, &file, &stream->decisions[i], error);
    if (record && record->client)
        doppel_library_set_client(library, NULL);
    return status;
}

static struct decided_file decided_file_of(const struct file_stream *stream, size_t i)
{
    return (struct decided_file){&stream->files[i], record_naming(stream, i),
                                 &stream->decisions[i]};
}

static enum doppel_status keep_group(struct file_stream *stream, size_t count,
                                     struct doppel_error *error)
{
    const struct file_stream_options *options = stream->options;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; options->on_keep && i < count && !status; i++) {
        const struct decided_file file = decided_file_of(stream, i);
        status = options->on_keep(options->on_keep_context, &file, error);
    }
    return status ? status : doppel_library_commit(options->decider.library, error);
}

/* Decide and keep, in one transaction. After a signal what was decided before it is kept. */
static enum doppel_status decide_group(struct file_stream *stream, struct doppel_error *error)
{
    size_t done = 0;
    enum doppel_status status = DOPPEL_OK, kept = DOPPEL_OK;
    bool changes = !stream->options->decider.decide->dry_run;
    if (changes)
        status = prepare_group(stream, error);
    if (!status && changes)
        status = begin_group(stream, error);
    while (!status && done < stream->count)
        if (!(status = decide_next_file(stream, done, error)))
            done++;
    changes |= stream->options->decider.decide->count_matches;
    if (changes && (!status || status == DOPPEL_E_CANCELLED))
        kept = keep_group(stream, done, error);
    if (!kept && (!status || status == DOPPEL_E_CANCELLED))
        stream->done = done;
    file_decider_forget_folders(stream->decider);
    doppel_run_end(stream->options->decider.run);
    return status ? status : kept;
}

/* What is kept is told once the upstream has answered, where there is one. */
static enum doppel_status settle_group(struct file_stream *stream, struct doppel_error *error)
{
    struct upstream *upstream = stream->options->decider.upstream;
    enum doppel_status status = upstream_settle(upstream, false, error);
    for (size_t i = 0; i < stream->done && !status; i++)
        status = file_decision_take_outcome(stream->decider, &stream->decisions[i], error);
    if (status)
        stream->done = 0;
    return status;
}

static bool file_has_track(const struct intake_file *file)
{
    return file->record.kind == DOPPEL_KIND_AUDIO || file->record.kind == DOPPEL_KIND_VIDEO;
}

/* What nobody has to read any more. */
static enum doppel_status take_read(struct file_stream *stream, struct intake_file *out,
                                    struct doppel_error *error)
{
    const struct record_file *fed = &stream->fed[stream->fed_in];
    struct intake_file file = {.path = strdup(fed->path)};
    if (!file.path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the name of a file");
    file.record = *fed->read;
    if (fed->exact)
        file.exact = *fed->exact;
    *fed->read = (struct doppel_record){0};
    stream->fed_in++;
    *out = file;
    return DOPPEL_OK;
}

/* The next file; where none is ready, there is none for now, once others wait. */
static enum doppel_status gather_file(struct file_stream *stream, struct intake_file *out,
                                      struct doppel_error *error)
{
    if (stream->has_next) {
        *out = stream->next;
        stream->has_next = false;
        return DOPPEL_OK;
    }
    if (stream->fed_in < stream->fed_count && stream->fed[stream->fed_in].read)
        return take_read(stream, out, error);
    enum doppel_status status = intake_next_ready(stream->intake, out, error);
    if (status != DOPPEL_E_TIMEOUT || stream->count)
        return status;
    status = release_tracks(stream, true, error);
    return status ? status : intake_next(stream->intake, out, error);
}

/* A recording or a video is a group of its own. */
static enum doppel_status gather_group(struct file_stream *stream, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (bool whole = false; !whole && !status;) {
        struct intake_file file;
        if ((status = gather_file(stream, &file, error)))
            break;
        bool track = file_has_track(&file);
        if (track && stream->count) {
            stream->next = file;
            stream->has_next = true;
            return DOPPEL_OK;
        }
        stream->files[stream->count++] = file;
        whole = track || stream->count == GROUP_FILES;
        if (!track)
            status = release_tracks(stream, true, error);
    }
    return status;
}

/* What was gathered before a signal is decided all the same. */
static enum doppel_status next_group(struct file_stream *stream, struct doppel_error *error)
{
    struct doppel_error ended = {0};
    enum doppel_status gathered = gather_group(stream, &ended);
    if (gathered == DOPPEL_E_TIMEOUT)
        gathered = DOPPEL_OK;
    ended.status = gathered;
    stream->ended = ended;
    if (!stream->count)
        return DOPPEL_OK;
    if (gathered && gathered != DOPPEL_E_NOT_FOUND && gathered != DOPPEL_E_CANCELLED)
        return DOPPEL_OK;
    bool track = file_has_track(&stream->files[0]);
    enum doppel_status status = decide_group(stream, error);
    if (status == DOPPEL_E_CANCELLED && error)
        stream->ended = *error;
    if (!status || status == DOPPEL_E_CANCELLED)
        status = settle_group(stream, error);
    return status ? status : release_tracks(stream, !track, error);
}

static enum doppel_status end_stream(struct file_stream *stream, struct doppel_error *error)
{
    struct doppel_error last = stream->ended;
    stream->ended.status = DOPPEL_OK;
    enum doppel_status status = release_tracks(stream, true, error);
    return status ? status : doppel_fail(error, last.status, "%s", last.message);
}

enum doppel_status file_stream_next(struct file_stream *stream, struct decided_file *out,
                                    struct doppel_error *error)
{
    while (stream->told == stream->done) {
        forget_group(stream);
        if (stream->ended.status)
            return end_stream(stream, error);
        enum doppel_status status = next_group(stream, error);
        if (status)
            return status;
    }
    *out = decided_file_of(stream, stream->told++);
    return DOPPEL_OK;
}

size_t file_stream_waiting(const struct file_stream *stream)
{
    return stream ? stream->done - stream->told : 0;
}

void file_stream_feed(struct file_stream *stream, const struct record_file *files, size_t count)
{
    stream->fed = files;
    stream->fed_count = count;
    stream->fed_in = stream->fed_out = 0;
    intake_resume(stream->intake);
}

void file_stream_resume(struct file_stream *stream)
{
    intake_resume(stream->intake);
}

void file_stream_free(struct file_stream *stream)
{
    if (!stream)
        return;
    if (stream->intake)
        (void)release_tracks(stream, true, NULL);
    forget_group(stream);
    if (stream->has_next)
        intake_file_free(&stream->next);
    intake_free(stream->intake);
    file_decider_free(stream->decider);
    leave_cache(stream->options->decider.run, stream->cache);
    free(stream);
}

enum doppel_status file_stream_new(const struct file_stream_options *options,
                                   struct file_stream **out, struct doppel_error *error)
{
    struct file_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decide about files");
    stream->options = options;
    stream->walk = walk_of_stream(stream);
    enum doppel_status status;
    TRY(open_cache(options->decider.run, &stream->cache, error));
    TRY(file_decider_new(&options->decider, &stream->decider, error));
    stream->intake_options = (struct intake_options){
        .read = options->decider.read,
        .run = options->decider.run,
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
    TRY(intake_new(&stream->intake_options, &stream->intake, error));
done:
    if (status)
        file_stream_free(stream);
    else
        *out = stream;
    return status;
}
