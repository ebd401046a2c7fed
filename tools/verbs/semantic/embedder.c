/* What texts are embedded by, as the command line has it. */
#include "tools/verbs/semantic/embedder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "tools/signals.h"

/* ---- a model of this machine ---- */

/* The model of the vectors that are there, else the only one. @param out room for a name */
static enum doppel_status choose_model(const char *folder,
                                       const struct doppel_embedder_identity *kept, char *out,
                                       struct doppel_error *error)
{
    size_t count;
    enum doppel_status status = doppel_embedder_choose(folder, kept, out, &count, error);
    if (status == DOPPEL_E_ARGUMENT)
        return doppel_fail(error, status,
                           "there are %zu embedding models: say which with --model, see 'doppel "
                           "model list'",
                           count);
    if (status == DOPPEL_E_NOT_FOUND && count)
        return doppel_fail(error, status,
                           "the vectors of the library are of the model '%s', and none of the %zu "
                           "embedding models here is that one: add it with 'doppel model add', or "
                           "give --embeddings, if a service has it",
                           kept->name, count);
    return status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, status,
                             "--semantic wants an embedding model: add one with 'doppel model add'")
               : status;
}

static enum doppel_status open_model(const struct settings *settings,
                                     const struct doppel_embedder_identity *kept,
                                     struct embedder_of_run *out, struct doppel_error *error)
{
    struct doppel_embedder_options options = doppel_embedder_options_default();
    char name[DOPPEL_MODEL_MAX_NAME + 1] = "", *folder = model_folder();
    enum doppel_status status;
    if (!folder)
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND,
                        "there is no folder for models: set $DOPPEL_MODELS, or $HOME"));
    if (!settings->model)
        TRY(choose_model(folder, kept, name, error));
    options.folder = folder;
    options.name = settings->model ? settings->model : name;
    TRY(doppel_embedder_open(&options, &out->embedder, error));
done:
    free(folder);
    return status;
}

/* ---- a service ---- */

static bool is_run_stopped(void *context)
{
    (void)context;
    return signals_stopped();
}

static void keep_first_refusal(void *context, size_t text, const struct doppel_error *reason)
{
    struct embedder_of_run *run = context;
    (void)text;
    if (!run->refusal.status)
        run->refusal = *reason;
}

/* One that fails once is nothing new; to wait for one without a word is. */
static void show_retry(void *context, uint32_t tries, uint32_t wait_ms,
                       const struct doppel_error *reason)
{
    const struct embedder_of_run *run = context;
    if (run->report->verbose || tries >= 3 || wait_ms >= 5000 || reason->status == DOPPEL_E_TIMEOUT)
        report_notice(run->report, "%s; it is asked again in %.1f s", reason->message,
                      (double)wait_ms / 1000);
}

static void show_embedder_notice(void *context, const char *sentence)
{
    const struct embedder_of_run *run = context;
    report_notice(run->report, "%s", sentence);
}

static struct doppel_endpoint_options endpoint_from(const struct settings *settings)
{
    struct doppel_endpoint_options endpoint = doppel_endpoint_options_default();
    endpoint.url = settings->embeddings;
    endpoint.model = settings->model;
    endpoint.key = settings->embeddings_secret;
    endpoint.allowed = settings->allow_hosts.items;
    endpoint.allowed_count = settings->allow_hosts.count;
    endpoint.stopped = is_run_stopped;
    return endpoint;
}

static enum doppel_status open_service(const struct settings *settings, struct embedder_of_run *out,
                                       struct doppel_error *error)
{
    struct doppel_embedder_options options = doppel_embedder_options_default();
    struct doppel_endpoint_options endpoint = endpoint_from(settings);
    char *cache = vector_cache_file(settings, true), *folder = model_folder();
    endpoint.on_refused = keep_first_refusal;
    endpoint.on_retry = show_retry;
    endpoint.context = out;
    options.folder = folder; /* a whitened model may have that name */
    options.endpoint = &endpoint;
    options.cache = cache;
    options.retry_refused = settings->retry;
    options.price = settings->price;
    options.max_cost = settings->max_cost;
    options.on_notice = show_embedder_notice;
    options.context = out;
    out->is_service = true;
    struct doppel_error reason;
    enum doppel_status status = doppel_embedder_open(&options, &out->embedder, &reason);
    if (status == DOPPEL_E_VERSION && cache)
        doppel_fail(error, status, "%s. To forget that one: doppel model remove '%.100s'",
                    reason.message, settings->model);
    else if (status == DOPPEL_E_UNSUPPORTED)
        doppel_fail(error, status, "%s (--allow-host)", reason.message);
    else if (status)
        doppel_fail(error, status, "%s", reason.message);
    free(cache);
    free(folder);
    return status;
}

