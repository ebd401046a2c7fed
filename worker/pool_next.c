/* Outcomes out of the pool: who is heard, who is overdue, and what becomes of who ends. */
#include "worker/pool.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Longest sleep between two looks: what a worker that is at a long file has answered and not rung
 * for is heard then. */
enum { SLICE_MS = 100 };

/* The oldest file of a worker is done with, in one way or the other. */
static void finish_head(struct doppel_pool *pool, struct member *member,
                        struct doppel_outcome *outcome)
{
    outcome->tag = member->flight[0].tag;
    close(member->flight[0].order.fd);
    member->count--;
    memmove(member->flight, member->flight + 1, member->count * sizeof *member->flight);
    member_gets_on(member, pool->watched_ms);
    pool->pending--;
}

/* What the worker had in flight goes back to the front of the queue, in order. */
static void take_back_pool(struct doppel_pool *pool, struct member *member)
{
    memmove(pool->queue + member->count, pool->queue, pool->queued * sizeof *pool->queue);
    memcpy(pool->queue, member->flight, member->count * sizeof *pool->queue);
    pool->queued += member->count;
    member->count = 0;
}

/* What a file is to get on by, within the timeout: a video or a recording by some seconds, a text
 * that may be read by OCR by a page. */
static enum stride stride_of(const struct doppel_pool *pool, const struct job *job)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(job->order.wanted.scheme);
    if (pool->options.whole_timeout || !scheme)
        return STRIDE_WHOLE;
    if (scheme->kind == DOPPEL_KIND_TEXT && pool->ocr)
        return STRIDE_PAGE;
    return scheme->kind >= DOPPEL_KIND_AUDIO ? STRIDE_SECONDS : STRIDE_WHOLE;
}

/* End a worker; the file it was at, if any, is lost. @return whether there is an outcome */
static bool dismiss(struct doppel_pool *pool, struct member *member, enum heard why,
                    struct doppel_outcome *out)
{
    bool started = member->ready;
    struct ending ended = process_end(&member->process);
    if (!started) {
        /* Ending is quick and may be bad luck; START_MS of silence is not tried again. */
        pool->start_failures += why == HEARD_SILENCE ? POOL_START_FAILURES : 1;
        describe_start_failure(pool->program, why, &ended, &pool->start_error);
    }
    bool lost = started && member->count;
    if (lost) {
        struct doppel_outcome outcome = {0};
        describe_loss(why, &ended, pool->options.timeout_ms, stride_of(pool, &member->flight[0]),
                      &outcome.error);
        /* What may be read by OCR is with its worker alone. */
        pool->pages += progress_read(member->process.progress).pages_total;
        finish_head(pool, member, &outcome);
        *out = outcome;
    }
    take_back_pool(pool, member);
    return lost;
}

/* After a failed allocation other people's code is in a state that nobody has tested. Whether the
 * file needs more than a worker may have, or the system had none to give, shows at a second try.
 * @return whether there is an outcome */
static bool end_short_of_memory(struct doppel_pool *pool, struct member *member,
                                struct doppel_outcome *outcome, struct doppel_outcome *out)
{
    bool twice = member->flight[0].short_of_memory;
    member->flight[0].short_of_memory = true;
    if (twice) {
        finish_head(pool, member, outcome);
        *out = *outcome;
    } else {
        doppel_outcome_free(outcome);
    }
    process_end(&member->process);
    take_back_pool(pool, member);
    return twice;
}

/* It says that it will not start, and why: no other would. */
static void end_refusing(struct doppel_pool *pool, struct member *member,
                         const struct doppel_error *reason)
{
    process_end(&member->process);
    take_back_pool(pool, member);
    pool->start_failures = POOL_START_FAILURES;
    pool->start_error = *reason;
}

/* A worker has something to say, or is gone. @return whether there is an outcome */
static bool hear_pool(struct doppel_pool *pool, struct member *member, struct doppel_outcome *out)
{
    struct doppel_outcome outcome;
    enum heard heard = member_hear(member, &outcome);
    switch (heard) {
    case HEARD_NOTHING:
        member->talking = false;
        member->heard_ms = pool->watched_ms;
        return false;
    case HEARD_READY:
        pool->start_failures = 0;
        member_gets_on(member, pool->watched_ms);
        return false;
    case HEARD_REFUSAL:
        end_refusing(pool, member, &outcome.error);
        return false;
    case HEARD_ANSWER:
        if (outcome.error.status == DOPPEL_E_MEMORY)
            return end_short_of_memory(pool, member, &outcome, out);
        finish_head(pool, member, &outcome);
        *out = outcome;
        return true;
    default:
        return dismiss(pool, member, heard, out);
    }
}

