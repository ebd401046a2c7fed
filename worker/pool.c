/* The pool: files in, outcomes back; who works on what, and since when. */
#include "worker/crew.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_JOBS = 1024,
    START_FAILURES = 20, /* in a row; then no more are started: more than a passing
                          * shortage of memory kills */
    GAP_MS = 1500,       /* what a stretch without a look at the clock counts at most */
    SLOW_BYTES = 16 << 20,
    SLICE_MS = 100 /* longest sleep between two looks: what a worker that is at a long file
                    * has answered and not rung for is heard then */
};

struct doppel_pool {
    struct doppel_pool_options options;
    char *program;
    uint32_t jobs;
    struct member *members; /* `jobs`; those without a process are idle places */
    struct pollfd *polls;   /* `jobs` */
    struct job *queue;      /* not yet with a worker, oldest first; room for `slots` */
    size_t queued, slots, pending;
    uint64_t serial;
    uint32_t turn; /* whose answer is looked at first */
    unsigned start_failures;
    struct doppel_error start_error; /* of the last failure */
    int64_t seen_ms, watched_ms;
};

struct doppel_pool_options doppel_pool_options_default(void)
{
    return (struct doppel_pool_options){
        .timeout_ms = 60000, .max_memory = 512ull << 20, .max_pixels = 500000000};
}

static uint32_t processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}

/* Workers, each of which takes two descriptors, and files that the pool holds at once: a window and
 * a reserve a worker. All together they are never more than half of the descriptors that this
 * process may have. */
static void count_places(struct doppel_pool *pool)
{
    struct rlimit limit;
    size_t jobs = pool->options.jobs ? pool->options.jobs : processors();
    size_t half = getrlimit(RLIMIT_NOFILE, &limit) ? 512 : limit.rlim_cur / 2;
    jobs = jobs < MAX_JOBS ? jobs : MAX_JOBS;
    jobs = jobs < half / 4 ? jobs : half / 4;
    pool->jobs = jobs ? (uint32_t)jobs : 1;
    pool->slots = pool->jobs * (WINDOW + WINDOW / 2);
    if (pool->slots + 2 * pool->jobs > half)
        pool->slots = half > 2 * pool->jobs ? half - 2 * pool->jobs : 1;
}

static enum doppel_status make_places(struct doppel_pool *pool, struct doppel_error *error)
{
    count_places(pool);
    pool->members = calloc(pool->jobs, sizeof *pool->members);
    pool->polls = calloc(pool->jobs, sizeof *pool->polls);
    pool->queue = calloc(pool->slots, sizeof *pool->queue);
    if (!pool->members || !pool->polls || !pool->queue)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %u workers", pool->jobs);
    return DOPPEL_OK;
}

static uint64_t max_ms_of(const struct doppel_pool_options *options)
{
    return options->max_seconds > 0 && options->max_seconds < 1e12
               ? (uint64_t)(options->max_seconds * 1000) + 1
               : 0;
}

/* Start a worker in an idle place. The first is started with the pool, to see that it can be; the
 * others when there is work for them. */
static struct member *hire(struct doppel_pool *pool)
{
    if (pool->start_failures >= START_FAILURES)
        return NULL;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct member *member = &pool->members[i];
        if (member_lives(member))
            continue;
        struct worker_limits limits = {pool->options.max_memory, pool->options.max_bytes,
                                       pool->options.max_pixels, max_ms_of(&pool->options)};
        if (member_start(member, pool->program, &limits, &pool->start_error) == DOPPEL_OK) {
            member->since_ms = pool->watched_ms;
            return member;
        }
        pool->start_failures++;
        return NULL;
    }
    return NULL;
}

enum doppel_status doppel_pool_new(const struct doppel_pool_options *options,
                                   struct doppel_pool **out, struct doppel_error *error)
{
    uint64_t max_memory = options ? options->max_memory : 0;
    if (max_memory && max_memory < WORKER_LEAST_BYTES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a worker needs at least %d MiB of memory (--max-memory)",
                           WORKER_LEAST_BYTES >> 20);
    struct doppel_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a pool");
    pool->options = options ? *options : doppel_pool_options_default();
    enum doppel_status status = make_places(pool, error);
    if (status)
        goto failed;
    status = process_find_program(pool->options.program, &pool->program, error);
    if (status)
        goto failed;
    pool->options.program = NULL; /* borrowed: it may not outlive this call */
    if (!hire(pool)) {
        status = doppel_fail(error, pool->start_error.status, "%s", pool->start_error.message);
        goto failed;
    }
    *out = pool;
    return DOPPEL_OK;
failed:
    doppel_pool_free(pool);
    return status;
}

