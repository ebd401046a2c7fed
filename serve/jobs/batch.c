/* Deciding about inputs of jobs. */
#include "serve/jobs/batch.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "serve/deciding.h"
#include "serve/service.h"

static struct request_input *input_at(const struct job_batch *batch, size_t i)
{
    return &batch->claims[i]->inputs.all.items[0];
}

typedef enum doppel_status put_to_job(struct doppel_library *library, uint64_t id, uint64_t number,
                                      const char *decision, bool unreadable,
                                      struct doppel_error *error);

/* @param decided NULL: it could not be read */
static enum doppel_status put_input(struct job_batch *batch, size_t i,
                                    const struct doppel_decided *decided, put_to_job *put,
                                    struct doppel_error *error)
{
    const struct claimed_input *claimed = batch->claims[i];
    const bool unreadable = !decided || decided->decision == DOPPEL_DECISION_UNREADABLE;
    struct doppel_json json = {0};
    enum doppel_status status;
    put_decision(&json, input_at(batch, i), decided);
    TRY(doppel_json_status(&json, error));
    TRY(put(batch->library, claimed->job, claimed->number, json.bytes, unreadable, error));
done:
    doppel_json_free(&json);
    return status;
}

static enum doppel_status keep_next_input(struct job_batch *batch,
                                          const struct doppel_decided *decided,
                                          struct doppel_error *error)
{
    enum doppel_status status =
        put_input(batch, batch->kept, decided, doppel_library_put_job_decision, error);
    batch->kept += !status;
    return status;
}

/* Those that the decider was not given, up to the next that it was. */
static enum doppel_status keep_unreadable(struct job_batch *batch, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (!status && batch->kept < batch->count && input_at(batch, batch->kept)->error.status)
        status = keep_next_input(batch, NULL, error);
    return status;
}

static enum doppel_status keep_job_decision(void *context, const struct doppel_decided *decided,
                                            struct doppel_error *error)
{
    struct job_batch *batch = context;
    enum doppel_status status = keep_unreadable(batch, error);
    return status ? status : keep_next_input(batch, decided, error);
}

static enum doppel_status want_job_decider(struct job_batch *batch, struct doppel_error *error)
{
    struct doppel_decide_options options = decide_options_of(batch->service, false);
    options.on_keep = keep_job_decision;
    options.on_keep_context = batch;
    return batch->decider ? DOPPEL_OK
                          : doppel_decider_new(batch->service->run, batch->library, &options,
                                               &batch->decider, error);
}

/* The log says whose job it was. */
static enum doppel_status push_batch(struct job_batch *batch, struct doppel_error *error)
{
    struct doppel_job job = {0};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < batch->count; i++) {
        if (!i || job.id != batch->claims[i]->job) {
            doppel_job_free(&job);
            if (doppel_library_get_job(batch->library, batch->claims[i]->job, &job, NULL))
                job.id = batch->claims[i]->job; /* nobody knows any more */
        }
        input_at(batch, i)->client = job.client;
        TRY(push_request_input(batch->decider, input_at(batch, i), &batch->claims[i]->record,
                               error));
        input_at(batch, i)->client = NULL;
    }
done:
    doppel_job_free(&job);
    return status;
}

static bool has_upstream(const struct job_batch *batch)
{
    return batch->service->options->decide.upstream.service.url;
}

/* What was kept as new may be another's: an upstream is asked about what is kept. */
static enum doppel_status pull_batch(struct job_batch *batch, struct doppel_error *error)
{
    struct doppel_decided decided;
    enum doppel_status status;
    for (size_t i = 0; !(status = doppel_decider_pull(batch->decider, &decided, error)); i++) {
        while (input_at(batch, i)->error.status)
            i++;
        if (has_upstream(batch))
            TRY(put_input(batch, i, &decided, doppel_library_correct_job_decision, error));
    }
done:
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status complete_jobs(struct job_batch *batch, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < batch->count && !status; i++)
        if (i + 1 == batch->count || batch->claims[i + 1]->job != batch->claims[i]->job)
            status = doppel_library_complete_job(batch->library, batch->claims[i]->job, error);
    return status;
}

enum doppel_status batch_decide(struct job_batch *batch, struct doppel_error *error)
{
    enum doppel_status status;
    batch->kept = 0;
    TRY(want_job_decider(batch, error));
    TRY(push_batch(batch, error));
    TRY(pull_batch(batch, error));
    TRY(keep_unreadable(batch, error));
    TRY(complete_jobs(batch, error));
    TRY(doppel_library_commit(batch->library, error));
done:
    return status;
}

/* ---- what was decided before ---- */

enum doppel_status batch_settle(struct job_batch *batch, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!has_upstream(batch))
        return DOPPEL_OK;
    TRY(want_job_decider(batch, error));
    TRY(doppel_decider_settle(batch->decider, error));
done:
    return status;
}

/* The last answers of a job, which are changed once nobody visits them. */
struct last_answers {
    char *answers[MOST_CLAIMS_A_JOB];
    uint64_t first, count;
    bool lacks_memory;
};

static bool take_last_answer(void *context, const struct doppel_job_input *input)
{
    struct last_answers *last = context;
    const uint64_t i = input->number - last->first;
    if (i >= last->count || !input->decision)
        return false;
    last->answers[i] = strdup(input->decision);
    last->lacks_memory |= !last->answers[i];
    return !last->lacks_memory;
}

/* Those before the last batch had their answers when it began. */
enum doppel_status batch_bring_up(struct job_batch *batch, uint64_t job, uint64_t decided,
                                  struct doppel_error *error)
{
    struct last_answers last = {.count = decided < MOST_CLAIMS_A_JOB ? decided : MOST_CLAIMS_A_JOB};
    enum doppel_status status = DOPPEL_OK;
    if (!has_upstream(batch) || !last.count)
        return DOPPEL_OK;
    last.first = decided - last.count;
    status = doppel_library_each_job_input(batch->library, job, last.first, take_last_answer, &last,
                                           error);
    if (last.lacks_memory)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the answers"));
    /* What is damaged stays as it is. */
    TRY(status == DOPPEL_E_CANCELLED || status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status);
    for (size_t i = 0; i < last.count; i++) {
        bool changed = false, unreadable = false;
        if (last.answers[i])
            TRY(bring_up_answer(&last.answers[i], batch->decider, &changed, &unreadable, error));
        if (changed)
            TRY(doppel_library_correct_job_decision(batch->library, job, last.first + i,
                                                    last.answers[i], unreadable, error));
    }
done:
    for (size_t i = 0; i < last.count; i++)
        free(last.answers[i]);
    return status;
}

void batch_give_up(struct job_batch *batch)
{
    doppel_decider_free(batch->decider);
    batch->decider = NULL;
    doppel_library_rollback(batch->library);
}
