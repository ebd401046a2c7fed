/* A service is opened: its URL, and what its model is by the vector of a probe. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/address.h"
#include "core/bytes.h"
#include "core/clock.h"
#include "core/digest.h"
#include "core/text/text_copy.h"
#include "core/try.h"
#include "embed/endpoint/endpoint.h"

enum { MOST_TEXTS = 4096 };

static const double least_cosine = 0.999;

/* Never to be changed: revisions are made of its vector. */
static const char probe_text[] =
    "The harbour was quiet when the first boats came in. Baskets of silver fish were carried up "
    "the stone steps, weighed, and sold before the sun stood over the lighthouse; by noon only "
    "the gulls were left, and a clerk who added up what everybody owed to everybody else.";

struct doppel_endpoint_options doppel_endpoint_options_default(void)
{
    return (struct doppel_endpoint_options){.most_texts = 64,
                                            .most_bytes = 256 << 10,
                                            .min_letters = 200,
                                            .timeout_ms = 60000,
                                            .tries = 6,
                                            .wait_ms = 500,
                                            .most_wait_ms = 60000};
}

/* ---- where ---- */

/* The URL that is asked, by that which was given. NULL without memory. */
static char *make_url(const char *given)
{
    static const char last[] = "/embeddings";
    size_t size = strcspn(given, "?");
    const char *query = given + size, *host = strstr(given, "//") + 2;
    while (given[size - 1] == '/')
        size--;
    bool has_path = host + strcspn(host, "/") < given + size;
    bool whole = has_path && size >= strlen(last) &&
                 strncmp(given + size - strlen(last), last, strlen(last)) == 0;
    char *url = malloc(size + strlen("/v1") + strlen(last) + strlen(query) + 1);
    if (url)
        sprintf(url, "%.*s%s%s%s", (int)size, given, has_path ? "" : "/v1", whole ? "" : last,
                query);
    return url;
}

/* Whether a URL names this machine itself. */
static bool is_loopback_host(const struct host_port *host)
{
    struct sockaddr_storage address;
    return strcmp(host->host, "localhost") == 0 ||
           (address_parse(host->host, &address) &&
            address_is_loopback((struct sockaddr *)&address));
}

static enum doppel_status take_endpoint_url(struct doppel_endpoint *endpoint,
                                            const struct doppel_endpoint_options *options,
                                            struct doppel_error *error)
{
    struct host_port host;
    if (!options->url || !http_url_parse(options->url, &host))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%.200s' is no URL of http or https, without a user and a fragment",
                           options->url ? options->url : "");
    endpoint->reach = is_loopback_host(&host) ? POST_LOOPBACK : POST_ANYWHERE;
    if (endpoint->reach == POST_ANYWHERE &&
        !host_is_allowed(options->allowed, options->allowed_count, &host))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "texts are sent to this machine alone, unless '%.100s' is allowed",
                           host.host);
    endpoint->url = make_url(options->url);
    endpoint->place = endpoint->url ? strndup(endpoint->url, strcspn(endpoint->url, "?")) : NULL;
    return endpoint->place ? DOPPEL_OK
                           : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an endpoint");
}

/* ---- the rest of the options ---- */

static bool is_key(const char *key)
{
    for (const char *at = key; *at; at++)
        if (*at <= ' ' || *at > '~')
            return false;
    return *key;
}

static enum doppel_status check_endpoint_options(const struct doppel_endpoint_options *options,
                                                 struct doppel_error *error)
{
    if (!options->model || !*options->model)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an endpoint wants the name of a model");
    if (options->key && !is_key(options->key))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the key of the endpoint has characters that no key has, or none");
    if (!options->most_texts || options->most_texts > MOST_TEXTS || !options->timeout_ms ||
        !options->tries)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an endpoint takes 1 to %d texts, a time and some tries", MOST_TEXTS);
    return DOPPEL_OK;
}

static enum doppel_status copy_options(struct doppel_endpoint *endpoint,
                                       const struct doppel_endpoint_options *options,
                                       struct doppel_error *error)
{
    static const char bearer[] = "Authorization: Bearer ";
    bool no_memory = false;
    endpoint->options = *options;
    endpoint->options.url = endpoint->options.model = NULL;
    endpoint->options.prefix = endpoint->options.key = NULL;
    endpoint->options.allowed = NULL;
    endpoint->options.known = NULL;
    endpoint->most_texts = options->most_texts;
    endpoint->random = (uint64_t)monotonic_ns();
    endpoint->model = copy_text(options->model, &no_memory);
    endpoint->prefix = copy_text(options->prefix, &no_memory);
    endpoint->key = copy_text(options->key, &no_memory);
    if (options->key) {
        endpoint->authorization = malloc(sizeof bearer + strlen(options->key));
        if (endpoint->authorization)
            stpcpy(stpcpy(endpoint->authorization, bearer), options->key);
    }
    return no_memory || !endpoint->authorization != !options->key
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an endpoint")
               : DOPPEL_OK;
}

/* ---- what its model is ---- */

/* 32 hex digits. @return false: no memory */
static bool make_revision(const struct doppel_endpoint *endpoint, char out[33])
{
    struct digest_stream *stream = digest_stream_new();
    struct doppel_digest digest;
    const char *prefix = endpoint->prefix ? endpoint->prefix : "";
    if (!stream)
        return false;
    digest_stream_begin(stream);
    digest_stream_add(stream, endpoint->model, strlen(endpoint->model) + 1);
    digest_stream_add(stream, prefix, strlen(prefix) + 1);
    for (uint32_t i = 0; i < endpoint->info.dimension; i++) {
        uint8_t rounded[4];
        put_u32(rounded, (uint32_t)lrintf(endpoint->probe[i] * 1000));
        digest_stream_add(stream, rounded, sizeof rounded);
    }
    digest = digest_stream_get(stream);
    doppel_hex_encode(digest.bytes, sizeof digest.bytes, out);
    digest_stream_free(stream);
    return true;
}

