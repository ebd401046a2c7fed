/**
 * doppel/embed_endpoint.h: vectors of texts from a service of OpenAI's kind, `POST /v1/embeddings`,
 * as llama.cpp, Ollama, TEI, vLLM and OpenAI have it. Part of doppel/embed.h.
 *
 *     struct doppel_endpoint_options options = doppel_endpoint_options_default();
 *     options.url = "http://127.0.0.1:8080";
 *     options.model = "nomic-embed-text";
 *     doppel_endpoint_open(&options, &endpoint, &error);
 *     doppel_endpoint_info(endpoint)->dimension;
 *     doppel_endpoint_embed(endpoint, &texts, rows, each, &error);
 *
 * HTTP and TLS are libcurl's, which is loaded when the first endpoint is opened. An endpoint is of
 * one thread at a time; others may be used beside it.
 */
#ifndef DOPPEL_EMBED_ENDPOINT_H
#define DOPPEL_EMBED_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_model_texts;

/** What an endpoint's model is, which is noticed if the service changes it silently. */
struct doppel_endpoint_info {
    const char *model; /**< as it was asked for */
    char revision[33]; /**< 32 hex digits: XXH3-128 of the model, the prefix and `probe`, rounded to
                          3 decimals; or that of `known` */
    uint32_t dimension; /**< 1 to DOPPEL_MODEL_MAX_DIMENSION */
    const float *probe; /**< the unit vector of a text that is always the same */
    uint64_t tokens;    /**< as the service counted them, so far; 0 where it does not */
    uint64_t requests;  /**< that were sent so far, with those that were tried again */
};

/** What was kept of an endpoint's info, to be compared with what it answers now. All borrowed. */
struct doppel_endpoint_known {
    const char *revision; /**< 32 hex digits */
    const float *probe;
    uint32_t dimension;
};

/** Strings, and `allowed` and `known`, are copied or looked at by doppel_endpoint_open alone. */
struct doppel_endpoint_options {
    /** Of http or https. Where its path ends in "/embeddings" it is asked as it is; where it has
     * none, "/v1/embeddings" is appended; else "/embeddings". What follows '?' stays. */
    const char *url;
    const char *model;
    const char *prefix; /**< what stands before every text; NULL: nothing */
    const char *key;    /**< sent as "Authorization: Bearer"; NULL: none. No message has it */
    /** Hosts besides this machine: "HOST", at the usual port of http and https, or "HOST:PORT"; a
     * version 6 address in brackets. */
    const char *const *allowed;
    size_t allowed_count;
    size_t most_texts;     /**< of a request, 1 to 4096; default 64 */
    size_t most_bytes;     /**< of a request's texts, unless it has one alone; default 256 KB */
    uint32_t min_letters;  /**< texts with fewer are not sent; default 200 */
    uint32_t timeout_ms;   /**< of a request; default 60 000 */
    uint32_t tries;        /**< of a request that may succeed later; default 6 */
    uint32_t wait_ms;      /**< before the second try, doubled before each more, times .5 to 1;
                              default 500 */
    uint32_t most_wait_ms; /**< whatever the service asks for; default 60 000 */
    const struct doppel_endpoint_known *known; /**< NULL: nothing */

    bool (*stopped)(void *context); /**< whether to stop soon; NULL: never */
    /** The service refuses a text, or has no vector of it that is one; the others go on.
     * @param text its place in the call. NULL: nobody is told */
    void (*on_refused)(void *context, size_t text, const struct doppel_error *reason);
    /** A request is sent again, after a time. @param tries that were made of it; NULL: not told */
    void (*on_retry)(void *context, uint32_t tries, uint32_t wait_ms,
                     const struct doppel_error *reason);
    void *context; /**< of the three */
};

DOPPEL_API struct doppel_endpoint_options doppel_endpoint_options_default(void);

struct doppel_endpoint;

/**
 * Ask for the vector of the probe: from its answer come the dimension and the revision. A service
 * that refuses `"encoding_format":"base64"` is asked without it from then on.
 *
 * @param out given (doppel_endpoint_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the URL, the model, the key or a number; or the service
 *         refuses, which is said; DOPPEL_E_UNSUPPORTED: the host is not allowed, or libcurl is not
 *         there; DOPPEL_E_VERSION: the cosine of the probe to that of `known` is below .999, or it
 *         has another dimension; and as doppel_endpoint_embed
 */
DOPPEL_API enum doppel_status doppel_endpoint_open(const struct doppel_endpoint_options *options,
                                                   struct doppel_endpoint **out,
                                                   struct doppel_error *error);
DOPPEL_API void doppel_endpoint_free(struct doppel_endpoint *endpoint);

/** Borrowed for its life; `tokens` and `requests` grow. */
DOPPEL_API const struct doppel_endpoint_info *doppel_endpoint_info(
    const struct doppel_endpoint *endpoint);

/**
 * Vectors of texts, each of length 1, in as many requests as it takes.
 *
 * A request that is refused by 400, 413 or 422, is not answered in time, or fails by 500 twice, is
 * halved, down to a text alone. By 408, 429, 5xx but 501, and when a connection fails, it is tried
 * again.
 *
 * @param texts NUL is sent as a blank, what is no UTF-8 as U+FFFD
 * @param rows  room for `count` × dimension floats: the vector of text i begins at rows + i ×
 *        dimension; zeros where there is none
 * @param each  NULL, or `count` of: DOPPEL_OK; DOPPEL_E_TOO_SHORT: fewer letters than wanted, or
 *        no bytes; DOPPEL_E_LIMIT: the service says that the text is too long (413);
 *        DOPPEL_E_FORMAT: it refuses it (400, 422), or fails by it (500) and not by the probe;
 * DOPPEL_E_CORRUPT: its vector is zero, or has what is no number; what the call returns: it was not
 * embedded
 * @return DOPPEL_OK; DOPPEL_E_BUSY: it cannot be reached, or has no time, after all tries;
 *         DOPPEL_E_TIMEOUT: likewise; DOPPEL_E_ARGUMENT: it refuses (401, 403 and others);
 *         DOPPEL_E_NOT_FOUND (404); DOPPEL_E_FORMAT: the answer is none of this kind;
 *         DOPPEL_E_CORRUPT: the answer does not fit what was asked: count, index, dimension;
 *         DOPPEL_E_LIMIT: the answer is longer than any can be; DOPPEL_E_CANCELLED;
 *         DOPPEL_E_MEMORY. Vectors that came before a failure stay.
 *
 * Source: docs/methods.md.
 */
DOPPEL_API enum doppel_status doppel_endpoint_embed(struct doppel_endpoint *endpoint,
                                                    const struct doppel_model_texts *texts,
                                                    float *rows, enum doppel_status *each,
                                                    struct doppel_error *error);

#ifdef __cplusplus
}
#endif

#endif
