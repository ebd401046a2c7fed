/* doppel monitor STREAM|-: names what is heard in an endless stream. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/worker.h>

#include "compare/item_json.h"
#include "core/clock.h"
#include "core/try.h"
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "tools/output/groups/playlist.h"
#include "tools/signals.h"

enum {
    WAIT_MS = 500,      /* for the stream, before something else is looked after */
    REFRESH_S = 3,      /* between two looks at the library */
    RESTART_LEAST_S = 1 /* of audio that a decoder must have told before it is started again */
};

static const double EDGE_SECONDS = .3; /* within which peaks may be missing */

static const struct column columns[] = {
    {"start_time", "time", CELL_TEXT},
    {"end_time", NULL, CELL_TEXT},
    {"event", "event", CELL_TEXT},
    {"stream_start", "start", CELL_PLACE},
    {"stream_end", "end", CELL_PLACE},
    {"item_start", "in the item", CELL_PLACE},
    {"id", NULL, CELL_NUMBER},
    {"score", NULL, CELL_NUMBER},
    {"false_positive_rate", NULL, CELL_NUMBER},
    {"artist", "artist", CELL_TEXT},
    {"title", "title", CELL_TEXT},
    {"album", NULL, CELL_TEXT},
    {"path", "path", CELL_PATH},
};

/* The time of day has no columns where it is not known. */
enum { COLUMNS = sizeof columns / sizeof *columns, TIME_COLUMNS = 2 };
static const struct layout timed_layout = {columns, COLUMNS, NULL, NULL, NULL};
static const struct layout layout = {columns + TIME_COLUMNS, COLUMNS - TIME_COLUMNS, NULL, NULL,
                                     NULL};

/* An item that is heard: it may be removed before it ends. */
struct playing {
    uint64_t id;
    double start, duration; /* of the stream; of the item, 0: not known */
    char *path;             /* NULL: not known */
    struct doppel_audio_tags tags;
};

struct monitor_watch {
    const struct settings *settings;
    struct report *report;
    struct output *output; /* NULL: the playlist takes what is heard */
    struct playlist *playlist;
    struct doppel_library *library;
    const struct doppel_recordings *recordings; /* borrowed from the library */
    struct doppel_monitor *monitor;
    int fd;
    bool is_pipe;                /* it goes on at its own pace */
    double origin, until;        /* of the stream: where this decoder began, and what is reported */
    double heard_at, refresh_at; /* by the clock */
    struct playing *playing;
    size_t count;
};

/* ---- events ---- */

static void begin_playing(struct monitor_watch *watch, const struct doppel_monitor_event *event)
{
    struct playing playing = {.id = event->id, .start = event->stream_start};
    struct doppel_item item;
    if (!doppel_library_get(watch->library, event->id, false, &item, NULL)) {
        playing.path = must_have(doppel_library_item_name(watch->library, &item));
        playing.tags = item.tags;
        playing.duration = (double)item.duration_ms / 1000;
        doppel_item_free(&item);
    }
    watch->playing = realloc(watch->playing, (watch->count + 1) * sizeof *watch->playing);
    if (!watch->playing)
        abort();
    watch->playing[watch->count++] = playing;
}

/* @return its path is given (free) */
static struct playing end_playing(struct monitor_watch *watch, uint64_t id)
{
    for (size_t i = 0; i < watch->count; i++) {
        struct playing playing = watch->playing[i];
        if (playing.id != id)
            continue;
        watch->playing[i] = watch->playing[--watch->count];
        return playing;
    }
    return (struct playing){.id = id};
}

/* The time of day, where it is known. */
static void write_event_times(const struct monitor_watch *watch, struct doppel_json *row,
                              const struct doppel_monitor_event *event)
{
    const struct start_time *began = &watch->settings->start_time;
    char time[CLOCK_BYTES];
    if (!began->given)
        return;
    start_time_after(began, event->stream_start, time);
    doppel_json_text(row, "start_time", time);
    if (event->type == DOPPEL_MONITOR_START)
        return;
    start_time_after(began, event->stream_end, time);
    doppel_json_text(row, "end_time", time);
}

