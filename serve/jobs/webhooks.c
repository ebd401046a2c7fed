/* A thread that calls. */
#include "serve/jobs/webhooks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/try.h"
#include "serve/jobs/jobs.h"
#include "serve/jobs/uploads.h"
#include "serve/service.h"

/* A second after the first try, then four times as long each, at most six hours: the last try is 12
 * hours after the job has ended. */
enum { MOST_CALLS = 10, LONGEST_WAIT_S = 6 * 3600, LOOK_MS = 250 };

/* Until the library has noted it. */
struct made_call {
    uint64_t job; /* 0: none */
    bool failed;
    struct doppel_error problem;
    int64_t next_ns;
};

struct webhooks {
    struct doppel_webhook_options options;
    struct doppel_run *run;      /* to end a call */
    struct doppel_run *notified; /* of what keeps calls from going on */
    struct made_call made;
    enum doppel_status hindrance;
    const struct uploads *uploads;
    struct doppel_library *library;
    pthread_mutex_t lock;
    pthread_cond_t ends;
    bool ending, started;
    pthread_t calls;
};

/* ---- a call ---- */

static int64_t realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* @return 0: never */
static int64_t next_call_ns(uint64_t calls)
{
    int64_t wait = 1;
    if (calls >= MOST_CALLS)
        return 0;
    for (uint64_t i = 1; i < calls && wait < LONGEST_WAIT_S; i++)
        wait *= 4;
    wait = wait < LONGEST_WAIT_S ? wait : LONGEST_WAIT_S;
    return realtime_ns() + wait * INT64_C(1000000000);
}

static enum doppel_status send_call(struct webhooks *webhooks, const struct doppel_job *job,
                                    struct doppel_error *error)
{
    struct doppel_json body = {0};
    char id[40];
    enum doppel_status status;
    snprintf(id, sizeof id, "job_%llu", (unsigned long long)job->id);
    doppel_json_object_begin(&body, NULL);
    put_job(&body, job);
    doppel_json_object_end(&body);
    TRY(doppel_json_status(&body, error));
    const struct doppel_webhook_call call = {.url = job->webhook,
                                             .id = id,
                                             .time_s = realtime_ns() / INT64_C(1000000000),
                                             .body = body.bytes,
                                             .size = body.size};
    TRY(doppel_webhook_send(webhooks->run, &webhooks->options, &call, error));
done:
    doppel_json_free(&body);
    return status;
}

/* What ends with the service was no try. */
static void make_call(struct webhooks *webhooks, const struct doppel_job *job)
{
    struct made_call *made = &webhooks->made;
    enum doppel_status sent = send_call(webhooks, job, &made->problem);
    if (sent == DOPPEL_E_CANCELLED)
        return;
    made->job = job->id;
    made->failed = sent != DOPPEL_OK;
    made->next_ns = sent ? next_call_ns(job->calls + 1) : 0;
}

/* It is not made again because it could not be noted. */
static enum doppel_status note_call(struct webhooks *webhooks, struct doppel_error *error)
{
    struct made_call *made = &webhooks->made;
    enum doppel_status status;
    TRY(doppel_library_job_called(webhooks->library, made->job,
                                  made->failed ? made->problem.message : NULL, made->next_ns,
                                  error));
    TRY(doppel_library_commit(webhooks->library, error));
    made->job = 0;
done:
    return status;
}

/* @param out_called whether there was something to do */
static enum doppel_status call_due(struct webhooks *webhooks, bool *out_called,
                                   struct doppel_error *error)
{
    struct doppel_job job = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!webhooks->made.job) {
        status = doppel_library_next_job_call(webhooks->library, &job, error);
        if (status == DOPPEL_E_NOT_FOUND)
            return DOPPEL_OK;
        if (status)
            return status;
        if (job.next_call_ns <= realtime_ns())
            make_call(webhooks, &job);
    }
    *out_called = webhooks->made.job != 0;
    if (*out_called)
        TRY(note_call(webhooks, error));
done:
    doppel_job_free(&job);
    return status;
}