enum doppel_status embedder_open_for(const struct settings *settings, struct report *report,
                                     const struct doppel_embedder_identity *kept,
                                     struct embedder_of_run *out, struct doppel_error *error)
{
    *out = (struct embedder_of_run){.report = report};
    return settings->embeddings ? open_service(settings, out, error)
                                : open_model(settings, kept, out, error);
}

enum doppel_status embedder_open(const struct settings *settings, struct report *report,
                                 struct embedder_of_run *out, struct doppel_error *error)
{
    return embedder_open_for(settings, report, NULL, out, error);
}

void embedder_close(struct embedder_of_run *run)
{
    doppel_embedder_free(run->embedder);
    run->embedder = NULL;
}

/* ---- of doppel serve ---- */

static void show_served_notice(void *context, const char *sentence)
{
    report_notice(context, "%s", sentence);
}

void served_embedder_fill(const struct settings *settings, struct report *report,
                          struct served_embedder *out)
{
    *out = (struct served_embedder){.options = doppel_embedder_options_default(),
                                    .endpoint = endpoint_from(settings),
                                    .folder = model_folder()};
    out->options.folder = out->folder;
    out->options.name = settings->model;
    out->options.on_notice = show_served_notice;
    out->options.context = report;
    if (!settings->embeddings)
        return;
    out->options.cache = out->cache = vector_cache_file(settings, true);
    out->options.endpoint = &out->endpoint;
}

void served_embedder_free(struct served_embedder *served)
{
    free(served->folder);
    free(served->cache);
}

/* ---- what it takes, and took ---- */

enum doppel_status embedder_foresee(struct embedder_of_run *run,
                                    const struct doppel_model_texts *texts,
                                    struct doppel_error *error)
{
    return doppel_embedder_foresee(run->embedder, texts, &run->estimate, error);
}

/* ", about 0.12 at that price"; nothing where there is none. */
static void format_cost(double cost, const char *words, char out[64])
{
    out[0] = '\0';
    if (cost > 0)
        snprintf(out, 64, ", %s%.*f", words, cost < 1 ? 4 : 2, cost);
}

enum doppel_status embedder_begin(struct embedder_of_run *run, struct doppel_error *error)
{
    const struct doppel_embedder_estimate *estimate = &run->estimate;
    char cost[64];
    format_cost(estimate->cost, "about $", cost);
    report_notice(run->report,
                  "to be embedded: %llu texts, about %llu tokens by their bytes%s; %llu are in the "
                  "cache",
                  (unsigned long long)estimate->wanted, (unsigned long long)estimate->tokens, cost,
                  (unsigned long long)estimate->cached);
    return doppel_embedder_check_cost(run->embedder, estimate, error);
}

void embedder_print_usage(const struct embedder_of_run *run, bool failed)
{
    if (!run->is_service || !run->embedder)
        return;
    const struct doppel_embedder_usage usage = doppel_embedder_usage(run->embedder);
    report_notice(run->report,
                  "'%s' embedded %llu texts: %llu tokens in %llu requests; %llu were in the cache, "
                  "%llu too short, %llu refused",
                  doppel_embedder_identity(run->embedder)->name, (unsigned long long)usage.embedded,
                  (unsigned long long)usage.tokens, (unsigned long long)usage.requests,
                  (unsigned long long)usage.cached, (unsigned long long)usage.too_short,
                  (unsigned long long)usage.refused);
    if (run->refusal.status)
        report_notice(run->report, "the first that was refused: %s", run->refusal.message);
    if (failed && usage.kept)
        report_notice(run->report, "%llu vectors are kept: the next run goes on from there",
                      (unsigned long long)usage.kept);
}
