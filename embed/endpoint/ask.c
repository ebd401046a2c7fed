/* One request to a service: written, sent, and sent again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "core/clock.h"
#include "core/mix64.h"
#include "core/text/utf8.h"
#include "core/try.h"
#include "embed/endpoint/endpoint.h"

enum {
    NUMBER_BYTES = 32,       /* a number of an array, as it is written with what stands about it */
    ANSWER_BYTES = 64 << 10, /* all else of an answer */
    FAILING_TRIES = 2,       /* by 500, until it is taken for the texts' fault */
    PROBE_TRIES = 2,         /* of a probe that is not answered in time */
    SLICE_MS = 50            /* of a wait: how soon it ends when it is to stop */
};

/* ---- what is sent ---- */

static void write_input(struct doppel_endpoint *endpoint, const char *text, size_t size)
{
    struct embed_text *whole = &endpoint->text;
    whole->size = 0;
    if (endpoint->prefix)
        embed_text_append(whole, endpoint->prefix, strlen(endpoint->prefix));
    embed_text_append(whole, text, size);
    for (size_t i = 0; i < whole->size; i++)
        if (!whole->bytes[i])
            whole->bytes[i] = ' ';
    doppel_json_text_of(&endpoint->body, NULL, whole->bytes, whole->size);
}

static enum doppel_status write_body(struct doppel_endpoint *endpoint,
                                     const struct endpoint_batch *batch, struct doppel_error *error)
{
    struct doppel_json *body = &endpoint->body;
    const struct doppel_model_texts *texts = batch->texts;
    doppel_json_clear(body);
    doppel_json_object_begin(body, NULL);
    doppel_json_text(body, "model", endpoint->model);
    doppel_json_array_begin(body, "input");
    for (size_t i = 0; i < batch->count; i++) {
        size_t place = batch->places[i];
        write_input(endpoint, texts->texts[place], size_of_text(texts, place));
    }
    doppel_json_array_end(body);
    if (!endpoint->without_base64)
        doppel_json_text(body, "encoding_format", "base64");
    doppel_json_object_end(body);
    return endpoint->text.failed ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a request")
                                 : doppel_json_status(body, error);
}

static enum doppel_status send_body(struct doppel_endpoint *endpoint, size_t count,
                                    struct doppel_error *error)
{
    const char *headers[] = {"Content-Type: application/json", "Accept: application/json",
                             endpoint->authorization};
    const struct doppel_endpoint_options *options = &endpoint->options;
    const struct post post = {
        .url = endpoint->url,
        .headers = headers,
        .header_count = endpoint->authorization ? 3 : 2,
        .body = endpoint->body.bytes,
        .size = endpoint->body.size,
        .reach = endpoint->reach,
        .timeout_ms = (long)options->timeout_ms,
        .most = count * DOPPEL_MODEL_MAX_DIMENSION * NUMBER_BYTES + ANSWER_BYTES,
        .stopped = options->stopped,
        .context = options->context,
    };
    endpoint->info.requests++;
    return post_send(&endpoint->poster, &post, &endpoint->answer, error);
}

/* ---- what it says in words ---- */

static const char *message_of(const json_t *root)
{
    const json_t *problem = json_object_get(root, "error");
    const json_t *const places[] = {json_object_get(problem, "message"), problem,
                                    json_object_get(root, "message"),
                                    json_object_get(root, "detail")};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (json_is_string(places[i]))
            return json_string_value(places[i]);
    return NULL;
}

/* Nobody is shown a key, of which some answers repeat a part or all. */
static void hide_key(char *text, const char *key)
{
    for (char *at = text; key && (at = strstr(at, key));)
        memset(at, '*', strlen(key));
}

/* On one line, whole characters, as much as there is room for. */
static void copy_words(const char *text, size_t size, char out[static ENDPOINT_WORDS])
{
    size_t put = 0;
    for (size_t at = 0, length; at < size; at += length) {
        length = utf8_length(text + at, size - at);
        bool blank = !length || (unsigned char)text[at] <= ' ' || text[at] == 127;
        length += !length;
        if (put + length >= ENDPOINT_WORDS)
            break;
        if (!blank)
            memcpy(out + put, text + at, length);
        else if (put && out[put - 1] != ' ')
            out[put] = ' ';
        else
            continue;
        put += blank ? 1 : length;
    }
    out[put] = '\0';
}