static void write_event_item(struct doppel_json *row, const struct doppel_monitor_event *event,
                             const struct playing *playing)
{
    doppel_json_integer(row, "id", event->id);
    if (playing->path)
        write_item_name(row, *playing->path == '/', playing->path);
    doppel_json_audio_tags(row, &playing->tags);
    doppel_json_number(row, "stream_start", event->stream_start, 3);
    if (event->type == DOPPEL_MONITOR_END)
        doppel_json_number(row, "stream_end", event->stream_end, 3);
    doppel_json_number(row, "item_start", event->item_start, 3);
    doppel_json_number(row, "score", event->score, 2);
    doppel_json_rate(row, "false_positive_rate", event->false_positive_rate);
}

static bool print_event(void *context, const struct doppel_monitor_event *event)
{
    static const char *const names[] = {[DOPPEL_MONITOR_START] = "start",
                                        [DOPPEL_MONITOR_END] = "end",
                                        [DOPPEL_MONITOR_GAP] = "gap"};
    struct monitor_watch *watch = context;
    struct doppel_json *row = output_begin(watch->output);
    doppel_json_text(row, "event", names[event->type]);
    write_event_times(watch, row, event);
    if (event->type == DOPPEL_MONITOR_GAP) {
        doppel_json_number(row, "stream_start", event->stream_start, 3);
        doppel_json_number(row, "stream_end", event->stream_end, 3);
    } else if (event->type == DOPPEL_MONITOR_START) {
        begin_playing(watch, event);
        write_event_item(row, event, &watch->playing[watch->count - 1]);
    } else {
        struct playing playing = end_playing(watch, event->id);
        write_event_item(row, event, &playing);
        free(playing.path);
    }
    output_end(watch->output);
    output_flush(watch->output);
    return true;
}

/* The first and the last peak lie within the audio: what was heard from there on, and up to there,
 * was heard from the beginning, and to the end. */
static void widen_to_item(struct playlist_span *span, double duration)
{
    double before = span->item_start / span->speed;
    double after = duration / span->speed - before - (span->end - span->start);
    if (before < EDGE_SECONDS) {
        span->start -= before;
        span->item_start = 0;
    }
    if (fabs(after) < EDGE_SECONDS)
        span->end += after;
}

static void add_heard_span(struct monitor_watch *watch, const struct doppel_monitor_event *event)
{
    struct playing playing = end_playing(watch, event->id);
    struct playlist_span span = {.start = event->stream_start,
                                 .end = event->stream_end,
                                 .item_start = event->item_start,
                                 .speed = event->speed,
                                 .score = event->score,
                                 .false_positive_rate = event->false_positive_rate,
                                 .id = event->id};
    const struct playlist_item item = {.name = playing.path ? playing.path : "",
                                       .has_file = playing.path && *playing.path == '/',
                                       .tags = playing.tags};
    widen_to_item(&span, playing.duration);
    playlist_add(watch->playlist, &span, &item);
    free(playing.path);
}

static bool take_for_playlist(void *context, const struct doppel_monitor_event *event)
{
    struct monitor_watch *watch = context;
    if (event->type == DOPPEL_MONITOR_START)
        begin_playing(watch, event);
    else if (event->type == DOPPEL_MONITOR_END)
        add_heard_span(watch, event);
    else
        playlist_gap(watch->playlist, event->stream_start, event->stream_end);
    return true;
}

/* What began before all that is heard now is known to the playlist. */
static void settle_playlist(struct monitor_watch *watch)
{
    double until = watch->until;
    for (size_t i = 0; i < watch->count; i++)
        until = fmin(until, watch->playing[i].start);
    playlist_settle(watch->playlist, until);
}

static doppel_monitor_visitor *event_visitor(const struct monitor_watch *watch)
{
    return watch->playlist ? take_for_playlist : print_event;
}

/* ---- the library ---- */

