/* Vectors of texts, from a model of this machine or from a service. */
#include <doppel/embedder.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "embed/embedder_internal.h"
#include "embed/model.h"
#include "embed/whitened/whitened.h"

static const uint64_t usual_cache_bytes = UINT64_C(8) << 30;

struct doppel_embedder_options doppel_embedder_options_default(void)
{
    return (struct doppel_embedder_options){.cache_bytes = usual_cache_bytes, .requests = 4};
}

/* ---- what it is ---- */

enum doppel_status doppel_embedder_check_identity(const struct doppel_embedder_identity *kept,
                                                  const struct doppel_embedder_identity *now,
                                                  struct doppel_error *error)
{
    if (kept->dimension == now->dimension && strcmp(kept->prefix, now->prefix) == 0 &&
        strcmp(kept->revision, now->revision) == 0)
        return DOPPEL_OK;
    if (strcmp(kept->name, now->name) != 0)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the vectors here are of the model '%.120s', and not of '%.120s': "
                           "vectors of two models are never compared",
                           kept->name, now->name);
    if (kept->dimension != now->dimension)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the vectors here have %u numbers, and those of '%.120s' now have %u: "
                           "it is another model",
                           kept->dimension, now->name, now->dimension);
    if (strcmp(kept->prefix, now->prefix) != 0)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the vectors here are of texts after the prefix '%.60s', and those of "
                           "'%.120s' are now after '%.60s': they are not compared",
                           kept->prefix, now->name, now->prefix);
    return doppel_fail(error, DOPPEL_E_VERSION,
                       "the vectors here are of the revision %.8s of '%.120s', which now has the "
                       "revision %.8s: it is another model",
                       kept->revision, now->name, now->revision);
}

static enum doppel_status set_identity(struct doppel_embedder *embedder, const char *name,
                                       const char *prefix, struct doppel_error *error)
{
    struct doppel_embedder_identity *identity = &embedder->identity;
    if (strlen(name) >= sizeof identity->name || strlen(prefix) >= sizeof identity->prefix)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the name of a model has at most %zu bytes, and a prefix %zu",
                           sizeof identity->name - 1, sizeof identity->prefix - 1);
    memcpy(identity->name, name, strlen(name));
    memcpy(identity->prefix, prefix, strlen(prefix));
    return DOPPEL_OK;
}

/* ---- opening ---- */

static enum doppel_status open_model_of(struct doppel_embedder *embedder,
                                        const struct doppel_embedder_options *options,
                                        struct doppel_error *error)
{
    const struct doppel_model_open_options open = {options->folder, options->name, options->exact};
    enum doppel_status status;
    TRY(doppel_model_open(&open, &embedder->model, error));
    if (!model_is_whole(embedder->model)) /* vectors that are kept would be wrong for good */
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT,
                        "the embedding model '%s' is damaged: remove it with 'doppel model remove' "
                        "and add it again",
                        options->name));
    const struct doppel_model_info *info = doppel_model_info(embedder->model);
    TRY(set_identity(embedder, info->name, info->prefix, error));
    memcpy(embedder->identity.revision, info->revision, sizeof info->revision);
    embedder->identity.dimension = info->dimension;
done:
    return status;
}

/* ---- a service ---- */

static bool is_embedder_stopped(void *context)
{
    const struct embedder_connection *connection = context;
    const struct doppel_embedder *embedder = connection->embedder;
    return embedder->asked.stopped && embedder->asked.stopped(embedder->asked.context);
}

/* The endpoint knows a text by its place in a request. */
static void pass_refusal_on(void *context, size_t text, const struct doppel_error *reason)
{
    const struct embedder_connection *connection = context;
    struct doppel_embedder *embedder = connection->embedder;
    if (!embedder->asked.on_refused)
        return;
    pthread_mutex_lock(&embedder->lock);
    embedder->asked.on_refused(embedder->asked.context, connection->places[text], reason);
    pthread_mutex_unlock(&embedder->lock);
}

static void pass_retry_on(void *context, uint32_t tries, uint32_t wait_ms,
                          const struct doppel_error *reason)
{
    struct doppel_embedder *embedder = ((const struct embedder_connection *)context)->embedder;
    if (!embedder->asked.on_retry)
        return;
    pthread_mutex_lock(&embedder->lock);
    embedder->asked.on_retry(embedder->asked.context, tries, wait_ms, reason);
    pthread_mutex_unlock(&embedder->lock);
}

