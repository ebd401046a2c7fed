/* Requests that are done once. */
#include "serve/request_key.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/library_requests.h>

#include "core/digest.h"
#include "core/try.h"
#include "serve/service.h"

enum { LONGEST_KEY = 255 };

/* ---- those that are being answered ---- */

struct request_keys {
    pthread_mutex_t lock;
    ARRAY(const struct exchange *) taken;
};

struct request_keys *request_keys_new(void)
{
    struct request_keys *keys = calloc(1, sizeof *keys);
    if (keys)
        pthread_mutex_init(&keys->lock, NULL);
    return keys;
}

void request_keys_free(struct request_keys *keys)
{
    if (!keys)
        return;
    array_free(&keys->taken);
    pthread_mutex_destroy(&keys->lock);
    free(keys);
}

static const char *client_of(const struct exchange *exchange)
{
    return exchange->client.name ? exchange->client.name : "";
}

static bool is_printable_key(const char *key)
{
    size_t size = strlen(key);
    for (const char *at = key; *at; at++)
        if (*at < ' ' || *at > '~')
            return false;
    return size && size <= LONGEST_KEY;
}

bool request_key_take(struct exchange *exchange)
{
    struct request_keys *keys = exchange->service->request_keys;
    const char *key = exchange_header(exchange, "Idempotency-Key");
    bool taken = false, held = true;
    if (!key || exchange->request_key)
        return true;
    if (!is_printable_key(key)) {
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "an Idempotency-Key has 1 to %d printable characters of ASCII",
                         (int)LONGEST_KEY);
        return false;
    }
    pthread_mutex_lock(&keys->lock);
    for (size_t i = 0; i < keys->taken.count && !taken; i++)
        taken = strcmp(keys->taken.items[i]->request_key, key) == 0 &&
                strcmp(client_of(keys->taken.items[i]), client_of(exchange)) == 0;
    if (!taken && (held = array_push(&keys->taken, exchange)))
        exchange->request_key = key;
    pthread_mutex_unlock(&keys->lock);
    if (taken)
        exchange_problem(exchange, HTTP_CONFLICT,
                         "a request with this Idempotency-Key is being answered");
    else if (!held)
        exchange_problem(exchange, HTTP_UNAVAILABLE, "no memory for the request");
    exchange->retry_after = taken ? 1 : exchange->retry_after;
    return !taken && held;
}

void request_key_give_back(struct exchange *exchange)
{
    struct request_keys *keys = exchange->service->request_keys;
    if (!exchange->request_key)
        return;
    pthread_mutex_lock(&keys->lock);
    for (size_t i = 0; i < keys->taken.count; i++)
        if (keys->taken.items[i] == exchange)
            keys->taken.items[i] = keys->taken.items[--keys->taken.count];
    pthread_mutex_unlock(&keys->lock);
    exchange->request_key = NULL;
}

/* ---- what is in a request ---- */

static void add_word(struct digest_stream *stream, const char *word)
{
    const char there = word != NULL;
    digest_stream_add(stream, &there, sizeof there);
    digest_stream_add(stream, word ? word : "", word ? strlen(word) + 1 : 0);
}

static bool digest_buffer(struct digest_stream *stream, const struct large_buffer *buffer)
{
    char piece[1 << 14];
    ssize_t size = 0;
    digest_stream_add(stream, &buffer->size, sizeof buffer->size);
    if (!buffer->in_file) {
        digest_stream_add(stream, buffer->bytes, (size_t)buffer->size);
        return true;
    }
    int fd = large_buffer_open(buffer);
    while (fd >= 0 && (size = read(fd, piece, sizeof piece)) > 0)
        digest_stream_add(stream, piece, (size_t)size);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && !size;
}

static enum doppel_status digest_request(const struct exchange *exchange, struct doppel_digest *out,
                                         struct doppel_error *error)
{
    struct digest_stream *stream = digest_stream_new();
    if (!stream)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the request");
    digest_stream_begin(stream);
    digest_stream_add(stream, &exchange->form, sizeof exchange->form);
    add_word(stream, exchange_argument(exchange, "id"));
    add_word(stream, exchange_argument(exchange, "name"));
    if (exchange_wants(exchange, "semantic")) /* without, it is as it was before there was this */
        add_word(stream, "semantic");
    bool read = digest_buffer(stream, &exchange->body);
    for (size_t i = 0; i < exchange->parts.count && read; i++) {
        add_word(stream, exchange->parts.items[i].field);
        add_word(stream, exchange->parts.items[i].filename);
        read = digest_buffer(stream, &exchange->parts.items[i].content);
    }
    *out = digest_stream_get(stream);
    digest_stream_free(stream);
    return read ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_IO, "the request cannot be read again");
}

/* ---- what was answered ---- */

static bool take_answer(void *context, uint64_t number, const char *answer)
{
    struct decision_task *task = context;
    if (number >= task->inputs.all.count)
        return true;
    free(task->answers[number]);
    task->answers[number] = strdup(answer);
    return task->answers[number];
}

static enum doppel_status recall_answers(struct decision_task *task, struct doppel_decider *decider,
                                         struct doppel_library *library, struct doppel_error *error)
{
    enum doppel_status status;
    bool asks = task->exchange->service->options->decide.upstream.service.url;
    bool changed, unreadable;
    task->answers = calloc(task->inputs.all.count, sizeof *task->answers);
    if (!task->answers)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the answers");
    status = doppel_library_each_answer(library, task->request, take_answer, task, error);
    if (status == DOPPEL_E_CANCELLED) /* by take_answer */
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the answers");
    if (status != DOPPEL_E_CORRUPT) /* what is damaged is decided again */
        TRY(status);
    TRY(asks ? doppel_decider_settle(decider, error) : DOPPEL_OK);
    for (size_t i = 0; asks && i < task->inputs.all.count; i++)
        if (task->answers[i])
            TRY(bring_up_answer(&task->answers[i], decider, &changed, &unreadable, error));
done:
    return status;
}

enum doppel_status request_key_begin(struct decision_task *task, struct doppel_decider *decider,
                                     struct doppel_library *library, struct doppel_error *error)
{
    struct exchange *exchange = task->exchange;
    struct doppel_library_request request = {.client = client_of(exchange),
                                             .key = exchange->request_key};
    enum doppel_status status;
    if (!exchange->request_key)
        return DOPPEL_OK;
    TRY(digest_request(exchange, &request.body, error));
    status = doppel_library_begin_request(library, &request, &task->request, error);
    if (status == DOPPEL_E_ARGUMENT) {
        exchange_problem(exchange, HTTP_UNPROCESSABLE, "%s", error->message);
        task->pushed = task->told = task->kept = task->inputs.all.count;
        return DOPPEL_OK;
    }
    TRY(status);
    TRY(doppel_library_commit(library, error));
    TRY(recall_answers(task, decider, library, error));
done:
    return status;
}