/* Items come and go; a library that cannot be read just now is the one that it was. */
static enum doppel_status refresh(struct monitor_watch *watch, struct doppel_error *error)
{
    enum doppel_status status =
        doppel_library_recordings(watch->library, &watch->recordings, error);
    watch->refresh_at = monotonic_seconds() + REFRESH_S;
    if (!status && watch->monitor)
        doppel_monitor_exchange(watch->monitor, watch->recordings);
    return status;
}

static enum doppel_status begin(struct monitor_watch *watch, struct doppel_error *error)
{
    struct doppel_monitor_options options = doppel_monitor_options_default();
    options.audio.same_speed = watch->settings->same_speed;
    options.min_event = watch->settings->min_event_ms / 1000.0;
    options.overlaps = watch->settings->overlaps || watch->settings->playlist;
    if (watch->settings->max_false_alarms >= 0)
        options.max_false_alarms = watch->settings->max_false_alarms;
    enum doppel_status status;
    TRY(open_library(watch->settings, false, true, &watch->library, error));
    TRY(refresh(watch, error));
    if (doppel_recordings_seconds(watch->recordings) == 0)
        report_notice(watch->report, "the library has no recordings yet; those that are added "
                                     "meanwhile are heard");
    TRY(doppel_monitor_new(watch->recordings, &options, &watch->monitor, error));
done:
    return status;
}

/* ---- the stream ---- */

static const char *watched_name(const struct monitor_watch *watch)
{
    const char *name = watch->settings->operands.items[0];
    return strcmp(name, "-") == 0 ? "standard input" : name;
}

static enum doppel_status open_stream(struct monitor_watch *watch, struct doppel_error *error)
{
    const char *name = watch->settings->operands.items[0];
    struct stat status;
    watch->fd = strcmp(name, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                       : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (watch->fd < 0 && errno == EINTR)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "was cancelled");
    if (watch->fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s%s", strerror(errno),
                           strstr(name, "://") ? "; only files, FIFOs and standard input are "
                                                 "listened to: let another program fetch it, and "
                                                 "pipe it into 'doppel monitor -'"
                                               : "");
    if (fstat(watch->fd, &status) || S_ISDIR(status.st_mode))
        return doppel_fail(error, DOPPEL_E_IO, "%s", strerror(EISDIR));
    watch->is_pipe = !S_ISREG(status.st_mode);
    return DOPPEL_OK;
}

static enum doppel_status start_decoder(const struct monitor_watch *watch,
                                        struct doppel_listener **out, struct doppel_error *error)
{
    struct doppel_listen_options options = doppel_listen_options_default();
    if (watch->settings->switched_off >> (DOPPEL_SWITCH_KINDS + DOPPEL_KIND_AUDIO) & 1)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "audio is switched off on this machine");
    int fd = fcntl(watch->fd, F_DUPFD_CLOEXEC, 3);
    options.max_memory = watch->settings->max_memory;
    options.sandbox = (enum doppel_sandbox)watch->settings->sandbox;
    options.pcm = watch->settings->pcm.format;
    options.pcm_rate = watch->settings->pcm.rate;
    options.pcm_channels = watch->settings->pcm.channels;
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s", strerror(errno));
    return doppel_listener_new(fd, &options, out, error);
}

static enum doppel_status hear_peaks(struct monitor_watch *watch, const struct doppel_heard *heard,
                                     struct doppel_error *error)
{
    struct doppel_audio_track track;
    enum doppel_status status =
        doppel_audio_track_read(heard->attachment, heard->attachment_size, &track, error);
    if (status)
        return status;
    status =
        doppel_monitor_push(watch->monitor, track.peaks, track.count, watch->origin + heard->from,
                            watch->until, event_visitor(watch), watch, error);
    doppel_audio_track_free(&track);
    return status;
}

static enum doppel_status hear(struct monitor_watch *watch, const struct doppel_heard *heard,
                               struct doppel_error *error)
{
    watch->until = watch->origin + heard->until;
    watch->heard_at = monotonic_seconds();
    if (heard->gap)
        return doppel_monitor_gap(watch->monitor, watch->origin + heard->from, watch->until,
                                  event_visitor(watch), watch, error);
    return hear_peaks(watch, heard, error);
}

