/* Webhooks: checked, signed, sent. */
#include <doppel/client_webhook.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <nettle/base64.h>
#include <nettle/hmac.h>

#include "client/address.h"
#include "client/libcurl.h"
#include "client/post.h"
#include "core/try.h"

enum { CALL_MS = 30000, MOST_ANSWER = 64 << 10 };

/* ---- whom ---- */

bool doppel_webhook_is_host(const char *allowed)
{
    struct host_port host;
    return host_port_parse(allowed, "", &host) != NULL;
}

enum doppel_status doppel_webhook_check(const struct doppel_webhook_options *options,
                                        const char *url, struct doppel_error *error)
{
    struct host_port host;
    if (!http_url_parse(url, &host))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a webhook is a URL of http or https, without a user and a fragment");
    return host_is_allowed(options->allowed, options->allowed_count, &host)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                             "webhooks of '%.100s' are not allowed (--webhook-allow)", host.host);
}

/* ---- the signature ---- */

void doppel_webhook_sign(const struct doppel_webhook_options *options,
                         const struct doppel_webhook_call *call, char out[DOPPEL_WEBHOOK_SIGNATURE])
{
    struct hmac_sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char time[32];
    int time_size = snprintf(time, sizeof time, ".%" PRId64 ".", call->time_s);
    hmac_sha256_set_key(&context, options->secret_size, options->secret);
    hmac_sha256_update(&context, strlen(call->id), (const uint8_t *)call->id);
    hmac_sha256_update(&context, (size_t)time_size, (const uint8_t *)time);
    hmac_sha256_update(&context, call->size, (const uint8_t *)call->body);
    hmac_sha256_digest(&context, sizeof digest, digest);
    memset(out, 0, DOPPEL_WEBHOOK_SIGNATURE);
    base64_encode_raw(stpcpy(out, "v1,"), sizeof digest, digest);
}

/* ---- the call ---- */

static bool run_is_over(void *context)
{
    return doppel_run_cancelled(context);
}

static enum doppel_status outcome_of_call(enum doppel_status status,
                                          const struct post_answer *answer,
                                          struct doppel_error *error)
{
    if (status == DOPPEL_E_CANCELLED || status == DOPPEL_E_MEMORY)
        return status;
    if (status) /* the sentence stays */
        return doppel_fail(error, DOPPEL_E_BUSY, "%s", error ? error->message : "");
    if (answer->status < 200 || answer->status > 299)
        return doppel_fail(error, DOPPEL_E_BUSY, "it answers %u%s", answer->status,
                           answer->status / 100 == 3 ? ": redirects are not followed" : "");
    return DOPPEL_OK;
}

enum doppel_status doppel_webhook_send(struct doppel_run *run,
                                       const struct doppel_webhook_options *options,
                                       const struct doppel_webhook_call *call,
                                       struct doppel_error *error)
{
    char signature[DOPPEL_WEBHOOK_SIGNATURE], id[160], time[64], signed_by[96];
    const char *headers[] = {"Content-Type: application/json", id, time, signed_by};
    const struct post post = {.url = call->url,
                              .headers = headers,
                              .header_count = sizeof headers / sizeof *headers,
                              .body = call->body,
                              .size = call->size,
                              .reach = POST_PUBLIC,
                              .timeout_ms = CALL_MS,
                              .most = MOST_ANSWER,
                              .stopped = run_is_over,
                              .context = run};
    struct poster poster = {0};
    struct post_answer answer = {0};
    const struct libcurl *curl;
    enum doppel_status status;
    TRY(doppel_webhook_check(options, call->url, error));
    TRY(libcurl_load(&curl, error));
    doppel_webhook_sign(options, call, signature);
    snprintf(id, sizeof id, "webhook-id: %.100s", call->id);
    snprintf(time, sizeof time, "webhook-timestamp: %" PRId64, call->time_s);
    snprintf(signed_by, sizeof signed_by, "webhook-signature: %s", signature);
    status = outcome_of_call(post_send(&poster, &post, &answer, error), &answer, error);
done:
    poster_free(&poster);
    post_answer_free(&answer);
    return status;
}
