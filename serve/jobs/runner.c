/* Work on jobs: inputs are read by as many threads as the service works by, with workers of their
 * own, so that requests do not wait for them. */
#include "serve/jobs/runner.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "core/clock.h"
#include "core/try.h"
#include "serve/input_record.h"
#include "serve/jobs/batch.h"
#include "serve/jobs/job_inputs.h"
#include "serve/service.h"

/* Ended jobs stay a week, and a million of them that long. */
enum { CLAIMED_AT_A_TIME = 16, WHILE_SECONDS = 1, FORGET_EVERY_SECONDS = 60, FORGET_MOST = 1000 };
#define FORGET_AFTER_NS (7 * 24 * 3600 * INT64_C(1000000000))
#define FORGET_ALL_BUT 1000000

struct runner {
    struct service service; /* what reads and decides here: options, readers, a run of its own */
    struct doppel_run *notified; /* of what keeps jobs from going on */
    struct uploads *uploads;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t unread, stirred;
    struct claims claims;
    bool is_stirred, ending;

    /* of the thread that decides */
    struct doppel_library *library;
    struct job_batch batch;
    uint64_t newest; /* the last job that was taken up */
    int64_t forgot_ns;
    enum doppel_status hindrance; /* what they wait for to pass, as was told; OK: nothing */

    pthread_t decides, *read;
    size_t reading; /* threads */
    bool started;
};

/* ---- reading ---- */

static void read_claimed(struct runner *runner, struct claimed_input *claimed)
{
    struct request_input *input = &claimed->inputs.all.items[0];
    struct doppel_error *error = &input->error;
    if (input->form == INPUT_FILE && !error->status) {
        error->status =
            uploads_read(runner->uploads, claimed->job, claimed->number, &claimed->upload, error);
        input->file = &claimed->upload;
    }
    if (!error->status)
        error->status = input_to_decide(&runner->service, input, &claimed->record, error);
    large_buffer_free(&claimed->upload);
}

/* Of a path, what was read is in the cache by now, where the decider finds it. */
static void *read_on(void *context)
{
    struct runner *runner = context;
    struct claimed_input *claimed;
    pthread_mutex_lock(&runner->lock);
    while (!runner->ending) {
        if (!(claimed = claims_first_unread(&runner->claims))) {
            pthread_cond_wait(&runner->unread, &runner->lock);
            continue;
        }
        claimed->state = CLAIM_READING;
        pthread_mutex_unlock(&runner->lock);
        read_claimed(runner, claimed);
        pthread_mutex_lock(&runner->lock);
        /* What was given up at the end is read at the next start. */
        claimed->state = runner->ending ? CLAIM_UNREAD : CLAIM_READ;
        if (claimed->dropped)
            claims_remove(&runner->claims, claimed);
        runner->is_stirred = true;
        pthread_cond_signal(&runner->stirred);
    }
    pthread_mutex_unlock(&runner->lock);
    return NULL;
}

/* ---- claiming ---- */

static void fail_job(struct runner *runner, uint64_t id, const char *problem)
{
    if (doppel_library_end_job(runner->library, id, DOPPEL_JOB_FAILED, problem, NULL))
        doppel_library_rollback(runner->library);
    else if (!doppel_library_commit(runner->library, NULL))
        uploads_remove(runner->uploads, id);
}

/* It has ended: what is left of it goes. */
static void end_job(struct runner *runner, uint64_t id)
{
    pthread_mutex_lock(&runner->lock);
    claims_drop_job(&runner->claims, id);
    pthread_mutex_unlock(&runner->lock);
    uploads_remove(runner->uploads, id);
}

static bool take_up_job(void *context, const struct doppel_job *job)
{
    struct runner *runner = context;
    struct claims *claims = &runner->claims;
    runner->newest = job->id;
    claims->jobs[claims->job_count++] =
        (struct active_job){.id = job->id, .next = job->decided, .inputs = job->inputs};
    return claims->job_count < MOST_ACTIVE_JOBS;
}

/* Within the lock. */
static enum doppel_status take_up_jobs(struct runner *runner, struct doppel_error *error)
{
    if (runner->claims.job_count == MOST_ACTIVE_JOBS)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_each_open_job(runner->library, runner->newest + 1,
                                                             take_up_job, runner, error);
    return status == DOPPEL_E_CANCELLED ? DOPPEL_OK : status;
}

