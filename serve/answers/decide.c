/* POST /v1/check and /v1/ingest: what inputs are to the library. */
#include "serve/answers/answers.h"

#include "core/try.h"
#include "serve/deciding.h"
#include "serve/request_key.h"
#include "serve/writer.h"

enum handled answer_ingest(struct exchange *exchange)
{
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (!request_key_take(exchange))
        return ANSWERED;
    if (!exchange->request_key && are_records(exchange)) {
        answer_records(exchange, false);
        return ANSWERED;
    }
    struct decision_task *task = decision_task_new(exchange);
    if (!task)
        return ANSWERED;
    writer_give(exchange->service->writer, task);
    return HANDED_ON;
}

static enum doppel_status check_task(struct decision_task *task, struct library_reader *reader,
                                     struct doppel_error *error)
{
    const struct service *service = task->exchange->service;
    const struct doppel_decide_options options = decide_options_of(service, true);
    enum doppel_status status = DOPPEL_OK;
    if (!reader->checker)
        status =
            doppel_decider_new(service->run, reader->library, &options, &reader->checker, error);
    if (!status)
        status = decide_tasks(reader->checker, task, error);
    if (status) {
        doppel_decider_free(reader->checker);
        reader->checker = NULL;
    }
    return status;
}

enum handled answer_check(struct exchange *exchange)
{
    struct doppel_error error;
    struct library_reader *reader;
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (are_records(exchange)) {
        answer_records(exchange, true);
        return ANSWERED;
    }
    struct decision_task *task = decision_task_new(exchange);
    if (!task)
        return ANSWERED;
    enum doppel_status status = reader_take(exchange->service, &reader, &error);
    if (!status) {
        status = check_task(task, reader, &error);
        reader_give(exchange->service, reader);
    }
    if (status)
        exchange_fail(exchange, &error);
    decision_task_free(task);
    return ANSWERED;
}
