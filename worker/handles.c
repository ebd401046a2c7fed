/* One worker as the pool sees it: starting, giving, hearing, and why it ended. */
#include "worker/handles.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/listening.h"

bool member_lives(const struct member *member)
{
    return member->process.pid != 0;
}

enum doppel_status member_start(struct member *member, const char *program,
                                const struct worker_limits *limits, struct doppel_error *error)
{
    struct process process;
    enum doppel_status status = process_start(program, &process, error);
    if (status)
        return status;
    uint8_t hello[PROTOCOL_HELLO_BYTES];
    hello_write(limits, hello);
    /* Should it fail, the worker is gone already, and its end will be heard. */
    frame_send(process.socket, hello, sizeof hello);
    *member = (struct member){.process = process};
    return DOPPEL_OK;
}

void member_gets_on(struct member *member, int64_t now_ms)
{
    member->since_ms = now_ms;
    member->worked_ms = progress_worked_ms(member->process.progress);
}

bool member_is_at_slow(const struct member *member)
{
    return member->count && member->flight[0].slow;
}

/* Each file goes to a worker as an opening of its own: what a worker does to it, the next one, to
 * which the file may go, does not see. @return whether they were taken; errno says why not */
static bool send_jobs(const struct member *member, const struct job *jobs, size_t count)
{
    struct worker_order orders[WINDOW] = {0};
    int opened[WINDOW];
    for (size_t i = 0; i < count; i++) {
        orders[i] = jobs[i].order;
        opened[i] = open_for_worker(jobs[i].order.fd);
        if (opened[i] >= 0)
            orders[i].fd = opened[i];
    }
    bool sent = orders_send(member->process.socket, orders, count);
    int reason = errno;
    for (size_t i = 0; i < count; i++)
        if (opened[i] >= 0)
            close(opened[i]);
    errno = reason;
    return sent;
}

size_t member_give(struct member *member, const struct job *jobs, size_t count, int64_t now_ms)
{
    size_t room = WINDOW - member->count;
    count = count < room ? count : room;
    if (!send_jobs(member, jobs, count)) {
        member->deaf = errno == EPIPE || errno == ECONNRESET;
        return 0;
    }
    member->given += (uint32_t)count;
    if (member->count == 0)
        member_gets_on(member, now_ms);
    for (size_t i = 0; i < count; i++)
        member->flight[member->count++] = jobs[i];
    return count;
}

static enum heard read_frame_member(struct member *member, const uint8_t *frame, size_t size,
                                    int fd, struct doppel_outcome *out)
{
    if (!member->ready) {
        struct doppel_confinement held;
        struct doppel_error refusal;
        member->ready = fd < 0 && ready_read(frame, size, &held);
        if (!member->ready && fd < 0 && end_read(frame, size, &refusal) && refusal.status) {
            *out = (struct doppel_outcome){.error = refusal};
            return HEARD_REFUSAL;
        }
        return member->ready ? HEARD_READY : HEARD_NONSENSE;
    }
    if (!member->count)
        return HEARD_NONSENSE;
    const struct worker_order *order = &member->flight[0].order;
    enum answer answer = fd < 0                       ? answer_read(frame, size, order, out)
                         : frame_is_long(frame, size) ? answer_read_long(fd, order, out)
                                                      : ANSWER_NONSENSE;
    if (answer == ANSWER_NO_MEMORY) {
        *out = (struct doppel_outcome){0};
        doppel_fail(&out->error, DOPPEL_E_KILLED, "no memory in doppel for its fingerprint");
        answer = ANSWER_GOOD;
    }
    return answer ? HEARD_NONSENSE : HEARD_ANSWER;
}

enum heard member_hear(struct member *member, struct doppel_outcome *out)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    int fd;
    ssize_t size = frame_receive(member->process.socket, frame, sizeof frame, &fd);
    /* It ended with orders unread. That is said first, and once: what it had answered comes then.
     */
    if (size < 0 && errno == ECONNRESET)
        size = frame_receive(member->process.socket, frame, sizeof frame, &fd);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return HEARD_NOTHING;
    if (size < 0 && errno == EBADMSG)
        return HEARD_NONSENSE;
    if (size <= 0)
        return HEARD_END;
    bool whole = size <= (ssize_t)sizeof frame;
    enum heard heard =
        whole ? read_frame_member(member, frame, (size_t)size, fd, out) : HEARD_NONSENSE;
    frame_descriptor_close(fd);
    return heard;
}

/* We kill whoever is still there when its socket ends, so SIGKILL may be ours or the kernel's. */
static bool was_killed(const struct ending *ended)
{
    return ended->status >= 0 && WIFSIGNALED(ended->status) && WTERMSIG(ended->status) == SIGKILL;
}

static void describe_worker_end(const struct ending *ended, char out[160])
{
    int status = ended->status;
    if (was_killed(ended))
        snprintf(out, 160, "was killed (signal 9)");
    else if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        snprintf(out, 160,
                 "was stopped: it asked for %s%s%s, which decoding does not need (signal 31)",
                 ended->refused[0] ? "the system call '" : "a system call", ended->refused,
                 ended->refused[0] ? "'" : "");
    else if (status >= 0 && WIFSIGNALED(status))
        snprintf(out, 160, "crashed (signal %d)", WTERMSIG(status));
    else if (status >= 0 && WIFEXITED(status))
        snprintf(out, 160, "ended its process (exit code %d)", WEXITSTATUS(status));
    else
        snprintf(out, 160, "ended");
}

void describe_loss(enum heard why, const struct ending *ended, uint32_t timeout_ms,
                   enum stride stride, struct doppel_error *out)
{
    char end[160];
    describe_worker_end(ended, end);
    if (why == HEARD_SILENCE && stride == STRIDE_PAGE)
        doppel_fail(out, DOPPEL_E_TIMEOUT, "took longer than %g s for a page of it (--timeout)",
                    timeout_ms / 1000.0);
    else if (why == HEARD_SILENCE && stride == STRIDE_SECONDS)
        doppel_fail(out, DOPPEL_E_TIMEOUT,
                    "took longer than %g s to get on by %d s of it (--timeout)",
                    timeout_ms / 1000.0, STRIDE_MS / 1000);
    else if (why == HEARD_SILENCE)
        doppel_fail(out, DOPPEL_E_TIMEOUT, "took longer than %g s (--timeout)",
                    timeout_ms / 1000.0);
    else if (why == HEARD_NONSENSE)
        doppel_fail(out, DOPPEL_E_CRASH, "the decoder went astray: its answer makes no sense");
    else
        doppel_fail(out, was_killed(ended) ? DOPPEL_E_KILLED : DOPPEL_E_CRASH, "the decoder %s",
                    end);
}

void describe_start_failure(const char *program, enum heard why, const struct ending *ended,
                            struct doppel_error *out)
{
    char end[160];
    if (why == HEARD_SILENCE)
        snprintf(end, sizeof end, "kept silent for %d s", START_MS / 1000);
    else
        describe_worker_end(ended, end);
    doppel_fail(out, DOPPEL_E_IO,
                "the program %s %s before it was ready: is it the doppel-worker of this version?",
                program, end);
}
