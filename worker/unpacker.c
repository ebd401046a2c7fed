/* The parent's side of archives: a worker unpacks them, and this takes their members. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "worker/handles.h"
#include "worker/members.h"

enum { LOOK_MS = 250 /* at whether the run is cancelled */ };

struct doppel_unpacker {
    struct doppel_pool_options options;
    struct doppel_run *run;
    char *program;
    struct process process; /* pid 0: not started, or ended */
    bool ready, open;       /* open: an archive has members left */
};

enum doppel_status doppel_unpacker_new(struct doppel_run *run, struct doppel_unpacker **out,
                                       struct doppel_error *error)
{
    const struct doppel_run_options *options = doppel_run_get_options(run);
    struct doppel_unpacker *unpacker = calloc(1, sizeof *unpacker);
    if (!unpacker)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to open archives");
    unpacker->run = run;
    unpacker->options = doppel_pool_options_default();
    unpacker->options.timeout_ms = options->limits.timeout_ms;
    unpacker->options.max_memory = options->limits.max_memory;
    unpacker->options.sandbox = options->sandbox;
    enum doppel_status status = process_find_program(options->worker, &unpacker->program, error);
    if (status)
        doppel_unpacker_free(unpacker);
    else
        *out = unpacker;
    return status;
}

void doppel_unpacker_free(struct doppel_unpacker *unpacker)
{
    if (!unpacker)
        return;
    if (unpacker->process.pid)
        process_end(&unpacker->process);
    free(unpacker->program);
    free(unpacker);
}

enum doppel_status doppel_unpacker_begin(struct doppel_unpacker *unpacker, int fd,
                                         const struct doppel_unpack_limits *limits,
                                         struct doppel_error *error)
{
    uint8_t frame[PROTOCOL_HELLO_BYTES];
    const struct unpack_order order = {unpacker->options.max_memory, limits->member_bytes,
                                       limits->all_bytes, limits->members,
                                       (uint32_t)unpacker->options.sandbox};
    enum doppel_status status = DOPPEL_OK;
    if (unpacker->open && unpacker->process.pid)
        process_end(&unpacker->process); /* it is still at the one before */
    if (!unpacker->process.pid) {
        unpacker->ready = false;
        status = process_start(unpacker->program, &unpacker->process, error);
    }
    if (status)
        return status;
    int own = open_for_worker(fd);
    if (own < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s", strerror(errno));
    unpack_order_write(&order, frame);
    /* Should it fail, the worker is gone already, and its end will be heard. */
    frame_send_beside(unpacker->process.socket, frame, sizeof frame, own);
    close(own);
    unpacker->open = true;
    return DOPPEL_OK;
}

/* ---- what comes ---- */

/* The worker is gone, or has to go: the sentence for the archive that it was at. */
static enum doppel_status lose_unpacker(struct doppel_unpacker *unpacker, enum heard why,
                                        struct doppel_error *error)
{
    struct doppel_error reason = {0};
    struct ending ended = process_end(&unpacker->process);
    unpacker->open = false;
    if (unpacker->ready)
        describe_loss(why, &ended, unpacker->options.timeout_ms, false, &reason);
    else
        describe_start_failure(unpacker->program, why, &ended, &reason);
    return doppel_fail(error, reason.status, "%s", reason.message);
}

/* Wait for a frame. */
static enum doppel_status wait_for_member(struct doppel_unpacker *unpacker,
                                          struct doppel_error *error)
{
    int64_t begun_ms = monotonic_ms();
    int64_t most_ms = unpacker->ready ? unpacker->options.timeout_ms : START_MS;
    for (;;) {
        struct pollfd wanted = {unpacker->process.socket, POLLIN, 0};
        int found = poll(&wanted, 1, LOOK_MS);
        if (found > 0)
            return DOPPEL_OK;
        if (found < 0 && errno != EINTR)
            return doppel_fail(error, DOPPEL_E_IO, "waiting for an archive: %s", strerror(errno));
        if (doppel_run_cancelled(unpacker->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        if (most_ms && monotonic_ms() - begun_ms > most_ms)
            return lose_unpacker(unpacker, HEARD_SILENCE, error);
    }
}

/* @param fd taken */
static enum doppel_status take_member_frame(struct doppel_unpacker *unpacker, const uint8_t *frame,
                                            size_t size, int fd, struct doppel_member *out,
                                            struct doppel_error *error)
{
    struct member_frame member;
    struct doppel_error end;
    if (fd < 0 && end_read(frame, size, &end)) {
        unpacker->open = false;
        return end.status ? doppel_fail(error, end.status, "%s", end.message)
                          : doppel_fail(error, DOPPEL_E_NOT_FOUND, "there are no more members");
    }
    bool good = member_read(frame, size, &member) && !member.error.status == (fd >= 0) &&
                (fd < 0 || member_file_is(fd, member.size));
    char *name = good ? strdup(member.name) : NULL;
    if (!name) {
        frame_descriptor_close(fd);
        return good ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a name")
                    : lose_unpacker(unpacker, HEARD_NONSENSE, error);
    }
    *out = (struct doppel_member){name, fd, member.size, member.mtime_s, member.error};
    return DOPPEL_OK;
}

enum doppel_status doppel_unpacker_next(struct doppel_unpacker *unpacker, struct doppel_member *out,
                                        struct doppel_error *error)
{
    uint8_t frame[PROTOCOL_MAX_BYTES], next[NEXT_BYTES];
    struct doppel_confinement held;
    struct doppel_error refusal;
    if (!unpacker->open)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "there are no more members");
    next_write(next);
    frame_send(unpacker->process.socket, next, sizeof next);
    for (;;) {
        int fd = -1;
        enum doppel_status status = wait_for_member(unpacker, error);
        if (status)
            return status;
        ssize_t size = frame_receive(unpacker->process.socket, frame, sizeof frame, &fd);
        if (size < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (size <= 0)
            return lose_unpacker(unpacker, size && errno == EBADMSG ? HEARD_NONSENSE : HEARD_END,
                                 error);
        if (unpacker->ready)
            return take_member_frame(unpacker, frame, (size_t)size, fd, out, error);
        frame_descriptor_close(fd);
        unpacker->ready = ready_read(frame, (size_t)size, &held);
        if (unpacker->ready)
            continue;
        bool refused = end_read(frame, (size_t)size, &refusal) && refusal.status;
        status = lose_unpacker(unpacker, HEARD_NONSENSE, error);
        return refused ? doppel_fail(error, refusal.status, "%s", refusal.message) : status;
    }
}

void doppel_member_free(struct doppel_member *member)
{
    free(member->name);
    frame_descriptor_close(member->fd);
    *member = (struct doppel_member){.fd = -1};
}
