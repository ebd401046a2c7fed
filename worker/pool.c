/* The pool: its places, and who of them is given what. */
#include "worker/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/run_kept.h"

enum {
    MAX_JOBS = 1024,
    GAP_MS = 1500, /* what a stretch without a look at the clock counts at most */
    SLOW_BYTES = 16 << 20
};

struct doppel_pool_options doppel_pool_options_default(void)
{
    return (struct doppel_pool_options){
        .timeout_ms = 60000, .max_memory = 512ull << 20, .max_pixels = 500000000};
}

static void end_pool(void *context);

static uint32_t processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}

/* Workers, each of which takes three descriptors, and files that the pool holds at once: a window
 * and a reserve a worker. All together they are never more than half of the descriptors that this
 * process may have. */
static void count_places(struct doppel_pool *pool)
{
    struct rlimit limit;
    size_t jobs = pool->options.jobs ? pool->options.jobs : processors();
    size_t half = getrlimit(RLIMIT_NOFILE, &limit) ? 512 : limit.rlim_cur / 2;
    jobs = jobs < MAX_JOBS ? jobs : MAX_JOBS;
    jobs = jobs < half / 5 ? jobs : half / 5;
    pool->jobs = jobs ? (uint32_t)jobs : 1;
    pool->slots = pool->jobs * (WINDOW + WINDOW / 2);
    if (pool->slots + 3 * pool->jobs > half)
        pool->slots = half > 3 * pool->jobs ? half - 3 * pool->jobs : 1;
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
    if (pool->start_failures >= POOL_START_FAILURES)
        return NULL;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct member *member = &pool->members[i];
        if (member_lives(member))
            continue;
        struct worker_limits limits = {pool->options.max_memory, pool->options.max_bytes,
                                       pool->options.max_pixels, max_ms_of(&pool->options),
                                       pool->options.sandbox,    ""};
        if (pool->ocr)
            snprintf(limits.ocr, sizeof limits.ocr, "%s", pool->ocr);
        if (member_start(member, pool->program, &limits, &pool->start_error) == DOPPEL_OK) {
            member_gets_on(member, pool->watched_ms);
            return member;
        }
        pool->start_failures++;
        return NULL;
    }
    return NULL;
}

static enum doppel_status keep_languages(struct doppel_pool *pool, struct doppel_error *error)
{
    const char *ocr = pool->options.ocr;
    pool->options.ocr = NULL;
    if (!ocr)
        return DOPPEL_OK;
    if (!*ocr || strlen(ocr) >= DOPPEL_OCR_BYTES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%s' are no languages of OCR: they are written as 'eng+hin', in %d "
                           "bytes at most",
                           ocr, DOPPEL_OCR_BYTES - 1);
    pool->ocr = strdup(ocr);
    return pool->ocr ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a pool");
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
    status = keep_languages(pool, error);
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
    end_pool(pool);
    return status;
}

static enum doppel_status new_pool_of_run(const struct doppel_run *run, bool alone,
                                          struct doppel_pool **out, struct doppel_error *error)
{
    const struct doppel_run_options *from = doppel_run_get_options(run);
    struct doppel_pool_options options = doppel_pool_options_default();
    options.program = from->worker;
    options.jobs = from->jobs;
    options.timeout_ms = from->limits.timeout_ms;
    options.max_memory = from->limits.max_memory;
    options.max_pixels = from->limits.max_pixels;
    options.max_seconds = from->limits.max_ms / 1000.0;
    options.whole_timeout = from->limits.whole_timeout;
    options.sandbox = from->sandbox;
    options.switched_off = from->limits.switched_off;
    options.alone = alone;
    options.ocr = from->ocr;
    enum doppel_status status = doppel_pool_new(&options, out, error);
    if (!status)
        (*out)->run = run;
    /* Elsewhere NOT_FOUND is said of inputs. */
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_E_IO : status;
}

enum doppel_status doppel_pool_for_run(const struct doppel_run *run, struct doppel_pool **out,
                                       struct doppel_error *error)
{
    struct doppel_pool *kept = run_take_kept(run, RUN_POOL);
    if (!kept)
        return new_pool_of_run(run, false, out, error);
    kept->start_failures = 0;
    *out = kept;
    return DOPPEL_OK;
}

enum doppel_status doppel_pool_alone(const struct doppel_run *run, struct doppel_pool **out,
                                     struct doppel_error *error)
{
    return new_pool_of_run(run, true, out, error);
}