void endpoint_words(const struct doppel_endpoint *endpoint, char out[static ENDPOINT_WORDS])
{
    const struct post_answer *answer = &endpoint->answer;
    json_t *root = json_loadb(answer->body, answer->size, 0, NULL);
    const char *message = message_of(root);
    char *words = message ? strdup(message) : strndup(answer->body, answer->size);
    out[0] = '\0';
    if (words) {
        hide_key(words, endpoint->key);
        copy_words(words, strlen(words), out);
    }
    free(words);
    json_decref(root);
}

/* ---- what came of a try ---- */

enum verdict { ANSWERED, REFUSED, LATER, REJECTED };

static enum verdict judge_status(unsigned status)
{
    if (status >= 200 && status < 300)
        return ANSWERED;
    if (status == 400 || status == 413 || status == 422)
        return REFUSED;
    return status == 408 || status == 429 || (status >= 500 && status != 501) ? LATER : REJECTED;
}

static enum doppel_status status_of_http(unsigned http)
{
    return judge_status(http) == LATER  ? DOPPEL_E_BUSY
           : http == 400 || http == 422 ? DOPPEL_E_FORMAT
           : http == 404                ? DOPPEL_E_NOT_FOUND
           : http == 413                ? DOPPEL_E_LIMIT
                                        : DOPPEL_E_ARGUMENT;
}

static enum doppel_status fail_by_answer(const struct doppel_endpoint *endpoint,
                                         struct doppel_error *error)
{
    char words[ENDPOINT_WORDS];
    unsigned http = endpoint->answer.status;
    endpoint_words(endpoint, words);
    return doppel_fail(error, status_of_http(http), "%.200s answers %u%s%s%s", endpoint->place,
                       http, http / 100 == 3 ? ": redirects are not followed" : "",
                       words[0] ? ": " : "", words);
}

/* @param status what sending came to, with its sentence in `error`, which becomes one for users */
static enum verdict judge_try(const struct doppel_endpoint *endpoint, size_t count,
                              enum doppel_status *status, struct doppel_error *error)
{
    const struct post_answer *answer = &endpoint->answer;
    if (*status) {
        doppel_fail(error, *status, "%.200s: %s", endpoint->place, error->message);
        return *status == DOPPEL_E_TIMEOUT && count > 1                  ? REFUSED
               : *status == DOPPEL_E_TIMEOUT || *status == DOPPEL_E_BUSY ? LATER
                                                                         : REJECTED;
    }
    enum verdict verdict = judge_status(answer->status);
    if (verdict != ANSWERED)
        *status = fail_by_answer(endpoint, error);
    else if (answer->cut)
        *status = doppel_fail(error, DOPPEL_E_LIMIT,
                              "%.200s answers with more than the %zu bytes that vectors of %zu "
                              "texts may have",
                              endpoint->place, answer->size, count);
    return *status && verdict == ANSWERED ? REJECTED : verdict;
}

/* llama.cpp and Ollama answer 500 to texts that are too long, or of which no vector can be made. */
static bool is_texts_fault(const struct doppel_endpoint *endpoint,
                           const struct endpoint_batch *batch, enum doppel_status status,
                           uint32_t tries)
{
    return status == DOPPEL_E_BUSY && endpoint->answer.status == 500 && !batch->is_probe &&
           tries >= FAILING_TRIES;
}

/* ---- waiting ---- */

/* From .5 to 1. */
static double next_jitter(struct doppel_endpoint *endpoint)
{
    return 0.5 + (double)(next_mix64(&endpoint->random) >> 11) * 0x1p-54;
}

