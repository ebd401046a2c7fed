/**
 * doppel/client.h: a client of a doppel service, `doppel serve`: requests to it, and their answers.
 * Uses core. HTTP and TLS are libcurl's, which is loaded when the first client is made.
 *
 * A client is of one thread; others may be used beside it.
 */
#ifndef DOPPEL_CLIENT_H
#define DOPPEL_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <doppel/client_webhook.h>
#include <doppel/core.h>
#include <doppel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Strings are copied. */
struct doppel_client_options {
    const char *url; /**< "https://host:8040", or "unix:PATH" of a socket */
    const char *key; /**< of those of `doppel serve --keys`; NULL: it asks for none */
    const char *ca; /**< a file in PEM of who signs for the service; NULL: whom the system trusts */
    uint32_t timeout_s; /**< of one request; 0: 60 */
};

struct doppel_client;

/**
 * Nothing is sent yet.
 *
 * @param run borrowed for its life: when it is cancelled, requests end
 * @param out given (doppel_client_free)
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the URL; DOPPEL_E_UNSUPPORTED: libcurl is not there;
 *         DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_client_new(struct doppel_run *run,
                                                const struct doppel_client_options *options,
                                                struct doppel_client **out,
                                                struct doppel_error *error);
DOPPEL_API void doppel_client_free(struct doppel_client *client);

/** Borrowed. */
struct doppel_client_request {
    const char *method; /**< "GET" */
    const char *path;   /**< from the first '/' on, with what follows '?' */
    const char *type;   /**< of the body; NULL: there is none */
    const void *body;   /**< NULL: it is what `descriptor` reads from its beginning */
    size_t size;
    int descriptor;
    const char *idempotency_key; /**< the same with the same body is done once; NULL: none */
};

/** What was answered. */
struct doppel_client_answer {
    unsigned status; /**< of HTTP: 200 to 299 */
    char *body;      /**< ends in NUL, which does not count */
    size_t size;
};
DOPPEL_API void doppel_client_answer_free(struct doppel_client_answer *answer);

/**
 * Send a request and wait for its answer. Certificates are verified, redirects are not followed.
 *
 * @param most how many bytes the answer may have
 * @param out  given (doppel_client_answer_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_BUSY: the service cannot be reached, or cannot answer now, and may
 *         have done what was asked; DOPPEL_E_ARGUMENT: it refuses, or is not who it should be;
 *         DOPPEL_E_FORMAT: it cannot read what was sent (422); DOPPEL_E_NOT_FOUND; DOPPEL_E_LIMIT:
 *         the answer is longer, or the request too long for it (413); DOPPEL_E_IO: `descriptor`
 * cannot be read, or has less than `size`; DOPPEL_E_CANCELLED; _MEMORY
 */
DOPPEL_API enum doppel_status doppel_client_send(struct doppel_client *client,
                                                 const struct doppel_client_request *request,
                                                 size_t most, struct doppel_client_answer *out,
                                                 struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
