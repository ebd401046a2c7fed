/* What holds the workers of this machine: one is started, asked, and ended. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "worker/handles.h"
#include "worker/listening.h"

/* Its first frame. @return HEARD_READY, HEARD_REFUSAL, or why there is none */
static enum heard hear_first(const struct process *process, struct doppel_confinement *out,
                             struct doppel_error *refusal)
{
    uint8_t frame[READY_MOST_BYTES];
    struct pollfd wanted = {process->socket, POLLIN, 0};
    int found, fd;
    do
        found = poll(&wanted, 1, START_MS);
    while (found < 0 && errno == EINTR);
    if (found <= 0)
        return HEARD_SILENCE;
    ssize_t size = frame_receive(process->socket, frame, sizeof frame, &fd);
    frame_descriptor_close(fd);
    if (size <= 0)
        return HEARD_END;
    if (ready_read(frame, (size_t)size, out))
        return HEARD_READY;
    bool refused = end_read(frame, (size_t)size, refusal) && refusal->status;
    return refused ? HEARD_REFUSAL : HEARD_NONSENSE;
}

static enum doppel_status examine_program(const char *program, const struct worker_limits *limits,
                                          struct doppel_confinement *out,
                                          struct doppel_error *error)
{
    struct doppel_confinement held;
    struct doppel_error reason = {0};
    struct process process;
    uint8_t hello[PROTOCOL_HELLO_BYTES];
    enum doppel_status status = process_start(program, &process, error);
    if (status)
        return status;
    hello_write(limits, hello);
    frame_send(process.socket, hello, sizeof hello); /* should it fail, its end is heard */
    enum heard heard = hear_first(&process, &held, &reason);
    struct ending ended = process_end(&process);
    if (heard == HEARD_READY) {
        *out = held;
        return DOPPEL_OK;
    }
    if (heard != HEARD_REFUSAL)
        describe_start_failure(program, heard, &ended, &reason);
    return doppel_fail(error, reason.status, "%s", reason.message);
}

enum doppel_status doppel_worker_examine(const struct doppel_pool_options *options,
                                         struct doppel_confinement *out, struct doppel_error *error)
{
    struct doppel_pool_options defaults = doppel_pool_options_default();
    const struct doppel_pool_options *wanted = options ? options : &defaults;
    struct worker_limits limits = {.max_memory = wanted->max_memory, .sandbox = wanted->sandbox};
    char *program;
    enum doppel_status status = process_find_program(wanted->program, &program, error);
    if (status)
        return status;
    status = examine_program(program, &limits, out, error);
    free(program);
    return status;
}