/* Once a change: it is tried again soon. */
static void tell_call_hindrance(struct webhooks *webhooks, enum doppel_status status,
                                const char *why)
{
    if (status == webhooks->hindrance)
        return;
    webhooks->hindrance = status;
    if (status)
        doppel_run_notice(webhooks->notified, "webhooks cannot be called, and are tried again: %s",
                          why);
    else
        doppel_run_notice(webhooks->notified, "webhooks are called again");
}

/* @return whether there was something to do */
static bool call_next(struct webhooks *webhooks)
{
    struct doppel_error error;
    bool called = false;
    enum doppel_status status = call_due(webhooks, &called, &error);
    if (status)
        doppel_library_rollback(webhooks->library);
    tell_call_hindrance(webhooks, status, status ? error.message : NULL);
    return called && !status;
}

static void wait_for_call(struct webhooks *webhooks)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!webhooks->ending && !pthread_cond_timedwait(&webhooks->ends, &webhooks->lock, &until))
        ;
}

/* Of several services of a library, the one that works on its jobs calls. */
static void *call_on(void *context)
{
    struct webhooks *webhooks = context;
    pthread_mutex_lock(&webhooks->lock);
    while (!webhooks->ending) {
        pthread_mutex_unlock(&webhooks->lock);
        bool called = uploads_are_locked(webhooks->uploads) && call_next(webhooks);
        pthread_mutex_lock(&webhooks->lock);
        if (!called)
            wait_for_call(webhooks);
    }
    pthread_mutex_unlock(&webhooks->lock);
    return NULL;
}

enum doppel_status webhooks_check(const struct webhooks *webhooks, const char *url,
                                  struct doppel_error *error)
{
    static const struct doppel_webhook_options none;
    return doppel_webhook_check(webhooks ? &webhooks->options : &none, url, error);
}

/* ---- life ---- */

static enum doppel_status open_webhooks(struct webhooks *webhooks, const struct service *service,
                                        struct doppel_error *error)
{
    const struct serve_options *options = service->options;
    const struct doppel_library_options opening = {.durable = options->durable};
    enum doppel_status status = DOPPEL_OK;
    TRY(doppel_run_new(NULL, &webhooks->run, error));
    TRY(doppel_library_open(options->library, &opening, &webhooks->library, error));
    if (pthread_create(&webhooks->calls, NULL, call_on, webhooks))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no thread can be started"));
    webhooks->started = true;
done:
    return status;
}

enum doppel_status webhooks_open(const struct service *service, const struct uploads *uploads,
                                 struct webhooks **out, struct doppel_error *error)
{
    const struct doppel_strings *allowed = &service->options->webhook_allow;
    if (!allowed->count)
        return DOPPEL_OK;
    struct webhooks *webhooks = calloc(1, sizeof *webhooks);
    if (!webhooks)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for webhooks");
    webhooks->uploads = uploads;
    webhooks->notified = service->run;
    webhooks->options.allowed = allowed->items;
    webhooks->options.allowed_count = allowed->count;
    webhooks->options.secret = service->options->webhook_secret;
    webhooks->options.secret_size = strlen(service->options->webhook_secret);
    pthread_mutex_init(&webhooks->lock, NULL);
    pthread_cond_init(&webhooks->ends, NULL);
    enum doppel_status status = open_webhooks(webhooks, service, error);
    if (status)
        webhooks_close(webhooks);
    else
        *out = webhooks;
    return status;
}

void webhooks_stop(struct webhooks *webhooks)
{
    if (!webhooks || !webhooks->started)
        return;
    pthread_mutex_lock(&webhooks->lock);
    webhooks->ending = true;
    pthread_cond_signal(&webhooks->ends);
    pthread_mutex_unlock(&webhooks->lock);
    doppel_run_cancel(webhooks->run);
    pthread_join(webhooks->calls, NULL);
    webhooks->started = false;
}

void webhooks_close(struct webhooks *webhooks)
{
    if (!webhooks)
        return;
    webhooks_stop(webhooks);
    if (webhooks->library)
        doppel_library_close(webhooks->library);
    doppel_run_free(webhooks->run);
    pthread_cond_destroy(&webhooks->ends);
    pthread_mutex_destroy(&webhooks->lock);
    free(webhooks);
}