static enum doppel_status ask_for_identity(struct doppel_embedder *embedder,
                                           const struct doppel_endpoint_options *given,
                                           struct doppel_error *error)
{
    struct doppel_endpoint_options options = *given;
    enum doppel_status status;
    embedder->asked.stopped = given->stopped;
    embedder->asked.on_refused = given->on_refused;
    embedder->asked.on_retry = given->on_retry;
    embedder->asked.context = given->context;
    options.stopped = is_embedder_stopped;
    options.on_refused = pass_refusal_on;
    options.on_retry = pass_retry_on;
    options.context = &embedder->connection;
    TRY(set_identity(embedder, given->model ? given->model : "", given->prefix ? given->prefix : "",
                     error));
    TRY(doppel_endpoint_open(&options, &embedder->endpoint, error));
    const struct doppel_endpoint_info *info = doppel_endpoint_info(embedder->endpoint);
    memcpy(embedder->identity.revision, info->revision, sizeof info->revision);
    embedder->identity.dimension = info->dimension;
done:
    return status;
}

/* Go on without it, unless another model is there. */
static enum doppel_status choose_cached_model(struct doppel_embedder *embedder, bool known,
                                              struct doppel_error *error)
{
    const struct cached_model model = {&embedder->identity,
                                       doppel_endpoint_info(embedder->endpoint)->probe,
                                       embedder->endpoint->place, known};
    struct doppel_error reason;
    char revision[33];
    enum doppel_status status = vector_cache_choose(embedder->cache, &model, revision, &reason);
    if (status == DOPPEL_E_VERSION)
        return doppel_fail(error, status, "%s", reason.message);
    if (status)
        embedder_drop_cache(embedder, &reason);
    else if (!known)
        memcpy(embedder->identity.revision, revision, sizeof revision);
    return DOPPEL_OK;
}

static enum doppel_status open_cache_of(struct doppel_embedder *embedder,
                                        const struct doppel_embedder_options *options,
                                        struct doppel_error *error)
{
    struct doppel_error reason;
    bool renewed;
    if (!options->cache)
        return DOPPEL_OK;
    if (vector_cache_open(options->cache, options->cache_bytes, &embedder->cache, &renewed,
                          &reason)) {
        embedder_drop_cache(embedder, &reason);
        return DOPPEL_OK;
    }
    if (renewed)
        embedder_notice(embedder, "%.300s: damaged; started again", options->cache);
    return choose_cached_model(embedder, options->endpoint->known, error);
}

static enum doppel_status open_endpoint_of(struct doppel_embedder *embedder,
                                           const struct doppel_embedder_options *options,
                                           struct doppel_error *error)
{
    enum doppel_status status;
    if (options->max_cost > 0 && !(options->price > 0))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "what may be spent has no meaning without the price of tokens");
    embedder->price = options->price;
    embedder->max_cost = options->max_cost;
    embedder->retry_refused = options->retry_refused;
    embedder->requests = options->requests ? options->requests : 1;
    if (embedder->requests > DOPPEL_EMBEDDER_MOST_REQUESTS)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "up to %d requests are sent at a time",
                           (int)DOPPEL_EMBEDDER_MOST_REQUESTS);
    TRY(ask_for_identity(embedder, options->endpoint, error));
    TRY(open_cache_of(embedder, options, error));
done:
    return status;
}

/* The model of a name, or what a service has. */
static enum doppel_status open_base(struct doppel_embedder *embedder,
                                    const struct doppel_embedder_options *options,
                                    struct doppel_error *error)
{
    return options->endpoint ? open_endpoint_of(embedder, options, error)
                             : open_model_of(embedder, options, error);
}

static enum doppel_status open_whitened(struct doppel_embedder *embedder,
                                        const struct doppel_embedder_options *options,
                                        const struct whitened_model *whitened,
                                        struct doppel_error *error)
{
    const struct doppel_endpoint_known known = {whitened->base_revision, whitened->probe,
                                                whitened->info.dimension};
    struct doppel_embedder_options base = *options;
    struct doppel_endpoint_options endpoint;
    struct doppel_error reason;
    enum doppel_status status;
    base.name = whitened->info.base;
    if (options->endpoint) {
        endpoint = *options->endpoint;
        endpoint.model = whitened->info.base;
        endpoint.prefix = whitened->info.prefix;
        endpoint.known = &known;
        base.endpoint = &endpoint;
    }
    if (open_base(embedder, &base, &reason))
        TRY(whitened_fail_base(whitened, &reason, error));
    TRY(whitened_take(embedder, whitened, error));
done:
    return status;
}

