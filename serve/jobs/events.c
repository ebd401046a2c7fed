/* Streams of events. */
#include "serve/jobs/events.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/try.h"
#include "serve/http.h"
#include "serve/jobs/jobs.h"
#include "serve/service.h"

/* So often jobs are looked at; and so long nothing is said, until a comment tells whether the
 * client is still there. */
enum { LOOK_MS = 200, SILENCE_MS = 15000 };

struct event_stream {
    struct job_events *events;
    struct exchange *exchange;
    uint64_t job;
    bool begun; /* `state` and `decided` were said */
    enum doppel_job_state state;
    uint64_t decided;
    struct doppel_json text; /* to be sent */
    size_t sent;             /* of it */
    int64_t last_ms;
    bool waits, ended; /* its connection is suspended; nothing follows */
    struct event_stream *next;
};

struct job_events {
    struct doppel_library *library;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct event_stream *first;
    bool ending;
    pthread_t looks;
    bool started;
};

/* ---- what is said ---- */

static void append_word(struct doppel_json *text, const char *word)
{
    doppel_json_append(text, word, strlen(word));
}

static void say_job(struct event_stream *stream, const struct doppel_job *job)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    put_job(&json, job);
    doppel_json_object_end(&json);
    append_word(&stream->text, "event: ");
    append_word(&stream->text, doppel_job_state_name(job->state));
    append_word(&stream->text, "\ndata: ");
    append_word(&stream->text, json.failed ? "{}" : json.bytes);
    append_word(&stream->text, "\n\n");
    doppel_json_free(&json);
    stream->begun = true;
    stream->state = job->state;
    stream->decided = job->decided;
    stream->last_ms = monotonic_ms();
    stream->ended |= job->ended_ns != 0;
}

static void look_at_job(struct event_stream *stream)
{
    struct doppel_job job = {0};
    enum doppel_status status =
        doppel_library_get_job(stream->events->library, stream->job, &job, NULL);
    const bool lost = status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT;
    if (lost || stream->events->ending)
        stream->ended = true;
    else if (!status &&
             (!stream->begun || job.state != stream->state || job.decided != stream->decided))
        say_job(stream, &job);
    else if (monotonic_ms() - stream->last_ms >= SILENCE_MS) {
        append_word(&stream->text, ":\n\n");
        stream->last_ms = monotonic_ms();
    }
    doppel_job_free(&job);
}

static void wake_stream(struct event_stream *stream)
{
    if (!stream->waits || (!stream->text.size && !stream->ended))
        return;
    stream->waits = false;
    http_resume(stream->exchange);
}

static void *look_on(void *context)
{
    struct job_events *events = context;
    static const struct timespec turn = {.tv_nsec = LOOK_MS * 1000000L};
    pthread_mutex_lock(&events->lock);
    while (!events->ending || events->first) {
        for (struct event_stream *stream = events->first; stream; stream = stream->next) {
            if (!stream->ended && !stream->text.size)
                look_at_job(stream);
            wake_stream(stream);
        }
        if (!events->first) {
            pthread_cond_wait(&events->changed, &events->lock);
            continue;
        }
        pthread_mutex_unlock(&events->lock);
        nanosleep(&turn, NULL);
        pthread_mutex_lock(&events->lock);
    }
    pthread_mutex_unlock(&events->lock);
    return NULL;
}

/* ---- a stream, as its connection reads it ---- */

static ssize_t read_events(void *context, uint64_t position, char *out, size_t most)
{
    struct event_stream *stream = context;
    (void)position;
    pthread_mutex_lock(&stream->events->lock);
    size_t left = stream->text.size - stream->sent, size = left < most ? left : most;
    if (size)
        memcpy(out, stream->text.bytes + stream->sent, size);
    stream->sent += size;
    if (stream->sent == stream->text.size) {
        doppel_json_clear(&stream->text);
        stream->sent = 0;
    }
    bool over = !size && (stream->ended || stream->text.failed);
    stream->waits = !size && !over;
    if (stream->waits)
        http_suspend(stream->exchange);
    pthread_mutex_unlock(&stream->events->lock);
    return over ? -1 : (ssize_t)size;
}

static void free_stream(void *context)
{
    struct event_stream *stream = context;
    struct job_events *events = stream->events;
    pthread_mutex_lock(&events->lock);
    struct event_stream **link = &events->first;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    pthread_mutex_unlock(&events->lock);
    doppel_json_free(&stream->text);
    free(stream);
}

bool job_events_stream(struct job_events *events, struct exchange *exchange, uint64_t job)
{
    struct event_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return false;
    stream->events = events;
    stream->exchange = exchange;
    stream->job = job;
    stream->last_ms = monotonic_ms();
    exchange->stream = (struct reply_stream){read_events, free_stream, stream};
    pthread_mutex_lock(&events->lock);
    stream->next = events->first;
    events->first = stream;
    pthread_cond_signal(&events->changed);
    pthread_mutex_unlock(&events->lock);
    return true;
}

/* ---- life ---- */

enum doppel_status job_events_open(const struct service *service, struct job_events **out,
                                   struct doppel_error *error)
{
    const struct doppel_library_options options = {.read_only = true};
    struct job_events *events = calloc(1, sizeof *events);
    if (!events)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for events");
    pthread_mutex_init(&events->lock, NULL);
    pthread_cond_init(&events->changed, NULL);
    enum doppel_status status;
    TRY(doppel_library_open(service->options->library, &options, &events->library, error));
    if (pthread_create(&events->looks, NULL, look_on, events))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no thread can be started"));
    events->started = true;
done:
    if (status)
        job_events_close(events);
    else
        *out = events;
    return status;
}

void job_events_stop(struct job_events *events)
{
    pthread_mutex_lock(&events->lock);
    events->ending = true;
    pthread_cond_signal(&events->changed);
    pthread_mutex_unlock(&events->lock);
}

void job_events_close(struct job_events *events)
{
    if (!events)
        return;
    job_events_stop(events);
    if (events->started)
        pthread_join(events->looks, NULL);
    if (events->library)
        doppel_library_close(events->library);
    pthread_cond_destroy(&events->changed);
    pthread_mutex_destroy(&events->lock);
    free(events);
}
