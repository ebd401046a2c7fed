/* Webhooks: checked, signed, sent. */
#include <doppel/client_webhook.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/address.h"
#include "client/libcurl.h"
#include "core/try.h"

enum { CONNECT_SECONDS = 10, CALL_SECONDS = 30, MOST_ANSWER = 64 << 10, LONGEST_URL = 2000 };

/* ---- whom ---- */

bool doppel_webhook_is_host(const char *allowed)
{
    struct host_port host;
    return host_port_parse(allowed, "", &host) != NULL;
}

/* @return false: it is no URL of a kind that is called */
static bool parse_url(const char *url, struct host_port *out)
{
    bool tls = strncasecmp(url, "https://", 8) == 0;
    if ((!tls && strncasecmp(url, "http://", 7) != 0) || strlen(url) > LONGEST_URL)
        return false;
    for (const char *at = url; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '#' || *at == '\\' || *at == '@')
            return false;
    if (!host_port_parse(url + (tls ? 8 : 7), "/?", out))
        return false;
    if (!out->port)
        out->port = tls ? 443 : 80;
    return true;
}

static bool is_host_allowed(const struct doppel_webhook_options *options,
                            const struct host_port *host)
{
    for (size_t i = 0; i < options->allowed_count; i++) {
        struct host_port allowed;
        if (!host_port_parse(options->allowed[i], "", &allowed) ||
            strcmp(allowed.host, host->host) != 0)
            continue;
        if (allowed.port ? allowed.port == host->port : host->port == 80 || host->port == 443)
            return true;
    }
    return false;
}

static enum doppel_status check_url(const struct doppel_webhook_options *options, const char *url,
                                    struct host_port *out, struct doppel_error *error)
{
    if (!parse_url(url, out))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a webhook is a URL of http or https, without a user and a fragment");
    return is_host_allowed(options, out)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                             "webhooks of '%.100s' are not allowed (--webhook-allow)", out->host);
}

enum doppel_status doppel_webhook_check(const struct doppel_webhook_options *options,
                                        const char *url, struct doppel_error *error)
{
    struct host_port host;
    return check_url(options, url, &host, error);
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

struct sending {
    struct doppel_run *run;
    struct host_port host;
    struct sockaddr_storage address; /* that the URL names */
    bool has_address, refused, too_long;
    size_t answered;
};

/* What a name resolves to is checked as it is connected to: so it cannot change in between. */
static curl_socket_t open_checked(void *context, curlsocktype purpose,
                                  struct curl_sockaddr *address)
{
    struct sending *sending = context;
    (void)purpose;
    bool allowed = sending->has_address
                       ? address_equal(&address->addr, (struct sockaddr *)&sending->address)
                       : address_is_public(&address->addr);
    if (!allowed) {
        sending->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t pass_over_answer(char *bytes, size_t one, size_t size, void *context)
{
    struct sending *sending = context;
    (void)bytes;
    (void)one; /* is 1 */
    sending->answered += size;
    sending->too_long = sending->answered > MOST_ANSWER;
    return sending->too_long ? 0 : size;
}

static int end_if_run_is_over(void *context, curl_off_t down, curl_off_t downloaded, curl_off_t up,
                              curl_off_t uploaded)
{
    const struct sending *sending = context;
    (void)down;
    (void)downloaded;
    (void)up;
    (void)uploaded;
    return doppel_run_cancelled(sending->run);
}

static bool add_line(const struct libcurl *curl, struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl->slist_append(*list, line);
    if (longer)
        *list = longer;
    return longer;
}

static bool make_call_headers(const struct libcurl *curl,
                              const struct doppel_webhook_options *options,
                              const struct doppel_webhook_call *call, struct curl_slist **out)
{
    char signature[DOPPEL_WEBHOOK_SIGNATURE], id[160], time[64], signed_by[96];
    doppel_webhook_sign(options, call, signature);
    snprintf(id, sizeof id, "webhook-id: %.100s", call->id);
    snprintf(time, sizeof time, "webhook-timestamp: %" PRId64, call->time_s);
    snprintf(signed_by, sizeof signed_by, "webhook-signature: %s", signature);
    return add_line(curl, out, "Expect:") &&
           add_line(curl, out, "Content-Type: application/json") && add_line(curl, out, id) &&
           add_line(curl, out, time) && add_line(curl, out, signed_by);
}

static bool set_call(const struct libcurl *curl, CURL *handle,
                     const struct doppel_webhook_call *call, struct curl_slist *headers,
                     struct sending *sending)
{
    __typeof__(curl->setopt) set = curl->setopt;
    return !(
        set(handle, CURLOPT_URL, call->url) || set(handle, CURLOPT_PROTOCOLS_STR, "http,https") ||
        set(handle, CURLOPT_FOLLOWLOCATION, 0L) || set(handle, CURLOPT_PROXY, "") ||
        set(handle, CURLOPT_NOSIGNAL, 1L) || set(handle, CURLOPT_USERAGENT, "doppel") ||
        set(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) ||
        set(handle, CURLOPT_TIMEOUT, (long)CALL_SECONDS) ||
        set(handle, CURLOPT_HTTPHEADER, headers) || set(handle, CURLOPT_POSTFIELDS, call->body) ||
        set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->size) ||
        set(handle, CURLOPT_OPENSOCKETFUNCTION, open_checked) ||
        set(handle, CURLOPT_OPENSOCKETDATA, sending) ||
        set(handle, CURLOPT_WRITEFUNCTION, pass_over_answer) ||
        set(handle, CURLOPT_WRITEDATA, sending) || set(handle, CURLOPT_NOPROGRESS, 0L) ||
        set(handle, CURLOPT_XFERINFOFUNCTION, end_if_run_is_over) ||
        set(handle, CURLOPT_XFERINFODATA, sending));
}

static enum doppel_status outcome_of_call(const struct libcurl *curl, CURL *handle, CURLcode code,
                                          const struct sending *sending, struct doppel_error *error)
{
    long status = 0;
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    if (sending->refused)
        return doppel_fail(error, DOPPEL_E_BUSY,
                           "'%.100s' has an address of a private network: allow the address itself",
                           sending->host.host);
    if (code != CURLE_OK && !sending->too_long)
        return doppel_fail(error, DOPPEL_E_BUSY, "%s", curl->easy_strerror(code));
    if (curl->getinfo(handle, CURLINFO_RESPONSE_CODE, &status) || status < 200 || status > 299)
        return doppel_fail(error, DOPPEL_E_BUSY, "it answers %ld%s", status,
                           status / 100 == 3 ? ": redirects are not followed" : "");
    return DOPPEL_OK;
}

enum doppel_status doppel_webhook_send(struct doppel_run *run,
                                       const struct doppel_webhook_options *options,
                                       const struct doppel_webhook_call *call,
                                       struct doppel_error *error)
{
    const struct libcurl *curl;
    struct sending sending = {.run = run};
    struct curl_slist *headers = NULL;
    CURL *handle = NULL;
    enum doppel_status status;
    TRY(check_url(options, call->url, &sending.host, error));
    sending.has_address = address_parse(sending.host.host, &sending.address);
    TRY(libcurl_load(&curl, error));
    handle = curl->easy_init();
    if (!handle || !make_call_headers(curl, options, call, &headers) ||
        !set_call(curl, handle, call, headers, &sending))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a call"));
    status = outcome_of_call(curl, handle, curl->easy_perform(handle), &sending, error);
done:
    if (handle)
        curl->easy_cleanup(handle);
    if (headers)
        curl->slist_free_all(headers);
    return status;
}