void doppel_pool_free(struct doppel_pool *pool)
{
    if (!pool)
        return;
    for (uint32_t i = 0; pool->members && i < pool->jobs; i++) {
        struct member *member = &pool->members[i];
        for (size_t j = 0; j < member->count; j++)
            close(member->flight[j].order.fd);
        if (member_lives(member))
            process_end(&member->process);
    }
    for (size_t i = 0; i < pool->queued; i++)
        close(pool->queue[i].order.fd);
    free(pool->members);
    free(pool->polls);
    free(pool->queue);
    free(pool->program);
    free(pool);
}

size_t doppel_pool_room(const struct doppel_pool *pool)
{
    return pool->slots - pool->pending;
}

size_t doppel_pool_pending(const struct doppel_pool *pool)
{
    return pool->pending;
}

/* ---- handing out work ---- */

/* Time spent watching: a stretch in which this process was stopped, or the caller was elsewhere, is
 * not held against the file in hand. */
static void look_at_clock(struct doppel_pool *pool)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    int64_t gap_ms = pool->seen_ms ? now_ms - pool->seen_ms : 0;
    pool->watched_ms += gap_ms < GAP_MS ? gap_ms : GAP_MS;
    pool->seen_ms = now_ms;
}

static struct member *least_loaded(struct doppel_pool *pool)
{
    struct member *best = NULL;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct member *member = &pool->members[i];
        if (member_lives(member) && !member->deaf && !member_is_at_slow(member) &&
            (!best || member->count < best->count))
            best = member;
    }
    return best;
}

/* How many of the queue's first files are given together: a slow one alone, so that no other waits
 * behind it while a worker is idle; quick ones half a window at a time and fairly shared. */
static size_t next_share(const struct doppel_pool *pool)
{
    size_t share = (pool->queued + pool->jobs - 1) / pool->jobs, quick = 0;
    while (quick < share && !pool->queue[quick].slow)
        quick++;
    return quick ? quick : 1;
}

/* Give queued files to workers. */
static void dispatch(struct doppel_pool *pool)
{
    while (pool->queued) {
        struct member *member = least_loaded(pool);
        if (!member || member->count) {
            struct member *fresh = hire(pool);
            member = fresh ? fresh : member;
        }
        size_t most = pool->queue[0].slow ? 0 : WINDOW / 2;
        if (!member || member->count > most)
            return;
        size_t share = next_share(pool);
        size_t sent = member_give(member, pool->queue, share, pool->watched_ms);
        pool->queued -= sent;
        memmove(pool->queue, pool->queue + sent, pool->queued * sizeof *pool->queue);
        if (sent == 0)
            return;
    }
}

/* Films, and what is large: seconds, not milliseconds. */
static bool is_slow(int fd, const struct doppel_order *order)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(order->scheme);
    struct stat status;
    return (scheme && scheme->kind == DOPPEL_KIND_VIDEO) ||
           (fstat(fd, &status) == 0 && status.st_size >= SLOW_BYTES);
}

enum doppel_status doppel_pool_submit(struct doppel_pool *pool, int fd,
                                      const struct doppel_order *order, uint64_t tag,
                                      struct doppel_error *error)
{
    if (pool->pending == pool->slots) {
        close(fd);
        return doppel_fail(error, DOPPEL_E_BUSY, "%zu files are already with the workers",
                           pool->pending);
    }
    struct worker_order numbered = {++pool->serial, *order, fd};
    pool->queue[pool->queued++] = (struct job){numbered, tag, is_slow(fd, order)};
    pool->pending++;
    look_at_clock(pool);
    dispatch(pool);
    return DOPPEL_OK;
}

/* ---- taking outcomes ---- */

/* The oldest file of a worker is done with, in one way or the other. */
static void finish_head(struct doppel_pool *pool, struct member *member,
                        struct doppel_outcome *outcome)
{
    outcome->tag = member->flight[0].tag;
    close(member->flight[0].order.fd);
    member->count--;
    memmove(member->flight, member->flight + 1, member->count * sizeof *member->flight);
    member->since_ms = pool->watched_ms;
    member->worked_ms = progress_worked_ms(member->process.progress);
    pool->pending--;
}

/* What the worker had in flight goes back to the front of the queue, in order. */
static void take_back(struct doppel_pool *pool, struct member *member)
{
    memmove(pool->queue + member->count, pool->queue, pool->queued * sizeof *pool->queue);
    memcpy(pool->queue, member->flight, member->count * sizeof *pool->queue);
    pool->queued += member->count;
    member->count = 0;
}

/* A film or a sound. */
static bool takes_its_time(const struct job *job)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(job->order.wanted.scheme);
    return scheme && scheme->kind >= DOPPEL_KIND_AUDIO;
}