bool endpoint_is_same_probe(const float *a, const float *b, uint32_t dimension, double *out_cosine)
{
    double cosine = 0;
    for (uint32_t i = 0; i < dimension; i++)
        cosine += (double)a[i] * (double)b[i];
    *out_cosine = cosine;
    return cosine >= least_cosine;
}

static enum doppel_status compare_probes(const struct doppel_endpoint *endpoint,
                                         const struct doppel_endpoint_known *known,
                                         struct doppel_error *error)
{
    double cosine;
    if (known->dimension != endpoint->info.dimension)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "%.200s: '%.100s' has vectors of %u numbers now, and had %u: it is "
                           "another model",
                           endpoint->place, endpoint->model, endpoint->info.dimension,
                           known->dimension);
    if (!endpoint_is_same_probe(known->probe, endpoint->probe, known->dimension, &cosine))
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "%.200s: '%.100s' has other vectors than before (cosine %.4f of the "
                           "same text): it is another model",
                           endpoint->place, endpoint->model, cosine);
    return DOPPEL_OK;
}

enum doppel_status endpoint_ask_probe(struct doppel_endpoint *endpoint, struct doppel_error *error)
{
    static const char *const text = probe_text;
    static const size_t place = 0;
    const struct doppel_model_texts texts = {.texts = &text, .count = 1};
    const struct endpoint_batch batch = {&texts, &place, 1, true};
    struct doppel_error reason;
    enum doppel_status status, refusal;
    TRY(endpoint_ask(endpoint, &batch, &refusal, &reason, error));
    if (refusal == DOPPEL_E_FORMAT && !endpoint->without_base64) {
        endpoint->without_base64 = true;
        TRY(endpoint_ask(endpoint, &batch, &refusal, &reason, error));
    }
    if (refusal)
        status = doppel_fail(error, DOPPEL_E_ARGUMENT, "%s", reason.message);
done:
    return status;
}

static enum doppel_status take_probe(struct doppel_endpoint *endpoint,
                                     const struct doppel_endpoint_known *known,
                                     struct doppel_error *error)
{
    struct endpoint_vectors vectors = {0};
    struct doppel_endpoint_info *info = &endpoint->info;
    enum doppel_status status;
    TRY(endpoint_ask_probe(endpoint, error));
    TRY(endpoint_take_answer(endpoint, 1, 0, &vectors, error));
    if (vectors.each[0])
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT,
                        "%.200s: a vector of '%.100s' is zero, or has what is no number",
                        endpoint->place, endpoint->model));
    endpoint->probe = vectors.rows;
    vectors.rows = NULL;
    info->model = endpoint->model;
    info->probe = endpoint->probe;
    info->dimension = vectors.dimension;
    if (known)
        TRY(compare_probes(endpoint, known, error));
    if (known)
        snprintf(info->revision, sizeof info->revision, "%s", known->revision);
    else if (!make_revision(endpoint, info->revision))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an endpoint");
done:
    endpoint_vectors_free(&vectors);
    return status;
}

/* ---- opening ---- */

static enum doppel_status make_pause(struct doppel_endpoint *endpoint, struct doppel_error *error)
{
    endpoint->pause = calloc(1, sizeof *endpoint->pause);
    if (!endpoint->pause)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an endpoint");
    pthread_mutex_init(&endpoint->pause->lock, NULL);
    return DOPPEL_OK;
}

enum doppel_status doppel_endpoint_open(const struct doppel_endpoint_options *options,
                                        struct doppel_endpoint **out, struct doppel_error *error)
{
    struct doppel_endpoint *endpoint = calloc(1, sizeof *endpoint);
    enum doppel_status status;
    if (!endpoint)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an endpoint");
    TRY(make_pause(endpoint, error));
    TRY(check_endpoint_options(options, error));
    TRY(take_endpoint_url(endpoint, options, error));
    TRY(copy_options(endpoint, options, error));
    TRY(take_probe(endpoint, options->known, error));
done:
    if (status)
        doppel_endpoint_free(endpoint);
    else
        *out = endpoint;
    return status;
}

struct doppel_endpoint *endpoint_copy(struct doppel_endpoint *endpoint, void *context)
{
    struct doppel_endpoint *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *endpoint;
    copy->options.context = context;
    copy->info.tokens = copy->info.requests = 0;
    copy->random += (uintptr_t)copy;
    copy->is_copy = true;
    endpoint->poster.handle = NULL; /* the first takes the connection over */
    copy->answer = (struct post_answer){0};
    copy->body = (struct doppel_json){0};
    copy->text = (struct embed_text){0};
    return copy;
}

static void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

static void free_of_opened(struct doppel_endpoint *endpoint)
{
    if (endpoint->pause)
        pthread_mutex_destroy(&endpoint->pause->lock);
    free(endpoint->pause);
    free_secret(endpoint->key);
    free_secret(endpoint->authorization);
    free(endpoint->probe);
    free(endpoint->url);
    free(endpoint->place);
    free(endpoint->model);
    free(endpoint->prefix);
}

void doppel_endpoint_free(struct doppel_endpoint *endpoint)
{
    if (!endpoint)
        return;
    poster_free(&endpoint->poster);
    post_answer_free(&endpoint->answer);
    doppel_json_free(&endpoint->body);
    embed_text_free(&endpoint->text);
    if (!endpoint->is_copy)
        free_of_opened(endpoint);
    free(endpoint);
}

const struct doppel_endpoint_info *doppel_endpoint_info(const struct doppel_endpoint *endpoint)
{
    return &endpoint->info;
}
