/* POST /v1/check and /v1/ingest: what inputs are to the library. */
#include "serve/answers/answers.h"

#include "core/try.h"
#include "serve/deciding.h"
#include "serve/request_key.h"
#include "serve/writer.h"

/* ---- at the desk ---- */

static enum doppel_status keep_answer_at_desk(void *context, const struct doppel_decided *decided,
                                              struct doppel_error *error)
{
    const struct library_reader *reader = context;
    return keep_answer_of_input(reader->deciding, reader->library, decided, error);
}

static enum doppel_status read_again_at_desk(void *context, const struct doppel_record *query,
                                             const char *name, const struct doppel_scheme *scheme,
                                             struct doppel_record *out, struct doppel_error *error)
{
    const struct library_reader *reader = context;
    return read_task_input_again(reader->deciding, query, name, scheme, out, error);
}

static enum doppel_status want_decider_of(const struct service *service,
                                          struct library_reader *reader, double rate, bool dry_run,
                                          struct doppel_error *error)
{
    struct doppel_decide_options options = decide_options_of(service, dry_run);
    options.on_keep = keep_answer_at_desk;
    options.on_keep_context = reader;
    options.search.fingerprint = read_again_at_desk;
    options.search.fingerprint_context = reader;
    if (rate > 0)
        options.search.compare.max_false_positives = rate;
    if (reader->decider && reader->decider_rate == rate)
        return DOPPEL_OK;
    doppel_decider_free(reader->decider);
    reader->decider = NULL;
    reader->decider_rate = rate;
    return doppel_decider_new(service->run, reader->library, &options, &reader->decider, error);
}

static enum doppel_status decide_at_desk(struct decision_task *task, struct library_reader *reader,
                                         const struct wanted_meaning *wanted, bool dry_run,
                                         struct doppel_error *error)
{
    enum doppel_status status;
    reader->deciding = task;
    TRY(want_decider_of(task->exchange->service, reader, wanted->max_fp_rate, dry_run, error));
    const struct deciding deciding = {reader->decider, reader->library,
                                      wanted->wanted ? &reader->meaning : NULL};
    if (!dry_run)
        TRY(request_key_begin(task, reader->decider, reader->library, error));
    TRY(decide_tasks(&deciding, task, error));
done:
    reader->deciding = NULL;
    if (status) {
        doppel_decider_free(reader->decider);
        reader->decider = NULL;
    }
    return status;
}

/* What is sought by its meaning may wait for a service that embeds: the writer does not. */
static void answer_task(struct decision_task *task, const struct wanted_meaning *wanted,
                        bool dry_run)
{
    struct exchange *exchange = task->exchange;
    struct service *service = exchange->service;
    struct library_reader *reader;
    struct doppel_error error;
    enum doppel_status status = dry_run ? reader_take(service, &reader, &error)
                                        : writing_reader_take(service, &reader, &error);
    if (status) {
        exchange_fail(exchange, &error);
        return;
    }
    if (wanted->wanted &&
        meaning_want(service, reader->library, wanted, !dry_run, &reader->meaning, &error))
        exchange_fail_meaning(exchange, &error);
    else if (decide_at_desk(task, reader, wanted, dry_run, &error))
        exchange_fail(exchange, &error);
    reader_give(reader);
}

/* ---- routes ---- */

/* @return false: the reply says what is wrong */
static bool may_be_records(struct exchange *exchange, const struct wanted_meaning *wanted)
{
    if (wanted->wanted || !(wanted->max_fp_rate > 0))
        return true;
    exchange_problem(exchange, HTTP_BAD_REQUEST,
                     "'max_fp_rate' is of images, audio and videos, or goes with 'semantic=1': "
                     "these are records of texts");
    return false;
}

/* The writer holds the indexes of recordings and videos: at a desk one would wait for it. */
static bool needs_writer(const struct decision_task *task)
{
    for (size_t i = 0; i < task->inputs.all.count; i++)
        if (task->records[i].kind == DOPPEL_KIND_AUDIO ||
            task->records[i].kind == DOPPEL_KIND_VIDEO)
            return true;
    return false;
}

enum handled answer_ingest(struct exchange *exchange)
{
    struct wanted_meaning wanted;
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (!read_wanted_meaning(exchange, &wanted) || !request_key_take(exchange))
        return ANSWERED;
    if (!exchange->request_key && are_records(exchange)) {
        if (may_be_records(exchange, &wanted))
            answer_records(exchange, &wanted, false);
        return ANSWERED;
    }
    struct decision_task *task = decision_task_new(exchange);
    if (!task)
        return ANSWERED;
    task->max_fp_rate = wanted.max_fp_rate;
    const bool by_writer = needs_writer(task);
    if (wanted.wanted && by_writer)
        task->no_meaning = "recordings or videos came with it: send texts on their own";
    if (!wanted.wanted || by_writer) {
        writer_give(exchange->service->writer, task);
        return HANDED_ON;
    }
    answer_task(task, &wanted, false);
    decision_task_free(task);
    return ANSWERED;
}

enum handled answer_check(struct exchange *exchange)
{
    struct wanted_meaning wanted;
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (!read_wanted_meaning(exchange, &wanted))
        return ANSWERED;
    if (are_records(exchange)) {
        if (may_be_records(exchange, &wanted))
            answer_records(exchange, &wanted, true);
        return ANSWERED;
    }
    struct decision_task *task = decision_task_new(exchange);
    if (!task)
        return ANSWERED;
    answer_task(task, &wanted, true);
    decision_task_free(task);
    return ANSWERED;
}
