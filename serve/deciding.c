/* Deciding about inputs. */
#include "serve/deciding.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/library_requests.h>

#include "core/digest.h"
#include "core/try.h"
#include "serve/answers/answers.h"
#include "serve/input_record.h"

struct doppel_decide_options decide_options_of(const struct service *service, bool dry_run)
{
    struct doppel_decide_options options = service->options->decide;
    options.dry_run = dry_run;
    options.upstream.run = service->upstream_run;
    return options;
}

/* ---- tasks ---- */

void decision_task_free(struct decision_task *task)
{
    if (!task)
        return;
    for (size_t i = 0; task->records && i < task->inputs.all.count; i++)
        doppel_record_free(&task->records[i]);
    for (size_t i = 0; task->answers && i < task->inputs.all.count; i++)
        free(task->answers[i]);
    free(task->answers);
    free(task->records);
    inputs_free(&task->inputs);
    free(task);
}

/* Whether it is decided about as a record. */
static bool is_read(const struct request_input *input)
{
    return input->form == INPUT_FILE || input->form == INPUT_CODE || input->form == INPUT_RECORD ||
           input->form == INPUT_DIGESTS;
}

/* What cannot be read is a decision, too. */
static void read_task_files(struct decision_task *task)
{
    for (size_t i = 0; i < task->inputs.all.count; i++) {
        struct request_input *input = &task->inputs.all.items[i];
        input->client = task->exchange->client.name;
        if (is_read(input) && !input->error.status)
            input->error.status =
                input_to_decide(task->exchange->service, input, &task->records[i], &input->error);
    }
}

struct decision_task *decision_task_new(struct exchange *exchange)
{
    struct decision_task *task = calloc(1, sizeof *task);
    if (!task) {
        exchange_problem(exchange, HTTP_UNAVAILABLE, "no memory for the request");
        return NULL;
    }
    task->exchange = exchange;
    if (inputs_read(exchange, &task->inputs)) {
        task->records = calloc(task->inputs.all.count, sizeof *task->records);
        if (!task->records)
            exchange_problem(exchange, HTTP_UNAVAILABLE, "no memory for the request");
        else
            read_task_files(task);
    }
    if (!exchange->status)
        return task;
    decision_task_free(task);
    return NULL;
}

/* ---- deciding ---- */

/* What was answered to an input of a task before; NULL: nothing. */
static const char *answer_before(const struct decision_task *task, size_t i)
{
    return task->answers ? task->answers[i] : NULL;
}

/* Whether the decider is given it. */
static bool is_to_decide(const struct decision_task *task, size_t i)
{
    return !task->inputs.all.items[i].error.status && !answer_before(task, i);
}

enum doppel_status push_request_input(struct doppel_decider *decider, struct request_input *input,
                                      struct doppel_record *record, struct doppel_error *error)
{
    struct doppel_decide_input given = {
        .id = input->id,
        .source = input->source,
        .date = input->date,
        .metadata = &input->metadata,
        .client = input->client,
        .path = input->form == INPUT_PATH ? input->path : NULL,
        .text = input->form == INPUT_TEXT ? input->text : NULL,
        .text_size = input->text_size,
        .signature = input->signature,
        .signature_version = input->signature_version,
    };
    if (input->error.status)
        return DOPPEL_OK;
    if (is_read(input))
        given.record = record;
    given.exact = input->exact;
    enum doppel_status status = doppel_decider_push(decider, &given, error);
    if (status != DOPPEL_E_ARGUMENT)
        return status;
    input->error = *error;
    input->error.status = status;
    return DOPPEL_OK;
}

/* Whether an input, of which this was read, is the query; one at a path is read by the decider. */
static bool is_query(const struct request_input *input, const struct doppel_record *read,
                     const struct doppel_record *query, const char *name)
{
    if (input->form == INPUT_PATH)
        return strcmp(input->path, name) == 0;
    return !digest_is_none(&query->digest) &&
           memcmp(&read->digest, &query->digest, sizeof query->digest) == 0;
}