void doppel_pool_free(struct doppel_pool *pool)
{
    if (pool && pool->run && !pool->pending && !pool->options.alone)
        run_keep(pool->run, RUN_POOL, pool, end_pool);
    else
        end_pool(pool);
}

static void end_pool(void *context)
{
    struct doppel_pool *pool = context;
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
    free(pool->ocr);
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

struct doppel_progress doppel_pool_progress(const struct doppel_pool *pool)
{
    struct doppel_progress sum = {.pages = pool->pages, .pages_total = pool->pages};
    for (uint32_t i = 0; i < pool->jobs; i++) {
        const struct member *member = &pool->members[i];
        if (!member_lives(member) || !member->count)
            continue;
        struct doppel_progress progress = progress_read(member->process.progress);
        sum.done_ms += progress.done_ms;
        sum.expected_ms += progress.expected_ms;
        sum.videos += progress.expected_ms > 0;
        sum.pages += progress.pages;
        sum.pages_total += progress.pages_total;
    }
    return sum;
}

/* ---- handing out work ---- */

/* Time spent watching: a stretch in which this process was stopped, or the caller was elsewhere, is
 * not held against the file in hand. */
void pool_look_at_clock(struct doppel_pool *pool)
{
    int64_t now_ms = monotonic_ms();
    int64_t gap_ms = pool->seen_ms ? now_ms - pool->seen_ms : 0;
    pool->watched_ms += gap_ms < GAP_MS ? gap_ms : GAP_MS;
    pool->seen_ms = now_ms;
}

/* Whether a worker has had enough files, and is to be replaced. */
static bool is_spent(const struct doppel_pool *pool, const struct member *member)
{
    return member->given >= (pool->options.alone ? 1 : FILES_PER_WORKER);
}

static struct member *least_loaded(struct doppel_pool *pool)
{
    struct member *best = NULL;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct member *member = &pool->members[i];
        if (member_lives(member) && !member->deaf && !is_spent(pool, member) &&
            !member_is_at_slow(member) && (!best || member->count < best->count))
            best = member;
    }
    return best;
}

/* How many of the queue's first files are given together: a slow one alone, so that no other waits
 * behind it while a worker is idle; quick ones half a window at a time and fairly shared. */
static size_t next_share(const struct doppel_pool *pool)
{
    size_t share = (pool->queued + pool->jobs - 1) / pool->jobs, quick = 0;
    share = pool->options.alone ? 1 : share;
    while (quick < share && !pool->queue[quick].slow)
        quick++;
    return quick ? quick : 1;
}

/* Who has answered all that it may have makes room for a fresh one. */
static void end_spent(struct doppel_pool *pool)
{
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct member *member = &pool->members[i];
        if (member_lives(member) && is_spent(pool, member) && !member->count)
            process_end(&member->process);
    }
}

void pool_dispatch(struct doppel_pool *pool)
{
    end_spent(pool);
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

/* Videos, what may be read by OCR, and what is large: seconds, not milliseconds. */
static bool is_slow(const struct doppel_pool *pool, int fd, const struct doppel_order *order)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(order->scheme);
    struct stat status;
    return (scheme && scheme->kind == DOPPEL_KIND_VIDEO) ||
           (scheme && scheme->kind == DOPPEL_KIND_TEXT && pool->ocr) ||
           (fstat(fd, &status) == 0 && status.st_size >= SLOW_BYTES);
}

/* A descriptor that can be written to is not for workers. Closed on failure. */
static enum doppel_status take_read_only(int *fd, struct doppel_error *error)
{
    int flags = fcntl(*fd, F_GETFL), given = *fd;
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
        return DOPPEL_OK;
    *fd = open_for_worker(given);
    int reason = errno;
    close(given);
    return *fd >= 0
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_IO, "it cannot be opened again, only to be read: %s",
                             strerror(reason));
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
    if (take_read_only(&fd, error))
        return DOPPEL_E_IO;
    struct worker_order numbered = {++pool->serial, *order, fd};
    numbered.wanted.switched_off |= pool->options.switched_off;
    pool->queue[pool->queued++] =
        (struct job){.order = numbered, .tag = tag, .slow = is_slow(pool, fd, order)};
    pool->pending++;
    pool_look_at_clock(pool);
    pool_dispatch(pool);
    return DOPPEL_OK;
}