struct claim_visit {
    struct runner *runner;
    struct active_job *job;
    size_t left;
    struct doppel_error error; /* status != OK: of the claim itself */
};

static struct request_input *parse_input(const struct runner *runner, struct claimed_input *claimed,
                                         const char *text)
{
    struct doppel_error error;
    struct inputs *inputs = &claimed->inputs;
    enum doppel_status status =
        job_input_from_json(&runner->service, text ? text : "", inputs, &error);
    struct request_input *input =
        inputs->all.count ? &inputs->all.items[0] : inputs_add(inputs, INPUT_TEXT);
    if (input && status) {
        input->error = error;
        input->error.status = status;
    }
    return input;
}

static bool claim_input(void *context, const struct doppel_job_input *given)
{
    struct claim_visit *visit = context;
    struct runner *runner = visit->runner;
    struct claimed_input *claimed = claims_claim(&runner->claims, visit->job, given->number);
    struct request_input *input = claimed ? parse_input(runner, claimed, given->input) : NULL;
    if (claimed && !input)
        claims_remove(&runner->claims, claimed);
    if (!input) {
        visit->error.status = doppel_fail(&visit->error, DOPPEL_E_MEMORY, "no memory for an input");
        return false;
    }
    bool is_file = input->form == INPUT_FILE || input->form == INPUT_PATH;
    claimed->state = is_file && !input->error.status ? CLAIM_UNREAD : CLAIM_READ;
    if ((input->form == INPUT_CODE || input->form == INPUT_RECORD) && !input->error.status)
        (void)input_record(&runner->service, input, &claimed->record, &input->error);
    return --visit->left && visit->job->claims < MOST_CLAIMS_A_JOB &&
           runner->claims.count < MOST_CLAIMS;
}

/* Some inputs of a job. */
static enum doppel_status claim_some(struct runner *runner, struct active_job *job,
                                     struct doppel_error *error)
{
    struct claim_visit visit = {.runner = runner, .job = job, .left = CLAIMED_AT_A_TIME};
    const uint64_t id = job->id, next = job->next;
    enum doppel_status status =
        doppel_library_each_job_input(runner->library, id, next, claim_input, &visit, error);
    if (visit.error.status)
        return doppel_fail(error, visit.error.status, "%s", visit.error.message);
    if (status && status != DOPPEL_E_CANCELLED && status != DOPPEL_E_CORRUPT)
        return status;
    if (status == DOPPEL_E_CORRUPT || job->next == next) { /* or another process cancelled it */
        fail_job(runner, id, status ? error->message : "its inputs are not there");
        claims_drop_job(&runner->claims, id);
    }
    return DOPPEL_OK;
}

/* Within the lock. */
static enum doppel_status claim_inputs(struct runner *runner, struct doppel_error *error)
{
    enum doppel_status status = take_up_jobs(runner, error);
    struct active_job *job;
    while (!status && (job = claims_next_job(&runner->claims)))
        status = claim_some(runner, job, error);
    pthread_cond_broadcast(&runner->unread);
    return status;
}

/* They are running from now on; or done, where nothing but that was left to do. */
static enum doppel_status begin_jobs(struct runner *runner, uint64_t before,
                                     struct doppel_error *error)
{
    struct active_job jobs[MOST_ACTIVE_JOBS];
    size_t count = 0;
    enum doppel_status status = DOPPEL_OK;
    pthread_mutex_lock(&runner->lock);
    for (size_t i = 0; i < runner->claims.job_count; i++)
        if (runner->claims.jobs[i].id > before)
            jobs[count++] = runner->claims.jobs[i];
    pthread_mutex_unlock(&runner->lock);
    TRY(batch_settle(&runner->batch, error));
    for (size_t i = 0; i < count; i++) {
        TRY(batch_bring_up(&runner->batch, jobs[i].id, jobs[i].next - jobs[i].claims, error));
        TRY(doppel_library_begin_job(runner->library, jobs[i].id, error));
        TRY(doppel_library_complete_job(runner->library, jobs[i].id, error));
    }
    TRY(doppel_library_commit(runner->library, error));
    for (size_t i = 0; i < count; i++)
        if (jobs[i].next == jobs[i].inputs && !jobs[i].claims)
            end_job(runner, jobs[i].id);
done:
    return status;
}

/* ---- when it is decided ---- */