/* NULL: there is none. */
static const struct request_input *input_of_query(const struct decision_task *task,
                                                  const struct doppel_record *query,
                                                  const char *name)
{
    for (size_t i = 0; i < task->inputs.all.count; i++)
        if (is_query(&task->inputs.all.items[i], &task->records[i], query, name))
            return &task->inputs.all.items[i];
    return NULL;
}

enum doppel_status read_task_input_again(const struct decision_task *first,
                                         const struct doppel_record *query, const char *name,
                                         const struct doppel_scheme *scheme,
                                         struct doppel_record *out, struct doppel_error *error)
{
    for (const struct decision_task *task = first; task; task = task->next) {
        const struct request_input *input = input_of_query(task, query, name);
        if (input)
            return input_read_again(task->exchange->service, input, scheme, out, error);
    }
    return doppel_fail(error, DOPPEL_E_NOT_FOUND, "the input cannot be read again");
}

/* What was pushed has neither file nor line that its sender knows. */
static struct doppel_decided as_sender_knows(const struct doppel_decided *decided,
                                             const struct request_input *input)
{
    struct doppel_decided told = *decided;
    told.line = 0;
    told.id = decided->id ? decided->id : input->name;
    if (input->form != INPUT_PATH)
        told.path = NULL;
    return told;
}

void put_decision(struct doppel_json *json, const struct request_input *input,
                  const struct doppel_decided *decided)
{
    const struct doppel_decided unreadable = {.decision = DOPPEL_DECISION_UNREADABLE,
                                              .why = input->error.message,
                                              .is_file = true,
                                              .id = input->id ? input->id : input->name,
                                              .path = input->path};
    const struct doppel_decided told = as_sender_knows(decided ? decided : &unreadable, input);
    doppel_decision_to_json(json, &told);
}

/* What was kept as new, before the upstream was asked, may not be by now, or may still wait. */
static bool set_outcome(json_t *object, const struct doppel_decided *by_now)
{
    if (by_now->queued)
        return !json_object_set_new(object, "queued", json_true());
    return !json_object_set_new(object, "decision",
                                json_string(doppel_decision_name(by_now->decision))) &&
           !json_object_set_new(object, "reason", json_string(by_now->why ? by_now->why : "")) &&
           (!by_now->upstream ||
            !json_object_set_new(object, "upstream", json_loads(by_now->upstream, 0, NULL)));
}

enum doppel_status bring_up_answer(char **answer, struct doppel_decider *decider, bool *out_changed,
                                   bool *out_unreadable, struct doppel_error *error)
{
    json_t *object = json_loads(*answer, 0, NULL);
    uint64_t item = (uint64_t)json_integer_value(json_object_get(object, "item"));
    const char *decision = json_string_value(json_object_get(object, "decision"));
    struct doppel_decided by_now = {0};
    enum doppel_status status = DOPPEL_OK;
    *out_changed = *out_unreadable = false;
    if (!item || !decision || strcmp(decision, doppel_decision_name(DOPPEL_DECISION_NEW)) != 0)
        goto done;
    TRY(doppel_decider_recall(decider, item, &by_now, error));
    if (by_now.decision == DOPPEL_DECISION_NEW && !by_now.queued)
        goto done;
    char *text = set_outcome(object, &by_now)
                     ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15))
                     : NULL;
    if (!text)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer"));
    free(*answer);
    *answer = text;
    *out_changed = true;
    *out_unreadable = by_now.decision == DOPPEL_DECISION_UNREADABLE;
done:
    json_decref(object);
    return status;
}

static enum doppel_status keep_task_answer(const struct decision_task *task, size_t number,
                                           struct doppel_library *library,
                                           const struct doppel_decided *decided,
                                           struct doppel_error *error)
{
    struct doppel_json json = {0};
    enum doppel_status status;
    put_decision(&json, &task->inputs.all.items[number], decided);
    TRY(doppel_json_status(&json, error));
    TRY(doppel_library_keep_answer(library, task->request, number, json.bytes, error));
done:
    doppel_json_free(&json);
    return status;
}

