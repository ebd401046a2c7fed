/* A run: limits, callbacks, whether to stop, and what is kept between calls. */
#include "core/run_kept.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text/text_copy.h"

enum { RUN_MOST_KEPT = 8 }; /* of a kind */

struct kept_thing {
    void *thing;
    void (*end)(void *thing);
};

/* What no call uses at the moment; under the lock. */
struct run_keeping {
    pthread_mutex_t lock;
    struct kept_thing things[RUN_KEPT][RUN_MOST_KEPT];
    size_t count[RUN_KEPT];
};

struct doppel_run {
    struct doppel_run_options options;
    char *cache, *temporary, *worker, *ocr;
    atomic_bool cancelled;
    _Atomic uint64_t failures;
    pthread_mutex_t lock;                /* recursive: held while a callback is called */
    struct doppel_run_progress progress; /* under the lock */
    struct run_keeping *keeping;
};

struct doppel_run_options doppel_run_options_default(void)
{
    return (struct doppel_run_options){
        .limits = {.max_pixels = UINT64_C(500000000),
                   .max_memory = UINT64_C(512) << 20,
                   .timeout_ms = 60000},
    };
}

static struct run_keeping *keeping_new(bool *no_memory)
{
    struct run_keeping *keeping = calloc(1, sizeof *keeping);
    if (keeping)
        pthread_mutex_init(&keeping->lock, NULL);
    else
        *no_memory = true;
    return keeping;
}

static void keeping_free(struct run_keeping *keeping)
{
    if (!keeping)
        return;
    for (size_t what = 0; what < RUN_KEPT; what++)
        for (size_t i = 0; i < keeping->count[what]; i++)
            keeping->things[what][i].end(keeping->things[what][i].thing);
    pthread_mutex_destroy(&keeping->lock);
    free(keeping);
}

void *run_take_kept(const struct doppel_run *run, enum run_kept what)
{
    struct run_keeping *keeping = run->keeping;
    void *thing = NULL;
    pthread_mutex_lock(&keeping->lock);
    if (keeping->count[what])
        thing = keeping->things[what][--keeping->count[what]].thing;
    pthread_mutex_unlock(&keeping->lock);
    return thing;
}

void run_keep(const struct doppel_run *run, enum run_kept what, void *thing, void (*end)(void *))
{
    struct run_keeping *keeping = run->keeping;
    pthread_mutex_lock(&keeping->lock);
    bool room = keeping->count[what] < RUN_MOST_KEPT;
    if (room)
        keeping->things[what][keeping->count[what]++] = (struct kept_thing){thing, end};
    pthread_mutex_unlock(&keeping->lock);
    if (!room)
        end(thing);
}

static void init_recursive(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

enum doppel_status doppel_run_new(const struct doppel_run_options *options, struct doppel_run **out,
                                  struct doppel_error *error)
{
    struct doppel_run *run = calloc(1, sizeof *run);
    if (!run)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a run");
    bool no_memory = false;
    init_recursive(&run->lock);
    run->keeping = keeping_new(&no_memory);
    run->options = options ? *options : doppel_run_options_default();
    run->cache = copy_text(run->options.cache, &no_memory);
    run->temporary = copy_text(run->options.temporary, &no_memory);
    run->worker = copy_text(run->options.worker, &no_memory);
    run->ocr = copy_text(run->options.ocr, &no_memory);
    if (no_memory) {
        doppel_run_free(run);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a run");
    }
    run->options.cache = run->cache;
    run->options.temporary = run->temporary;
    run->options.worker = run->worker;
    run->options.ocr = run->ocr;
    *out = run;
    return DOPPEL_OK;
}

void doppel_run_free(struct doppel_run *run)
{
    if (!run)
        return;
    keeping_free(run->keeping);
    pthread_mutex_destroy(&run->lock);
    free(run->cache);
    free(run->temporary);
    free(run->worker);
    free(run->ocr);
    free(run);
}

void doppel_run_cancel(struct doppel_run *run)
{
    atomic_store(&run->cancelled, true);
}

bool doppel_run_cancelled(const struct doppel_run *run)
{
    const struct doppel_run_options *options = &run->options;
    return atomic_load(&run->cancelled) ||
           (options->cancelled && options->cancelled(options->context));
}

const struct doppel_run_options *doppel_run_get_options(const struct doppel_run *run)
{
    return &run->options;
}

uint32_t doppel_run_jobs(const struct doppel_run *run)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return run->options.jobs ? run->options.jobs : processors > 0 ? (uint32_t)processors : 1;
}

uint64_t doppel_run_failures(const struct doppel_run *run)
{
    return atomic_load(&run->failures);
}

void doppel_run_failed(struct doppel_run *run, const char *path, const struct doppel_error *reason)
{
    atomic_fetch_add(&run->failures, 1);
    if (!run->options.on_failed)
        return;
    pthread_mutex_lock(&run->lock);
    run->options.on_failed(run->options.context, path, reason);
    pthread_mutex_unlock(&run->lock);
}

void doppel_run_fail_input(struct doppel_run *run, const char *path, const char *reason)
{
    struct doppel_error error;
    doppel_fail(&error, DOPPEL_E_FORMAT, "%s", reason);
    doppel_run_failed(run, path, &error);
}

static void notify(struct doppel_run *run, enum doppel_notice level, const char *path,
                   const char *text)
{
    if (!run->options.on_notice)
        return;
    pthread_mutex_lock(&run->lock);
    run->options.on_notice(run->options.context, level, path, text);
    pthread_mutex_unlock(&run->lock);
}

void doppel_run_notice(struct doppel_run *run, const char *format, ...)
{
    char text[4096 + 512]; /* a path and a sentence */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    notify(run, DOPPEL_NOTICE, NULL, text);
}

void doppel_run_detail(struct doppel_run *run, const char *path, const char *reason)
{
    if (run->options.details)
        notify(run, DOPPEL_NOTICE_DETAIL, path, reason);
}

void doppel_run_show(struct doppel_run *run, const struct doppel_run_progress *progress)
{
    pthread_mutex_lock(&run->lock);
    run->progress = *progress;
    run->progress.begins = run->progress.ends = false;
    if (run->options.on_progress)
        run->options.on_progress(run->options.context, progress);
    pthread_mutex_unlock(&run->lock);
}

void doppel_run_begin(struct doppel_run *run, const char *unit, uint64_t total)
{
    const struct doppel_run_progress progress = {.unit = unit, .begins = true, .total = total};
    doppel_run_show(run, &progress);
}

void doppel_run_set_total(struct doppel_run *run, uint64_t total)
{
    pthread_mutex_lock(&run->lock);
    run->progress.total = total;
    pthread_mutex_unlock(&run->lock);
}

void doppel_run_end(struct doppel_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct doppel_run_progress progress = run->progress;
    progress.ends = true;
    doppel_run_show(run, &progress);
    pthread_mutex_unlock(&run->lock);
}

void doppel_run_advance(struct doppel_run *run, uint64_t done)
{
    pthread_mutex_lock(&run->lock);
    struct doppel_run_progress progress = run->progress;
    progress.done = done;
    doppel_run_show(run, &progress);
    pthread_mutex_unlock(&run->lock);
}

struct doppel_run_progress doppel_run_progress_so_far(struct doppel_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct doppel_run_progress progress = run->progress;
    pthread_mutex_unlock(&run->lock);
    return progress;
}

bool doppel_run_shows_progress(const struct doppel_run *run)
{
    return run->options.on_progress;
}
