/**
 * doppel/client_webhook.h: a POST to an address that somebody else has named, signed, and only to
 * hosts that are allowed. Part of doppel/client.h.
 *
 * What is sent follows Standard Webhooks (standardwebhooks.com): `webhook-id`, `webhook-timestamp`
 * (seconds since 1970) and `webhook-signature`, "v1," and the base64 of the HMAC-SHA-256 of "ID.
 * TIMESTAMP.BODY", without the blank.
 */
#ifndef DOPPEL_WEBHOOK_H
#define DOPPEL_WEBHOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/** All borrowed. */
struct doppel_webhook_options {
    /** Whom may be called: "HOST", at the usual port of http and https, or "HOST:PORT"; a version 6
     * address in brackets. What a name resolves to must be public; an address may be any. */
    const char *const *allowed;
    size_t allowed_count;
    const void *secret; /**< by which is signed */
    size_t secret_size;
};

/** Whether a URL may be called, by what it says: nothing is resolved. Thread-safe.
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: it is none of http or https, without a user and a fragment;
 *         DOPPEL_E_UNSUPPORTED: its host is not allowed */
DOPPEL_API enum doppel_status doppel_webhook_check(const struct doppel_webhook_options *options,
                                                   const char *url, struct doppel_error *error);

/** Whether "HOST" or "HOST:PORT" can be among the allowed. Thread-safe. */
DOPPEL_API bool doppel_webhook_is_host(const char *allowed);

/** A call. Borrowed. */
struct doppel_webhook_call {
    const char *url;
    const char *id; /**< the same at each try */
    int64_t time_s; /**< since 1970 */
    const char *body;
    size_t size;
};

/** The signature of a call. Thread-safe. */
enum { DOPPEL_WEBHOOK_SIGNATURE = 3 + 44 + 1 };
DOPPEL_API void doppel_webhook_sign(const struct doppel_webhook_options *options,
                                    const struct doppel_webhook_call *call,
                                    char out[DOPPEL_WEBHOOK_SIGNATURE]);

/**
 * Call. Redirects are not followed, no proxy is asked; each address is checked as it is connected
 * to, after it was resolved. What is answered is not read beyond 64 KB.
 *
 * @param run when it is cancelled, the call ends
 * @return DOPPEL_OK: it was answered by 2xx; DOPPEL_E_BUSY: it may be tried again, and why;
 *         as doppel_webhook_check; DOPPEL_E_CANCELLED; _UNSUPPORTED: libcurl is not there;
 *         _MEMORY
 */
DOPPEL_API enum doppel_status doppel_webhook_send(struct doppel_run *run,
                                                  const struct doppel_webhook_options *options,
                                                  const struct doppel_webhook_call *call,
                                                  struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