enum doppel_status keep_answer_of_input(struct decision_task *first, struct doppel_library *library,
                                        const struct doppel_decided *decided,
                                        struct doppel_error *error)
{
    struct decision_task *task = first;
    for (; task; task = task->next) {
        while (task->kept < task->pushed && !is_to_decide(task, task->kept))
            task->kept++;
        if (task->kept < task->pushed)
            break;
    }
    if (!task)
        return DOPPEL_OK;
    const size_t number = task->kept++;
    return task->request ? keep_task_answer(task, number, library, decided, error) : DOPPEL_OK;
}

/* @param decided NULL: it could not be read, or was decided about before */
static void tell_decision(struct decision_task *task, const struct doppel_decided *decided)
{
    const char *before = answer_before(task, task->told);
    const struct request_input *input = &task->inputs.all.items[task->told++];
    if (task->told == 1)
        begin_results(task->exchange);
    if (task->exchange->status != HTTP_OK) /* an answer before it could not be kept */
        return;
    if (before)
        doppel_json_raw(&task->exchange->json, NULL, before, strlen(before));
    else
        put_decision(&task->exchange->json, input, decided);
    end_result(task->exchange);
    if (task->told == task->inputs.all.count)
        end_results(task->exchange);
}

/* Those that the decider was never given come first. @return the task of the next decision; NULL:
 * there is none */
static struct decision_task *pass_unreadable(struct decision_task *task)
{
    for (; task; task = task->next)
        while (task->told < task->pushed) {
            if (is_to_decide(task, task->told))
                return task;
            tell_decision(task, NULL);
        }
    return NULL;
}

static enum doppel_status push_some(struct doppel_decider *decider, struct decision_task *first,
                                    struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    size_t given = 0;
    for (struct decision_task *task = first; task && !status; task = task->next)
        while (task->pushed < task->inputs.all.count && !status && given < DOPPEL_DECIDER_MOST) {
            if (is_to_decide(task, task->pushed))
                status = push_request_input(decider, &task->inputs.all.items[task->pushed],
                                            &task->records[task->pushed], error);
            task->pushed += !status;
            given++;
        }
    return status;
}

static bool is_all_told(const struct decision_task *task)
{
    while (task && task->told == task->inputs.all.count)
        task = task->next;
    return !task;
}

/* What is found so was not known when the answer was kept with the decision. */
static enum doppel_status add_meaning_to_decision(const struct deciding *deciding,
                                                  const struct decision_task *task,
                                                  struct doppel_decided *decided,
                                                  struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!deciding->meaning && decided->kind == DOPPEL_KIND_TEXT &&
        decided->decision == DOPPEL_DECISION_NEW)
        decided->semantic_problem = task->no_meaning;
    if (!deciding->meaning)
        return DOPPEL_OK;
    find_meaning_of(task->exchange->service, deciding->meaning, deciding->decider,
                    &task->inputs.all.items[task->told], decided);
    if (!task->request || !decided->semantic)
        return DOPPEL_OK;
    TRY(keep_task_answer(task, task->told, deciding->library, decided, error));
    TRY(doppel_library_commit(deciding->library, error));
done:
    return status;
}

enum doppel_status decide_tasks(const struct deciding *deciding, struct decision_task *first,
                                struct doppel_error *error)
{
    struct doppel_decided decided;
    struct decision_task *task;
    enum doppel_status status = DOPPEL_OK;
    while (!status && !is_all_told(first)) {
        TRY(push_some(deciding->decider, first, error));
        while ((task = pass_unreadable(first))) {
            TRY(doppel_decider_pull(deciding->decider, &decided, error));
            TRY(add_meaning_to_decision(deciding, task, &decided, error));
            tell_decision(task, &decided);
        }
    }
done:
    for (task = first; status && task; task = task->next)
        if (task->told < task->inputs.all.count)
            exchange_fail(task->exchange, error);
    return status;
}