static uint64_t wait_after(struct doppel_endpoint *endpoint, uint32_t tries)
{
    const struct doppel_endpoint_options *options = &endpoint->options;
    uint64_t asked = (uint64_t)endpoint->answer.retry_after_s * 1000;
    uint64_t doubled = (uint64_t)options->wait_ms << (tries < 30 ? tries - 1 : 29);
    uint64_t most = options->most_wait_ms, wait = asked ? asked : doubled;
    wait = wait < most ? wait : most;
    return asked ? wait : (uint64_t)((double)wait * next_jitter(endpoint));
}

/* How long nothing is to be sent; less than 0: it may be. */
static int64_t left_of_pause(struct endpoint_pause *pause)
{
    pthread_mutex_lock(&pause->lock);
    const int64_t until = pause->until_ms;
    pthread_mutex_unlock(&pause->lock);
    return until - monotonic_ms();
}

static enum doppel_status wait_for_pause(struct doppel_endpoint *endpoint,
                                         struct doppel_error *error)
{
    const struct doppel_endpoint_options *options = &endpoint->options;
    for (int64_t left; (left = left_of_pause(endpoint->pause)) > 0;) {
        if (options->stopped && options->stopped(options->context))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "%.200s: ended early", endpoint->place);
        const long slice = left > SLICE_MS ? SLICE_MS : (long)left;
        nanosleep(&(struct timespec){.tv_nsec = slice * 1000000}, NULL);
    }
    return DOPPEL_OK;
}

void endpoint_try_again(struct doppel_endpoint *endpoint, bool again)
{
    pthread_mutex_lock(&endpoint->pause->lock);
    endpoint->pause->over = !again;
    pthread_mutex_unlock(&endpoint->pause->lock);
}

/* The others wait as well. Of several that fail at a time the first is told. */
static enum doppel_status pause_before_next_try(struct doppel_endpoint *endpoint, uint32_t tries,
                                                const struct doppel_error *reason,
                                                struct doppel_error *error)
{
    const struct doppel_endpoint_options *options = &endpoint->options;
    struct endpoint_pause *pause = endpoint->pause;
    const uint64_t wait = wait_after(endpoint, tries);
    const int64_t now = monotonic_ms(), end = now + (int64_t)wait;
    pthread_mutex_lock(&pause->lock);
    const bool first = pause->until_ms <= now, over = pause->over;
    pause->until_ms = pause->until_ms > end ? pause->until_ms : end;
    pthread_mutex_unlock(&pause->lock);
    if (over || (options->stopped && options->stopped(options->context)))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "%.200s: ended early", endpoint->place);
    if (first && options->on_retry)
        options->on_retry(options->context, tries, (uint32_t)wait, reason);
    return wait_for_pause(endpoint, error);
}

/* A service that does not answer the first text at all will hardly do so later. */
static uint32_t most_tries(const struct doppel_endpoint *endpoint,
                           const struct endpoint_batch *batch, enum doppel_status status)
{
    const uint32_t tries = endpoint->options.tries;
    return batch->is_probe && status == DOPPEL_E_TIMEOUT && tries > PROBE_TRIES ? PROBE_TRIES
                                                                                : tries;
}

enum doppel_status endpoint_ask(struct doppel_endpoint *endpoint,
                                const struct endpoint_batch *batch, enum doppel_status *out_refusal,
                                struct doppel_error *reason, struct doppel_error *error)
{
    enum doppel_status status;
    enum verdict verdict;
    TRY(write_body(endpoint, batch, error));
    TRY(wait_for_pause(endpoint, error));
    for (uint32_t tries = 1;; tries++) {
        status = send_body(endpoint, batch->count, reason);
        verdict = judge_try(endpoint, batch->count, &status, reason);
        if (verdict == LATER && is_texts_fault(endpoint, batch, status, tries))
            verdict = REFUSED;
        if (verdict != LATER || tries >= most_tries(endpoint, batch, status))
            break;
        TRY(pause_before_next_try(endpoint, tries, reason, error));
    }
    *out_refusal = verdict == REFUSED ? status : DOPPEL_OK;
    if (verdict == REFUSED)
        status = DOPPEL_OK;
    else if (status)
        doppel_fail(error, status, "%s%s", reason->message,
                    verdict == LATER ? " (at every try)" : "");
done:
    return status;
}
