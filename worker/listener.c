/* The parent's side of a stream: a worker listens, and this hears what it has to say. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "worker/handles.h"
#include "worker/listening.h"

struct doppel_listener {
    char *program;
    struct process process; /* pid 0: ended, and `end` says why */
    bool ready;
    int64_t started_ms;
    uint64_t told; /* samples up to which all was reported */
    struct doppel_error end;
};

struct doppel_listen_options doppel_listen_options_default(void)
{
    return (struct doppel_listen_options){
        .max_memory = 512ull << 20, .pcm_rate = 44100, .pcm_channels = 2};
}

static enum doppel_status start_listener(struct doppel_listener *listener, int fd,
                                         const struct doppel_listen_options *options,
                                         struct doppel_error *error)
{
    if (options->max_memory && options->max_memory < WORKER_LEAST_BYTES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a worker needs at least %d MiB of memory (--max-memory)",
                           WORKER_LEAST_BYTES >> 20);
    enum doppel_status status = process_find_program(options->program, &listener->program, error);
    if (!status)
        status = process_start(listener->program, &listener->process, error);
    if (status)
        return status;
    struct listen_order order = {options->max_memory, options->pcm, options->pcm_rate,
                                 options->pcm_channels, options->sandbox};
    uint8_t frame[PROTOCOL_HELLO_BYTES];
    listen_write(&order, frame);
    /* Should it fail, the worker is gone already, and its end will be heard. */
    frame_send_beside(listener->process.socket, frame, sizeof frame, fd);
    listener->started_ms = monotonic_ms();
    return DOPPEL_OK;
}

enum doppel_status doppel_listener_new(int fd, const struct doppel_listen_options *options,
                                       struct doppel_listener **out, struct doppel_error *error)
{
    struct doppel_listen_options defaults = doppel_listen_options_default();
    struct doppel_listener *listener = calloc(1, sizeof *listener);
    enum doppel_status status =
        listener ? start_listener(listener, fd, options ? options : &defaults, error)
                 : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a listener");
    close(fd);
    if (status)
        doppel_listener_free(listener);
    else
        *out = listener;
    return status;
}

void doppel_listener_free(struct doppel_listener *listener)
{
    if (!listener)
        return;
    if (listener->process.pid)
        process_end(&listener->process);
    free(listener->program);
    free(listener);
}

/* The worker is gone, or has to go, without having said how the stream ended. */
static void lose(struct doppel_listener *listener, enum heard why)
{
    struct ending ended = process_end(&listener->process);
    if (listener->ready)
        describe_loss(why, &ended, 0, false, &listener->end);
    else
        describe_start_failure(listener->program, why, &ended, &listener->end);
}

static enum doppel_status copy_stretch(const struct stretch *stretch, struct doppel_heard *out,
                                       struct doppel_error *error)
{
    struct doppel_heard heard = {.gap = stretch->gap,
                                 .from = (double)stretch->from / LISTENING_RATE,
                                 .until = (double)stretch->until / LISTENING_RATE,
                                 .attachment_size = stretch->track_size};
    if (stretch->track_size) {
        heard.attachment = malloc(stretch->track_size);
        if (!heard.attachment)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what was heard");
        memcpy(heard.attachment, stretch->track, stretch->track_size);
    }
    *out = heard;
    return DOPPEL_OK;
}

/* @param out_heard whether it was a stretch, and `out` is filled */
static enum doppel_status take_frame_listener(struct doppel_listener *listener,
                                              const uint8_t *frame, size_t size,
                                              struct doppel_heard *out, bool *out_heard,
                                              struct doppel_error *error)
{
    struct stretch stretch;
    struct doppel_confinement held;
    if (!listener->ready && ready_read(frame, size, &held)) {
        listener->ready = true;
    } else if (listener->ready && stretch_read(frame, size, listener->told, &stretch)) {
        enum doppel_status status = copy_stretch(&stretch, out, error);
        if (status)
            return status;
        listener->told = stretch.until;
        *out_heard = true;
    } else if ((listener->ready && end_read(frame, size, &listener->end)) ||
               (!listener->ready && end_read(frame, size, &listener->end) &&
                listener->end.status)) {
        process_end(&listener->process);
    } else {
        lose(listener, HEARD_NONSENSE);
    }
    return DOPPEL_OK;
}

/* Take one frame, if there is one. */
static enum doppel_status hear_worker(struct doppel_listener *listener, struct doppel_heard *out,
                                      bool *out_heard, struct doppel_error *error)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    int fd;
    ssize_t size = frame_receive(listener->process.socket, frame, sizeof frame, &fd);
    frame_descriptor_close(fd);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return DOPPEL_OK;
    if (size < 0 && errno == EBADMSG)
        lose(listener, HEARD_NONSENSE);
    else if (size <= 0)
        lose(listener, HEARD_END);
    else if (fd >= 0 || size > (ssize_t)sizeof frame)
        lose(listener, HEARD_NONSENSE);
    else
        return take_frame_listener(listener, frame, (size_t)size, out, out_heard, error);
    return DOPPEL_OK;
}

static enum doppel_status emit_end(const struct doppel_listener *listener,
                                   struct doppel_error *error)
{
    if (!listener->end.status)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "the stream is at its end");
    return doppel_fail(error, listener->end.status, "%s", listener->end.message);
}

/* Wait for something to be said, at most `wait_ms` (-1: as long as it takes). */
static enum doppel_status wait_for_frame(struct doppel_listener *listener, int64_t wait_ms,
                                         struct doppel_error *error)
{
    if (!listener->ready) {
        int64_t left_ms = listener->started_ms + START_MS - monotonic_ms();
        left_ms = left_ms > 0 ? left_ms : 0;
        wait_ms = wait_ms >= 0 && wait_ms < left_ms ? wait_ms : left_ms;
    }
    struct pollfd wanted = {listener->process.socket, POLLIN, 0};
    int found = poll(&wanted, 1, (int)wait_ms);
    if (found < 0)
        return doppel_fail(error, errno == EINTR ? DOPPEL_E_CANCELLED : DOPPEL_E_IO,
                           "waiting for the stream: %s", strerror(errno));
    if (found == 0 && !listener->ready && monotonic_ms() - listener->started_ms >= START_MS)
        lose(listener, HEARD_SILENCE);
    return DOPPEL_OK;
}

enum doppel_status doppel_listener_next(struct doppel_listener *listener, int timeout_ms,
                                        struct doppel_heard *out, struct doppel_error *error)
{
    int64_t begun_ms = monotonic_ms();
    while (listener->process.pid) {
        bool heard = false;
        enum doppel_status status = hear_worker(listener, out, &heard, error);
        if (status || heard)
            return status;
        if (!listener->process.pid)
            break;
        int64_t left_ms = timeout_ms < 0 ? -1 : timeout_ms - (monotonic_ms() - begun_ms);
        if (timeout_ms >= 0 && left_ms < 0)
            return doppel_fail(error, DOPPEL_E_TIMEOUT, "nothing heard within %d ms", timeout_ms);
        status = wait_for_frame(listener, left_ms, error);
        if (status)
            return status;
    }
    return emit_end(listener, error);
}
