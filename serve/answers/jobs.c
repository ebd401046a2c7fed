/* /v1/jobs: inputs that are accepted at once, and ingested afterwards. */
#include "serve/answers/page.h"
#include "serve/jobs/events.h"
#include "serve/jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

/* ---- accepting ---- */

/* What is no input is said now: nobody may look at the answer for long. */
static bool refuse_wrong_input(struct exchange *exchange, const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->all.count; i++) {
        const struct doppel_error *error = &inputs->all.items[i].error;
        if (!error->status)
            continue;
        exchange_problem(exchange, http_status_of(error), "input %zu: %s", i, error->message);
        return true;
    }
    return false;
}

static enum doppel_status put_accepted(struct exchange *exchange, struct library_reader *reader,
                                       uint64_t id, struct doppel_error *error)
{
    struct doppel_job job;
    enum doppel_status status = doppel_library_get_job(reader->library, id, &job, error);
    if (status)
        return status;
    snprintf(exchange->location, sizeof exchange->location, "/v1/jobs/%llu",
             (unsigned long long)id);
    doppel_json_object_begin(&exchange->json, NULL);
    put_job(&exchange->json, &job);
    doppel_json_object_end(&exchange->json);
    doppel_job_free(&job);
    exchange->status = HTTP_ACCEPTED;
    return DOPPEL_OK;
}

static enum doppel_status accept_job(struct exchange *exchange, const struct inputs *inputs,
                                     struct doppel_error *error)
{
    struct service *service = exchange->service;
    struct library_reader *reader;
    uint64_t id;
    enum doppel_status status;
    const struct job_request request = {.inputs = inputs,
                                        .client = exchange->client.name,
                                        .webhook = exchange_argument(exchange, "webhook")};
    TRY(jobs_accept(service->jobs, &request, &id, error));
    TRY(reader_take(service, &reader, error));
    status = put_accepted(exchange, reader, id, error);
    reader_give(reader);
done:
    return status;
}

enum handled answer_add_job(struct exchange *exchange)
{
    struct inputs inputs = {0};
    struct doppel_error error;
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (inputs_read(exchange, &inputs) && !refuse_wrong_input(exchange, &inputs) &&
        accept_job(exchange, &inputs, &error)) {
        if (error.status == DOPPEL_E_UNSUPPORTED)
            exchange_problem(exchange, HTTP_FORBIDDEN, "%s", error.message);
        else
            exchange_fail(exchange, &error);
    }
    inputs_free(&inputs);
    return ANSWERED;
}

/* ---- looking ---- */

static bool put_job_on_page(void *context, const struct doppel_job *job)
{
    struct library_page *page = context;
    if (!page_takes(page, job->id))
        return false;
    doppel_json_object_begin(&page->exchange->json, NULL);
    put_job(&page->exchange->json, job);
    doppel_json_object_end(&page->exchange->json);
    return true;
}

static enum doppel_status put_jobs(struct exchange *exchange, struct library_reader *reader,
                                   struct doppel_error *error)
{
    struct library_page page;
    if (!page_begin(&page, exchange, reader, "jobs"))
        return DOPPEL_OK;
    return page_end(
        &page, doppel_library_each_job(reader->library, page.first, put_job_on_page, &page, error),
        error);
}

enum handled answer_jobs(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_jobs);
}

/* The id in the path; 0: it is none, and the reply says so. */
static uint64_t named_job(struct exchange *exchange)
{
    char *end;
    const char *name = exchange->rest;
    unsigned long long id = strtoull(name, &end, 10);
    const char *behind = name + strspn(name, "0123456789");
    if ((*behind && strcmp(behind, "/events") != 0) || end != behind || !id || id > INT64_MAX) {
        exchange_problem(exchange, HTTP_NOT_FOUND, "a job has a number, not '%.40s'", name);
        return 0;
    }
    return id;
}

static bool put_result_on_page(void *context, const struct doppel_job_input *input)
{
    struct library_page *page = context;
    if (!input->decision || !page_takes(page, input->number))
        return false;
    doppel_json_raw(&page->exchange->json, NULL, input->decision, strlen(input->decision));
    return true;
}

static enum doppel_status put_one_job(struct exchange *exchange, struct library_reader *reader,
                                      struct doppel_error *error)
{
    const uint64_t id = named_job(exchange);
    struct doppel_job job = {0};
    struct library_page page;
    enum doppel_status status = DOPPEL_OK;
    if (!id || !page_begin(&page, exchange, reader, NULL))
        return DOPPEL_OK;
    TRY(doppel_library_get_job(reader->library, id, &job, error));
    put_job(&exchange->json, &job);
    doppel_json_array_begin(&exchange->json, "results");
    TRY(page_end(&page,
                 doppel_library_each_job_input(reader->library, id, page.first, put_result_on_page,
                                               &page, error),
                 error));
done:
    doppel_job_free(&job);
    return status;
}

enum handled answer_job(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_one_job);
}

/* ---- looking on ---- */

static enum doppel_status stream_job(struct exchange *exchange, struct library_reader *reader,
                                     struct doppel_error *error)
{
    const uint64_t id = named_job(exchange);
    struct doppel_job job = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!id)
        return DOPPEL_OK;
    TRY(doppel_library_get_job(reader->library, id, &job, error));
    if (!job_events_stream(exchange->service->job_events, exchange, id))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for events"));
    exchange->status = HTTP_OK;
    exchange->type = "text/event-stream";
done:
    doppel_job_free(&job);
    return status;
}

enum handled answer_job_events(struct exchange *exchange)
{
    return answer_by_reader(exchange, stream_job);
}

/* ---- cancelling ---- */

enum handled answer_cancel_job(struct exchange *exchange)
{
    struct doppel_error error;
    if (!exchange->at_desk)
        return TAKES_TIME;
    const uint64_t id = named_job(exchange);
    if (!id)
        return ANSWERED;
    if (jobs_cancel(exchange->service->jobs, id, &error))
        exchange_fail(exchange, &error);
    else
        exchange->status = HTTP_NO_CONTENT;
    return ANSWERED;
}
