/* Jobs: accepted, cancelled, shown. */
#include "serve/jobs/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "serve/jobs/job_inputs.h"
#include "serve/jobs/runner.h"
#include "serve/jobs/uploads.h"
#include "serve/jobs/webhooks.h"
#include "serve/service.h"

struct jobs {
    struct uploads *uploads;
    struct runner *runner;
    struct webhooks *webhooks; /* NULL: nobody may be called */
    uint64_t most_bytes;

    pthread_mutex_t lock; /* of what follows */
    struct doppel_library *library;
    uint64_t
        bytes; /* of jobs that have not ended, or more: it is counted again when that matters */
};

/* ---- accepting ---- */

struct accepted {
    char **inputs; /* as rows have them; given */
    size_t count;
    uint64_t bytes;
    bool has_files;
};

static void accepted_free(struct accepted *accepted)
{
    for (size_t i = 0; accepted->inputs && i < accepted->count; i++)
        free(accepted->inputs[i]);
    free(accepted->inputs);
}

static enum doppel_status write_inputs(const struct inputs *inputs, struct accepted *out,
                                       struct doppel_error *error)
{
    out->count = inputs->all.count;
    out->inputs = calloc(out->count, sizeof *out->inputs);
    if (!out->inputs)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the request");
    for (size_t i = 0; i < out->count; i++) {
        const struct request_input *input = &inputs->all.items[i];
        if (!(out->inputs[i] = job_input_to_json(input)))
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "input %zu is not UTF-8: send it as a file", i);
        out->has_files |= input->form == INPUT_FILE;
        out->bytes += strlen(out->inputs[i]) + (input->form == INPUT_FILE ? input->file->size : 0);
    }
    return DOPPEL_OK;
}

static enum doppel_status check_waiting_bytes(struct jobs *jobs, uint64_t bytes,
                                              struct doppel_error *error)
{
    struct doppel_job_counts counts;
    if (jobs->bytes + bytes <= jobs->most_bytes)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_count_jobs(jobs->library, &counts, error);
    if (status)
        return status;
    jobs->bytes = counts.bytes;
    return jobs->bytes + bytes <= jobs->most_bytes
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_NO_SPACE,
                             "%llu bytes wait for jobs, and %llu may: try again later",
                             (unsigned long long)jobs->bytes, (unsigned long long)jobs->most_bytes);
}

/* Within the lock. */
static enum doppel_status add_job(struct jobs *jobs, const struct doppel_job *job,
                                  const struct accepted *accepted, uint64_t draft, uint64_t *out_id,
                                  struct doppel_error *error)
{
    uint64_t id = 0;
    enum doppel_status status;
    TRY(check_waiting_bytes(jobs, accepted->bytes, error));
    TRY(doppel_library_add_job(jobs->library, job, (const char *const *)accepted->inputs,
                               accepted->count, &id, error));
    if (accepted->has_files)
        TRY(uploads_name(jobs->uploads, draft, id, error));
    TRY(doppel_library_commit(jobs->library, error));
    jobs->bytes += accepted->bytes;
    *out_id = id;
done:
    if (status)
        doppel_library_rollback(jobs->library);
    if (status && id)
        uploads_remove(jobs->uploads, id);
    return status;
}

enum doppel_status jobs_accept(struct jobs *jobs, const struct job_request *request,
                               uint64_t *out_id, struct doppel_error *error)
{
    const struct inputs *inputs = request->inputs;
    struct accepted accepted = {0};
    uint64_t draft = 0;
    enum doppel_status status = DOPPEL_OK;
    if (request->webhook)
        TRY(webhooks_check(jobs->webhooks, request->webhook, error));
    TRY(write_inputs(inputs, &accepted, error));
    if (accepted.has_files)
        TRY(uploads_save(jobs->uploads, inputs, &draft, error));
    const struct doppel_job job = {.client = (char *)request->client,
                                   .webhook = (char *)request->webhook,
                                   .bytes = accepted.bytes};
    pthread_mutex_lock(&jobs->lock);
    status = add_job(jobs, &job, &accepted, draft, out_id, error);
    pthread_mutex_unlock(&jobs->lock);
    if (status && accepted.has_files)
        uploads_drop_draft(jobs->uploads, draft);
    if (!status)
        runner_stir(jobs->runner);
done:
    accepted_free(&accepted);
    return status;
}