enum doppel_status doppel_embedder_open(const struct doppel_embedder_options *options,
                                        struct doppel_embedder **out, struct doppel_error *error)
{
    struct doppel_embedder *embedder = calloc(1, sizeof *embedder);
    struct whitened_model whitened = {0};
    enum doppel_status status;
    if (!embedder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an embedder");
    pthread_mutex_init(&embedder->lock, NULL);
    embedder->connection.embedder = embedder;
    embedder->on_notice = options->on_notice;
    embedder->notice_context = options->context;
    TRY(whitened_find(options, &whitened, error));
    TRY(whitened.numbers ? open_whitened(embedder, options, &whitened, error)
                         : open_base(embedder, options, error));
done:
    whitened_free(&whitened);
    if (status)
        doppel_embedder_free(embedder);
    else
        *out = embedder;
    return status;
}

void doppel_embedder_free(struct doppel_embedder *embedder)
{
    if (!embedder)
        return;
    doppel_model_free(embedder->model);
    doppel_vector_whitening_free(embedder->whitening);
    for (size_t i = 0; i < DOPPEL_EMBEDDER_MOST_REQUESTS; i++)
        doppel_endpoint_free(embedder->connections[i].endpoint);
    doppel_endpoint_free(embedder->endpoint);
    vector_cache_close(embedder->cache);
    pthread_mutex_destroy(&embedder->lock);
    free(embedder);
}

void embedder_notice(const struct doppel_embedder *embedder, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    if (!embedder->on_notice)
        return;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    embedder->on_notice(embedder->notice_context, sentence);
}

void embedder_drop_cache(struct doppel_embedder *embedder, const struct doppel_error *reason)
{
    embedder_notice(embedder, "going on without the cache of vectors: %.400s", reason->message);
    vector_cache_close(embedder->cache);
    embedder->cache = NULL;
}

struct doppel_digest embedder_text_digest(const char *text, size_t size)
{
    return doppel_digest_bytes(text, size);
}

static bool is_zero_row(const float *row, uint32_t dimension)
{
    for (uint32_t i = 0; i < dimension; i++)
        if (row[i] != 0)
            return false;
    return true;
}

enum cached_text embedder_find_cached(struct doppel_embedder *embedder,
                                      const struct doppel_digest *text, float *out_row)
{
    struct doppel_error reason;
    float row[DOPPEL_MODEL_MAX_DIMENSION];
    const uint32_t dimension = embedder->identity.dimension;
    if (!embedder->cache)
        return TEXT_NOT_CACHED;
    enum doppel_status status = vector_cache_get(embedder->cache, text, row, &reason);
    if (status && status != DOPPEL_E_NOT_FOUND)
        embedder_drop_cache(embedder, &reason);
    if (status)
        return TEXT_NOT_CACHED;
    if (is_zero_row(row, dimension))
        return embedder->retry_refused ? TEXT_NOT_CACHED : TEXT_REFUSED;
    memcpy(out_row, row, dimension * sizeof *row);
    return TEXT_CACHED;
}

const struct doppel_embedder_identity *doppel_embedder_identity(
    const struct doppel_embedder *embedder)
{
    return &embedder->identity;
}

const float *doppel_embedder_probe(const struct doppel_embedder *embedder)
{
    return embedder->endpoint ? doppel_endpoint_info(embedder->endpoint)->probe : NULL;
}

/* ---- embedding ---- */

/* What was cached is counted already. */
static void count_outcomes(struct doppel_embedder_usage *usage, const enum doppel_status *each,
                           size_t count, enum doppel_status whole)
{
    usage->texts += count;
    for (size_t i = 0; i < count; i++) {
        usage->embedded += each[i] == DOPPEL_OK;
        usage->too_short += each[i] == DOPPEL_E_TOO_SHORT;
        usage->refused += each[i] && each[i] != DOPPEL_E_TOO_SHORT && each[i] != whole;
    }
}

enum doppel_status doppel_embedder_embed(struct doppel_embedder *embedder,
                                         const struct doppel_model_texts *texts, float *rows,
                                         enum doppel_status *each, struct doppel_error *error)
{
    enum doppel_status *outcomes = each ? each : malloc((texts->count + 1) * sizeof *outcomes);
    if (!outcomes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to embed texts");
    for (size_t i = 0; i < texts->count; i++)
        outcomes[i] = DOPPEL_E_MEMORY;
    const uint64_t cached = embedder->usage.cached;
    enum doppel_status whitened = DOPPEL_OK;
    struct doppel_error reason;
    enum doppel_status status =
        embedder->endpoint ? embedder_ask(embedder, texts, rows, outcomes, error)
                           : doppel_model_embed(embedder->model, texts, rows, outcomes, error);
    count_outcomes(&embedder->usage, outcomes, texts->count, status);
    embedder->usage.embedded -= embedder->usage.cached - cached;
    if (embedder->whitening) /* also what came before a failure */
        whitened = whiten_embedded(embedder, texts->count, rows, outcomes, &reason);
    if (whitened && !status)
        status = doppel_fail(error, whitened, "%s", reason.message);
    if (!each)
        free(outcomes);
    return status;
}

struct doppel_embedder_usage doppel_embedder_usage(const struct doppel_embedder *embedder)
{
    struct doppel_embedder_usage usage = embedder->usage;
    if (embedder->endpoint) {
        const struct doppel_endpoint_info *info = doppel_endpoint_info(embedder->endpoint);
        usage.tokens = info->tokens;
        usage.requests = info->requests;
    }
    return usage;
}
