/* A thread that decides about what waits, all of it in one transaction. */
#include "serve/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "core/try.h"
#include "serve/http.h"
#include "serve/request_key.h"
#include "serve/service.h"

/* An upstream is asked so often about what it has not answered yet; and somebody who changes the
 * library waits so long for what is decided, which may wait for the upstream. */
enum { SETTLE_SECONDS = 5, PATIENCE_SECONDS = 10 };

struct writer {
    struct service *service;
    pthread_mutex_t lock; /* of the queue */
    pthread_cond_t work;
    struct decision_task *first, **end;
    bool closing;

    pthread_mutex_t library_lock; /* of what follows */
    struct doppel_library *library;
    struct doppel_decider *decider; /* NULL: none yet, or the last one could not go on */
    double rate;                    /* of its images, audio and videos; 0: the service's */
    struct decision_task *deciding; /* the first of those that are decided about */

    pthread_t thread;
    bool started;
};

/* ---- the queue ---- */

/* Where nothing comes, what waits for an upstream is not to wait for what comes. */
static bool wait_for_tasks(struct writer *writer)
{
    struct timespec until;
    if (!writer->service->options->decide.upstream.service.url)
        return !pthread_cond_wait(&writer->work, &writer->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SETTLE_SECONDS;
    return !pthread_cond_timedwait(&writer->work, &writer->lock, &until);
}

/* Those that wait and have the rate of the first. @param out_ends nothing comes any more; else,
 * where there are none, nothing came for long */
static struct decision_task *take_tasks(struct writer *writer, bool *out_ends)
{
    pthread_mutex_lock(&writer->lock);
    while (!writer->first && !writer->closing && wait_for_tasks(writer))
        ;
    *out_ends = writer->closing && !writer->first;
    struct decision_task *first = writer->first, **rest = &first;
    while (*rest && (*rest)->max_fp_rate == first->max_fp_rate)
        rest = &(*rest)->next;
    writer->first = *rest;
    *rest = NULL;
    if (!writer->first)
        writer->end = &writer->first;
    pthread_mutex_unlock(&writer->lock);
    return first;
}

void writer_give(struct writer *writer, struct decision_task *task)
{
    pthread_mutex_lock(&writer->lock);
    task->next = NULL;
    *writer->end = task;
    writer->end = &task->next;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
}

/* ---- writing ---- */

static enum doppel_status keep_answer_of(void *context, const struct doppel_decided *decided,
                                         struct doppel_error *error)
{
    struct writer *writer = context;
    return keep_answer_of_input(writer->deciding, writer->library, decided, error);
}

/* Others wait for it: what takes long, as a video does, is not read again. */
static enum doppel_status read_again_to_write(void *context, const struct doppel_record *query,
                                              const char *name, const struct doppel_scheme *scheme,
                                              struct doppel_record *out, struct doppel_error *error)
{
    const struct writer *writer = context;
    return query->kind == DOPPEL_KIND_VIDEO
               ? doppel_fail(error, DOPPEL_E_NOT_FOUND, "a video is not read again to be added")
               : read_task_input_again(writer->deciding, query, name, scheme, out, error);
}

static void drop_decider(struct writer *writer)
{
    doppel_decider_free(writer->decider);
    writer->decider = NULL;
}

static enum doppel_status want_decider(struct writer *writer, double rate,
                                       struct doppel_error *error)
{
    struct doppel_decide_options options = decide_options_of(writer->service, false);
    options.on_keep = keep_answer_of;
    options.on_keep_context = writer;
    options.search.fingerprint = read_again_to_write;
    options.search.fingerprint_context = writer;
    if (rate > 0)
        options.search.compare.max_false_positives = rate;
    if (writer->decider && writer->rate == rate)
        return DOPPEL_OK;
    drop_decider(writer);
    writer->rate = rate;
    return doppel_decider_new(writer->service->run, writer->library, &options, &writer->decider,
                              error);
}

static void decide(struct writer *writer, struct decision_task *first)
{
    struct doppel_error error;
    pthread_mutex_lock(&writer->library_lock);
    writer->deciding = first;
    enum doppel_status status = want_decider(writer, first->max_fp_rate, &error);
    for (struct decision_task *task = first; task && !status; task = task->next)
        status = request_key_begin(task, writer->decider, writer->library, &error);
    for (struct decision_task *task = first; task && status; task = task->next)
        exchange_fail(task->exchange, &error);
    const struct deciding deciding = {.decider = writer->decider, .library = writer->library};
    if (!status && decide_tasks(&deciding, first, &error))
        drop_decider(writer);
    pthread_mutex_unlock(&writer->library_lock);
}

/* What was accepted while the upstream was away. */
static void settle_waiting(struct writer *writer)
{
    pthread_mutex_lock(&writer->library_lock);
    if (want_decider(writer, writer->rate, NULL) || doppel_decider_settle(writer->decider, NULL))
        drop_decider(writer);
    pthread_mutex_unlock(&writer->library_lock);
}

static void *write_on(void *context)
{
    struct writer *writer = context;
    for (bool ends = false; !ends;) {
        struct decision_task *task = take_tasks(writer, &ends);
        if (task)
            decide(writer, task);
        else if (!ends)
            settle_waiting(writer);
        while (task) {
            struct decision_task *next = task->next;
            struct exchange *exchange = task->exchange;
            decision_task_free(task);
            http_resume(exchange);
            task = next;
        }
    }
    return NULL;
}

enum doppel_status writer_change(struct exchange *exchange, library_change *change, void *context,
                                 struct doppel_error *error)
{
    struct writer *writer = exchange->service->writer;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    if (pthread_mutex_timedlock(&writer->library_lock, &until))
        return doppel_fail(error, DOPPEL_E_BUSY, "the library is being written to; try again");
    drop_decider(writer); /* which knows texts of before */
    doppel_library_set_client(writer->library, exchange->client.name);
    enum doppel_status status = change(context, writer->library, error);
    doppel_library_set_client(writer->library, NULL);
    if (!status)
        status = doppel_library_commit(writer->library, error);
    else
        doppel_library_rollback(writer->library);
    pthread_mutex_unlock(&writer->library_lock);
    return status;
}

/* ---- life ---- */

enum doppel_status writer_open(struct service *service, struct writer **out,
                               struct doppel_error *error)
{
    const struct doppel_library_options options = {.create = true,
                                                   .durable = service->options->durable};
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a writer");
    writer->service = service;
    writer->end = &writer->first;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_mutex_init(&writer->library_lock, NULL);
    pthread_cond_init(&writer->work, NULL);
    enum doppel_status status;
    TRY(doppel_library_open(service->options->library, &options, &writer->library, error));
    if (pthread_create(&writer->thread, NULL, write_on, writer))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no thread can be started"));
    writer->started = true;
done:
    if (status)
        writer_close(writer);
    else
        *out = writer;
    return status;
}

void writer_close(struct writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->closing = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    if (writer->started)
        pthread_join(writer->thread, NULL);
    drop_decider(writer);
    if (writer->library)
        doppel_library_close(writer->library);
    pthread_cond_destroy(&writer->work);
    pthread_mutex_destroy(&writer->library_lock);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}