static void drop_batch(struct runner *runner)
{
    struct job_batch *batch = &runner->batch;
    pthread_mutex_lock(&runner->lock);
    for (size_t i = 0; i < batch->count; i++)
        claims_remove(&runner->claims, batch->claims[i]);
    pthread_mutex_unlock(&runner->lock);
    batch->count = 0;
}

static bool has_ended(struct runner *runner, uint64_t id)
{
    struct doppel_job job = {0};
    bool found = !doppel_library_get_job(runner->library, id, &job, NULL);
    doppel_job_free(&job);
    return found && job.ended_ns;
}

static void end_job_batch(struct runner *runner)
{
    const struct job_batch *batch = &runner->batch;
    for (size_t i = 0; i < batch->count; i++) {
        const struct claimed_input *claimed = batch->claims[i];
        const bool is_last = i + 1 == batch->count || batch->claims[i + 1]->job != claimed->job;
        if (claimed->inputs.all.items[0].form == INPUT_FILE)
            uploads_remove_one(runner->uploads, claimed->job, claimed->number);
        if (is_last && has_ended(runner, claimed->job))
            uploads_remove(runner->uploads, claimed->job);
    }
    drop_batch(runner);
}

/* ---- what goes wrong ---- */

/* Whether another try may go otherwise. */
static bool may_pass(enum doppel_status status)
{
    return status == DOPPEL_E_BUSY || status == DOPPEL_E_IO || status == DOPPEL_E_NO_SPACE ||
           status == DOPPEL_E_MEMORY || status == DOPPEL_E_CANCELLED || status == DOPPEL_E_KILLED;
}

/* Once a change: it is tried again each second. */
static void tell_hindrance(struct runner *runner, enum doppel_status status, const char *why)
{
    if (status == runner->hindrance)
        return;
    runner->hindrance = status;
    if (status)
        doppel_run_notice(runner->notified, "jobs cannot go on, and are tried again: %s", why);
    else
        doppel_run_notice(runner->notified, "jobs go on");
}

/* All is claimed again, from what is kept on. */
static void begin_again(struct runner *runner, enum doppel_status status,
                        const struct doppel_error *error)
{
    batch_give_up(&runner->batch);
    if (status != DOPPEL_E_CANCELLED)
        tell_hindrance(runner, status, error->message);
    pthread_mutex_lock(&runner->lock);
    for (size_t i = 0; !may_pass(status) && i < runner->claims.job_count; i++)
        fail_job(runner, runner->claims.jobs[i].id, error->message);
    pthread_mutex_unlock(&runner->lock);
    drop_batch(runner);
    pthread_mutex_lock(&runner->lock);
    claims_drop_all(&runner->claims);
    runner->newest = 0;
    pthread_mutex_unlock(&runner->lock);
}

/* ---- the thread that decides ---- */

static enum doppel_status forget_old_jobs(struct runner *runner, struct doppel_error *error)
{
    struct timespec now;
    uint64_t forgotten;
    if (runner->forgot_ns &&
        monotonic_ns() - runner->forgot_ns < FORGET_EVERY_SECONDS * INT64_C(1000000000))
        return DOPPEL_OK;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct doppel_job_age age = {.ended_before_ns =
                                           now.tv_sec * INT64_C(1000000000) - FORGET_AFTER_NS,
                                       .newest = FORGET_ALL_BUT,
                                       .most = FORGET_MOST};
    enum doppel_status status =
        doppel_library_forget_jobs(runner->library, &age, &forgotten, error);
    if (!status)
        status = doppel_library_commit(runner->library, error);
    if (!status && forgotten < FORGET_MOST)
        runner->forgot_ns = monotonic_ns();
    return status;
}

/* Within the lock: a while; @param stirs or until there is something to do. Another process may
 * have accepted a job meanwhile, and nobody stirs. */
static void wait_for_work(struct runner *runner, bool stirs)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WHILE_SECONDS;
    while (!(stirs && runner->is_stirred) && !runner->ending &&
           !pthread_cond_timedwait(&runner->stirred, &runner->lock, &until))
        ;
    runner->is_stirred = false;
}

