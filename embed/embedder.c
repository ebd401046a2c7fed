/* Vectors of texts, from a model of this machine or from a service. */
#include <doppel/embedder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

struct doppel_embedder {
    struct doppel_embedder_identity identity;
    struct doppel_model *model; /* one of these two */
    struct doppel_endpoint *endpoint;
    struct doppel_embedder_usage usage; /* its tokens and requests are the endpoint's */
};

struct doppel_embedder_options doppel_embedder_options_default(void)
{
    return (struct doppel_embedder_options){0};
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
    const struct doppel_model_info *info = doppel_model_info(embedder->model);
    TRY(set_identity(embedder, info->name, info->prefix, error));
    memcpy(embedder->identity.revision, info->revision, sizeof info->revision);
    embedder->identity.dimension = info->dimension;
done:
    return status;
}

static enum doppel_status open_endpoint_of(struct doppel_embedder *embedder,
                                           const struct doppel_endpoint_options *options,
                                           struct doppel_error *error)
{
    enum doppel_status status;
    TRY(set_identity(embedder, options->model ? options->model : "",
                     options->prefix ? options->prefix : "", error));
    TRY(doppel_endpoint_open(options, &embedder->endpoint, error));
    const struct doppel_endpoint_info *info = doppel_endpoint_info(embedder->endpoint);
    memcpy(embedder->identity.revision, info->revision, sizeof info->revision);
    embedder->identity.dimension = info->dimension;
done:
    return status;
}

enum doppel_status doppel_embedder_open(const struct doppel_embedder_options *options,
                                        struct doppel_embedder **out, struct doppel_error *error)
{
    struct doppel_embedder *embedder = calloc(1, sizeof *embedder);
    enum doppel_status status;
    if (!embedder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an embedder");
    if (options->endpoint)
        TRY(open_endpoint_of(embedder, options->endpoint, error));
    else
        TRY(open_model_of(embedder, options, error));
done:
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
    doppel_endpoint_free(embedder->endpoint);
    free(embedder);
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
    enum doppel_status status =
        embedder->endpoint ? doppel_endpoint_embed(embedder->endpoint, texts, rows, outcomes, error)
                           : doppel_model_embed(embedder->model, texts, rows, outcomes, error);
    count_outcomes(&embedder->usage, outcomes, texts->count, status);
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