/* ---- cancelling ---- */

/* @param out_ended by this call */
static enum doppel_status end_cancelled(struct doppel_library *library, uint64_t id,
                                        bool *out_ended, struct doppel_error *error)
{
    struct doppel_job job = {0};
    enum doppel_status status =
        doppel_library_end_job(library, id, DOPPEL_JOB_CANCELLED, NULL, error);
    if (!status)
        status = doppel_library_commit(library, error);
    else
        doppel_library_rollback(library);
    *out_ended = !status;
    if (status == DOPPEL_E_NOT_FOUND)
        status = doppel_library_get_job(library, id, &job, error);
    doppel_job_free(&job);
    return status;
}

enum doppel_status jobs_cancel(struct jobs *jobs, uint64_t id, struct doppel_error *error)
{
    bool ended;
    pthread_mutex_lock(&jobs->lock);
    enum doppel_status status = end_cancelled(jobs->library, id, &ended, error);
    pthread_mutex_unlock(&jobs->lock);
    if (!ended)
        return status;
    runner_drop_job(jobs->runner, id);
    uploads_remove(jobs->uploads, id);
    return DOPPEL_OK;
}

/* ---- showing ---- */

static void put_job_time(struct doppel_json *json, const char *key, int64_t time_ns)
{
    if (time_ns)
        doppel_json_number(json, key, (double)time_ns / 1e9, 3);
}

static void put_webhook(struct doppel_json *json, const struct doppel_job *job)
{
    doppel_json_object_begin(json, "webhook");
    doppel_json_text(json, "url", job->webhook);
    doppel_json_integer(json, "calls", job->calls);
    put_job_time(json, "next", job->next_call_ns);
    doppel_json_text(json, "problem", job->call_problem);
    doppel_json_object_end(json);
}

void put_job(struct doppel_json *json, const struct doppel_job *job)
{
    doppel_json_integer(json, "id", job->id);
    doppel_json_text(json, "state", doppel_job_state_name(job->state));
    doppel_json_text(json, "client", job->client);
    put_job_time(json, "added", job->added_ns);
    put_job_time(json, "begun", job->begun_ns);
    put_job_time(json, "ended", job->ended_ns);
    doppel_json_integer(json, "inputs", job->inputs);
    doppel_json_integer(json, "decided", job->decided);
    doppel_json_integer(json, "unreadable", job->unreadable);
    doppel_json_text(json, "problem", job->problem);
    if (job->webhook)
        put_webhook(json, job);
}

/* ---- life ---- */

const char *jobs_folder(const struct jobs *jobs)
{
    return uploads_folder(jobs->uploads);
}

static enum doppel_status open_jobs(struct jobs *jobs, const struct service *service,
                                    struct doppel_error *error)
{
    const struct serve_options *options = service->options;
    const struct doppel_library_options opening = {.durable = options->durable};
    struct doppel_job_counts counts;
    enum doppel_status status;
    TRY(doppel_library_open(options->library, &opening, &jobs->library, error));
    TRY(doppel_library_count_jobs(jobs->library, &counts, error));
    jobs->bytes = counts.bytes;
    TRY(uploads_open(options->library, options->durable, jobs->library, &jobs->uploads, error));
    TRY(runner_start(service, jobs->uploads, &jobs->runner, error));
    TRY(webhooks_open(service, jobs->uploads, &jobs->webhooks, error));
done:
    return status;
}

enum doppel_status jobs_open(struct service *service, struct jobs **out, struct doppel_error *error)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for jobs");
    pthread_mutex_init(&jobs->lock, NULL);
    jobs->most_bytes = service_most_kept(service);
    enum doppel_status status = open_jobs(jobs, service, error);
    if (status)
        jobs_close(jobs);
    else
        *out = jobs;
    return status;
}

void jobs_stop(struct jobs *jobs)
{
    runner_stop(jobs->runner);
    webhooks_stop(jobs->webhooks);
}

void jobs_close(struct jobs *jobs)
{
    if (!jobs)
        return;
    webhooks_close(jobs->webhooks);
    runner_free(jobs->runner);
    uploads_close(jobs->uploads);
    if (jobs->library)
        doppel_library_close(jobs->library);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}