/* End a worker; the file it was at, if any, is lost. @return whether there is an outcome */
static bool dismiss(struct doppel_pool *pool, struct member *member, enum heard why,
                    struct doppel_outcome *out)
{
    bool started = member->ready;
    int ended = process_end(&member->process);
    if (!started) {
        /* Ending is quick and may be bad luck; START_MS of silence is not tried again. */
        pool->start_failures += why == HEARD_SILENCE ? START_FAILURES : 1;
        describe_start_failure(pool->program, why, ended, &pool->start_error);
    }
    bool lost = started && member->count;
    if (lost) {
        struct doppel_outcome outcome = {0};
        bool in_steps = !pool->options.whole_timeout && takes_its_time(&member->flight[0]);
        describe_loss(why, ended, pool->options.timeout_ms, in_steps, &outcome.error);
        finish_head(pool, member, &outcome);
        *out = outcome;
    }
    take_back(pool, member);
    return lost;
}

/* A worker has something to say, or is gone. @return whether there is an outcome */
static bool hear(struct doppel_pool *pool, struct member *member, struct doppel_outcome *out)
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
        member->since_ms = pool->watched_ms;
        return false;
    case HEARD_ANSWER:
        finish_head(pool, member, &outcome);
        *out = outcome;
        /* After a failed allocation other people's code is in a state that nobody has tested. */
        if (outcome.error.status == DOPPEL_E_MEMORY) {
            process_end(&member->process);
            take_back(pool, member);
        }
        return true;
    default:
        return dismiss(pool, member, heard, out);
    }
}

/* Films and sounds may take their time, as long as they get on. */
static void note_progress(struct doppel_pool *pool)
{
    for (uint32_t i = 0; i < pool->jobs && !pool->options.whole_timeout; i++) {
        struct member *member = &pool->members[i];
        uint64_t worked_ms =
            member_lives(member) ? progress_worked_ms(member->process.progress) : 0;
        if (worked_ms - member->worked_ms < STRIDE_MS || worked_ms < member->worked_ms)
            continue;
        member->worked_ms = worked_ms;
        member->since_ms = pool->watched_ms;
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
            if (hear(pool, member, out)) {
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
        if (hear(pool, member, out))
            return true;
        if (time_left(pool, member) <= 0 && dismiss(pool, member, HEARD_SILENCE, out))
            return true;
    }
    return false;
}

/* Wait for a bell, at most `wait_ms`. */
static enum doppel_status listen_to(struct doppel_pool *pool, int wait_ms,
                                    struct doppel_error *error)
{
    if (!prepare_polls(pool, &wait_ms))
        return doppel_fail(error, DOPPEL_E_IO, "%s", pool->start_error.message);
    if (poll(pool->polls, pool->jobs, wait_ms) < 0)
        return doppel_fail(error, errno == EINTR ? DOPPEL_E_CANCELLED : DOPPEL_E_IO,
                           "waiting for the workers: %s", strerror(errno));
    look_at_clock(pool);
    note_progress(pool);
    note_bells(pool);
    return DOPPEL_OK;
}

enum doppel_status doppel_pool_next(struct doppel_pool *pool, int timeout_ms,
                                    struct doppel_outcome *out, struct doppel_error *error)
{
    if (!pool->pending)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "no file is with the workers");
    look_at_clock(pool);
    for (int64_t begun_ms = pool->seen_ms, left_ms = timeout_ms;;) {
        /* What is there already is taken first, so that a worker gets its next files together. */
        if (hear_all(pool, out) || end_overdue(pool, out))
            return DOPPEL_OK;
        if (left_ms < 0 && timeout_ms >= 0)
            return doppel_fail(error, DOPPEL_E_TIMEOUT, "no outcome within %d ms", timeout_ms);
        dispatch(pool);
        bool bounded = timeout_ms >= 0 && left_ms < SLICE_MS;
        enum doppel_status status = listen_to(pool, bounded ? (int)left_ms : SLICE_MS, error);
        if (status)
            return status;
        left_ms = timeout_ms - (pool->seen_ms - begun_ms);
        left_ms -= left_ms == 0; /* one look is taken at least, and not one more */
    }
}

struct doppel_progress doppel_pool_progress(const struct doppel_pool *pool)
{
    struct doppel_progress sum = {0};
    for (uint32_t i = 0; i < pool->jobs; i++) {
        const struct member *member = &pool->members[i];
        if (!member_lives(member) || !member->count)
            continue;
        struct doppel_progress progress = progress_read(member->process.progress);
        sum.done_ms += progress.done_ms;
        sum.expected_ms += progress.expected_ms;
        sum.films += progress.expected_ms > 0;
    }
    return sum;
}