/* Videos and recordings may take their time, as long as they get on. */
static void note_progress(struct doppel_pool *pool)
{
    for (uint32_t i = 0; i < pool->jobs && !pool->options.whole_timeout; i++) {
        struct member *member = &pool->members[i];
        uint64_t worked_ms =
            member_lives(member) ? progress_worked_ms(member->process.progress) : 0;
        if (worked_ms >= member->worked_ms && worked_ms - member->worked_ms >= STRIDE_MS)
            member_gets_on(member, pool->watched_ms);
    }
}

/* Milliseconds until this worker is overdue; INT64_MAX when it is not waited for. */
static int64_t time_left(const struct doppel_pool *pool, const struct member *member)
{
    int64_t limit_ms = member->ready ? pool->options.timeout_ms : START_MS;
    if (!member_lives(member) || !member->count || !limit_ms)
        return INT64_MAX;
    return member->since_ms + limit_ms - pool->watched_ms;
}

static size_t prepare_polls(struct doppel_pool *pool, int *wait_ms)
{
    size_t alive = 0;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        const struct member *member = &pool->members[i];
        pool->polls[i] =
            (struct pollfd){member_lives(member) ? member->process.bell : -1, POLLIN, 0};
        alive += member_lives(member);
        int64_t left = time_left(pool, member);
        if (left < *wait_ms)
            *wait_ms = left > 0 ? (int)left : 0;
    }
    return alive;
}

/* Who rang is listened to, and who was not for a while. */
static void note_bells(struct doppel_pool *pool)
{
    char bells[64];
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct member *member = &pool->members[i];
        short rang = pool->polls[i].revents;
        if (rang & POLLIN) {
            ssize_t heard = read(member->process.bell, bells, sizeof bells);
            (void)heard;
        } else if (rang) { /* it ended, or has no bell any more: not to be woken by that again */
            close(member->process.bell);
            member->process.bell = -1;
        }
        member->talking |= rang || pool->watched_ms - member->heard_ms >= SLICE_MS;
    }
}

/* One round over the workers that talk, beginning with another one each time. */
static bool hear_all(struct doppel_pool *pool, struct doppel_outcome *out)
{
    for (uint32_t i = 0; i < pool->jobs; i++) {
        uint32_t at = (pool->turn + i) % pool->jobs;
        struct member *member = &pool->members[at];
        while (member_lives(member) && member->talking)
            if (hear_pool(pool, member, out)) {
                pool->turn = (at + 1) % pool->jobs;
                return true;
            }
    }
    return false;
}

/* Overdue is who has answered nothing when it is listened to, rung for or not. */
static bool end_overdue(struct doppel_pool *pool, struct doppel_outcome *out)
{
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct member *member = &pool->members[i];
        if (time_left(pool, member) > 0)
            continue;
        if (hear_pool(pool, member, out))
            return true;
        if (time_left(pool, member) <= 0 && dismiss(pool, member, HEARD_SILENCE, out))
            return true;
    }
    return false;
}

/* Wait for a bell, at most `wait_ms`. */
static enum doppel_status listen_to_pool(struct doppel_pool *pool, int wait_ms,
                                         struct doppel_error *error)
{
    if (!prepare_polls(pool, &wait_ms))
        return doppel_fail(error, DOPPEL_E_IO, "%s", pool->start_error.message);
    if (poll(pool->polls, pool->jobs, wait_ms) < 0)
        return doppel_fail(error, errno == EINTR ? DOPPEL_E_CANCELLED : DOPPEL_E_IO,
                           "waiting for the workers: %s", strerror(errno));
    pool_look_at_clock(pool);
    note_progress(pool);
    note_bells(pool);
    return DOPPEL_OK;
}

enum doppel_status doppel_pool_next(struct doppel_pool *pool, int timeout_ms,
                                    struct doppel_outcome *out, struct doppel_error *error)
{
    if (!pool->pending)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "no file is with the workers");
    pool_look_at_clock(pool);
    for (int64_t begun_ms = pool->seen_ms, left_ms = timeout_ms;;) {
        /* What is there already is taken first, so that a worker gets its next files together. */
        if (hear_all(pool, out) || end_overdue(pool, out))
            return DOPPEL_OK;
        if (left_ms < 0 && timeout_ms >= 0)
            return doppel_fail(error, DOPPEL_E_TIMEOUT, "no outcome within %d ms", timeout_ms);
        if (pool->run && doppel_run_cancelled(pool->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        pool_dispatch(pool);
        bool bounded = timeout_ms >= 0 && left_ms < SLICE_MS;
        enum doppel_status status = listen_to_pool(pool, bounded ? (int)left_ms : SLICE_MS, error);
        if (status)
            return status;
        left_ms = timeout_ms - (pool->seen_ms - begun_ms);
        left_ms -= left_ms == 0; /* one look is taken at least, and not one more */
    }
}