static enum doppel_status work_on_jobs(struct runner *runner, struct doppel_error *error)
{
    struct job_batch *batch = &runner->batch;
    const uint64_t newest = runner->newest;
    enum doppel_status status;
    pthread_mutex_lock(&runner->lock);
    status = claim_inputs(runner, error);
    if (!status && runner->newest == newest)
        batch->count = claims_take_ready(&runner->claims, batch->claims);
    if (!status && runner->newest == newest && !batch->count)
        wait_for_work(runner, true);
    pthread_mutex_unlock(&runner->lock);
    if (status)
        return status;
    if (runner->newest != newest)
        return begin_jobs(runner, newest, error);
    if (!batch->count)
        return forget_old_jobs(runner, error);
    status = batch_decide(batch, error);
    if (status)
        return status;
    end_job_batch(runner);
    tell_hindrance(runner, DOPPEL_OK, NULL);
    return DOPPEL_OK;
}

static void *decide_on(void *context)
{
    struct runner *runner = context;
    struct doppel_error error;
    bool ending = false;
    while (!ending) {
        enum doppel_status status = DOPPEL_OK;
        bool alone = uploads_lock(runner->uploads);
        if (alone && (status = work_on_jobs(runner, &error)))
            begin_again(runner, status, &error);
        pthread_mutex_lock(&runner->lock);
        if (!alone || status)
            wait_for_work(runner, false);
        ending = runner->ending;
        pthread_mutex_unlock(&runner->lock);
    }
    return NULL;
}

/* ---- from outside ---- */

void runner_stir(struct runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    runner->is_stirred = true;
    pthread_cond_signal(&runner->stirred);
    pthread_mutex_unlock(&runner->lock);
}

void runner_drop_job(struct runner *runner, uint64_t id)
{
    pthread_mutex_lock(&runner->lock);
    claims_drop_job(&runner->claims, id);
    pthread_mutex_unlock(&runner->lock);
}

static enum doppel_status open_runner(struct runner *runner, const struct service *service,
                                      struct doppel_error *error)
{
    const struct doppel_library_options options = {.durable = service->options->durable};
    struct doppel_run_options run = *doppel_run_get_options(service->run);
    const size_t threads = doppel_run_jobs(service->run);
    enum doppel_status status;
    run.cancelled = NULL; /* by runner_stop alone */
    run.on_notice = NULL; /* those of another run are told at the same time */
    run.on_failed = NULL;
    run.on_progress = NULL;
    TRY(doppel_run_new(&run, &runner->service.run, error));
    TRY(doppel_library_open(service->options->library, &options, &runner->library, error));
    runner->batch.service = &runner->service;
    runner->batch.library = runner->library;
    runner->read = calloc(threads, sizeof *runner->read);
    if (!runner->read)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for threads"));
    while (runner->reading < threads &&
           !pthread_create(&runner->read[runner->reading], NULL, read_on, runner))
        runner->reading++;
    if (!runner->reading || pthread_create(&runner->decides, NULL, decide_on, runner))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no thread can be started"));
    runner->started = true;
done:
    return status;
}

enum doppel_status runner_start(const struct service *service, struct uploads *uploads,
                                struct runner **out, struct doppel_error *error)
{
    struct runner *runner = calloc(1, sizeof *runner);
    if (!runner)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for jobs");
    runner->service.options = service->options;
    runner->service.readers = service->readers;
    runner->notified = service->run;
    runner->uploads = uploads;
    pthread_mutex_init(&runner->lock, NULL);
    pthread_cond_init(&runner->unread, NULL);
    pthread_cond_init(&runner->stirred, NULL);
    enum doppel_status status = open_runner(runner, service, error);
    if (status)
        runner_free(runner);
    else
        *out = runner;
    return status;
}

void runner_stop(struct runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    runner->ending = true;
    pthread_cond_broadcast(&runner->unread);
    pthread_cond_signal(&runner->stirred);
    pthread_mutex_unlock(&runner->lock);
    if (runner->service.run)
        doppel_run_cancel(runner->service.run);
    for (size_t i = 0; i < runner->reading; i++)
        pthread_join(runner->read[i], NULL);
    runner->reading = 0;
    if (runner->started)
        pthread_join(runner->decides, NULL);
    runner->started = false;
}

void runner_free(struct runner *runner)
{
    if (!runner)
        return;
    runner_stop(runner);
    claims_drop_all(&runner->claims);
    if (runner->library)
        batch_give_up(&runner->batch);
    if (runner->library)
        doppel_library_close(runner->library);
    doppel_run_free(runner->service.run);
    free(runner->read);
    pthread_cond_destroy(&runner->stirred);
    pthread_cond_destroy(&runner->unread);
    pthread_mutex_destroy(&runner->lock);
    free(runner);
}