/* Listen with one decoder, until it or the stream ends. */
static enum doppel_status listen_on(struct monitor_watch *watch, struct doppel_listener *listener,
                                    struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (!status && !signals_stopped()) {
        struct doppel_heard heard;
        status = doppel_listener_next(listener, WAIT_MS, &heard, error);
        if (!status) {
            status = hear(watch, &heard, error);
            free(heard.attachment);
            if (watch->playlist)
                settle_playlist(watch);
        } else if (status == DOPPEL_E_TIMEOUT || status == DOPPEL_E_CANCELLED) {
            status = DOPPEL_OK;
        }
        if (monotonic_seconds() >= watch->refresh_at)
            refresh(watch, NULL);
    }
    return status;
}

/* What comes while there is no decoder is lost. */
static enum doppel_status tell_loss(struct monitor_watch *watch, struct doppel_error *error)
{
    double lost = watch->is_pipe ? monotonic_seconds() - watch->heard_at : 0, from = watch->until;
    watch->origin = watch->until = from + lost;
    return doppel_monitor_gap(watch->monitor, from, watch->until, event_visitor(watch), watch,
                              error);
}

/* A decoder that dies on what it hears is started again where the stream stands: those of
 * broadcasts can be joined anywhere. One that finds nothing there ends it. */
static enum doppel_status listen(struct monitor_watch *watch, struct doppel_error *error)
{
    for (;;) {
        struct doppel_listener *listener;
        struct doppel_error reason;
        enum doppel_status status = start_decoder(watch, &listener, &reason);
        watch->heard_at = monotonic_seconds();
        if (!status) {
            status = listen_on(watch, listener, &reason);
            doppel_listener_free(listener);
        }
        bool again = status == DOPPEL_E_CRASH && watch->until >= watch->origin + RESTART_LEAST_S;
        if (!again) {
            *error = reason;
            return status;
        }
        report_notice(watch->report, "%s: %s; listening goes on", watched_name(watch),
                      reason.message);
        status = tell_loss(watch, error);
        if (status)
            return status;
    }
}

/* ---- the verb ---- */

static void close_watch(struct monitor_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++)
        free(watch->playing[i].path);
    free(watch->playing);
    doppel_monitor_free(watch->monitor);
    doppel_library_close(watch->library);
    if (watch->fd >= 0)
        close(watch->fd);
}

static void say_end(const struct monitor_watch *watch, enum doppel_status status,
                    const struct doppel_error *error)
{
    char sentence[sizeof error->message + 80];
    bool raw = status == DOPPEL_E_FORMAT && !watch->settings->pcm.format;
    snprintf(sentence, sizeof sentence, "%s%s", error->message,
             raw ? "; of raw samples say how they lie: --pcm s16le:44100:2" : "");
    if (status != DOPPEL_OK && status != DOPPEL_E_NOT_FOUND && status != DOPPEL_E_CANCELLED)
        report_input(watch->report, watched_name(watch), sentence);
}

int cmd_monitor(const struct settings *settings, struct report *report)
{
    struct monitor_watch watch = {.settings = settings, .report = report, .fd = -1};
    struct doppel_error error = {0};
    enum doppel_status status = begin(&watch, &error);
    if (status) {
        close_watch(&watch);
        return report_fatal(report, "%s", error.message);
    }
    if (settings->playlist)
        watch.playlist = playlist_new(settings, report);
    else
        watch.output =
            output_new(settings, settings->start_time.given ? &timed_layout : &layout, report);
    if (watch.playlist)
        playlist_begin(watch.playlist, settings->operands.items[0]);
    status = open_stream(&watch, &error);
    if (!status)
        status = listen(&watch, &error);
    say_end(&watch, status, &error);
    status = doppel_monitor_finish(watch.monitor, event_visitor(&watch), &watch, &error);
    bool written = watch.playlist ? playlist_finish(watch.playlist) : output_finish(watch.output);
    close_watch(&watch);
    if (status)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
