/* Requests to a service. */
#include <doppel/client.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <jansson.h>

#include "client/libcurl.h"
#include "core/try.h"

enum { CONNECT_SECONDS = 10, USUAL_SECONDS = 60, SENTENCE_BYTES = 256 };

struct doppel_client {
    const struct libcurl *curl;
    struct doppel_run *run;
    CURL *handle;
    char *url;           /* without a '/' at its end */
    char *socket;        /* NULL: the URL says where */
    char *authorization; /* a header; NULL: none */
    char *ca;            /* NULL: the system's */
    long timeout_s;
};

/* ---- making ---- */

static char *joined(const char *a, const char *b)
{
    char *text = malloc(strlen(a) + strlen(b) + 1);
    if (text)
        stpcpy(stpcpy(text, a), b);
    return text;
}

static bool has_scheme(const char *url, const char *scheme)
{
    return strncasecmp(url, scheme, strlen(scheme)) == 0 && url[strlen(scheme)];
}

static enum doppel_status take_url(struct doppel_client *client, const char *url,
                                   struct doppel_error *error)
{
    bool is_socket = has_scheme(url, "unix:");
    if (!is_socket && !has_scheme(url, "http://") && !has_scheme(url, "https://"))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%s' is no address of a service: it begins with https://, http:// or "
                           "unix:",
                           url);
    client->url = strdup(is_socket ? "http://localhost" : url);
    client->socket = is_socket ? strdup(url + strlen("unix:")) : NULL;
    if (!client->url || (is_socket && !client->socket))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a client");
    for (size_t size = strlen(client->url); size && client->url[size - 1] == '/';)
        client->url[--size] = '\0';
    return DOPPEL_OK;
}

enum doppel_status doppel_client_new(struct doppel_run *run,
                                     const struct doppel_client_options *options,
                                     struct doppel_client **out, struct doppel_error *error)
{
    struct doppel_client *client = calloc(1, sizeof *client);
    enum doppel_status status;
    if (!client)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a client");
    client->run = run;
    client->timeout_s = options->timeout_s ? (long)options->timeout_s : USUAL_SECONDS;
    TRY(libcurl_load(&client->curl, error));
    TRY(take_url(client, options->url, error));
    client->handle = client->curl->easy_init();
    client->authorization = options->key ? joined("Authorization: Bearer ", options->key) : NULL;
    client->ca = options->ca ? strdup(options->ca) : NULL;
    if (!client->handle || !client->authorization != !options->key || !client->ca != !options->ca)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a client");
done:
    if (status)
        doppel_client_free(client);
    else
        *out = client;
    return status;
}

void doppel_client_free(struct doppel_client *client)
{
    if (!client)
        return;
    if (client->handle)
        client->curl->easy_cleanup(client->handle);
    if (client->authorization)
        explicit_bzero(client->authorization, strlen(client->authorization));
    free(client->authorization);
    free(client->url);
    free(client->socket);
    free(client->ca);
    free(client);
}

/* ---- one request ---- */

struct transfer {
    struct doppel_client *client;
    char *bytes;
    size_t size, capacity, most;
    bool too_long;
    int descriptor;     /* of the body */
    off_t sent, body;   /* of it; its bytes */
    const char *unread; /* why it cannot be read; NULL: it can */
};

static size_t take_bytes(char *bytes, size_t one, size_t size, void *context)
{
    struct transfer *transfer = context;
    (void)one; /* is 1 */
    if (size > transfer->most - transfer->size) {
        transfer->too_long = true;
        return 0;
    }
    if (transfer->size + size + 1 > transfer->capacity) {
        size_t wanted = 2 * (transfer->size + size + 1);
        char *grown = realloc(transfer->bytes, wanted);
        if (!grown)
            return 0;
        transfer->bytes = grown;
        transfer->capacity = wanted;
    }
    memcpy(transfer->bytes + transfer->size, bytes, size);
    transfer->size += size;
    transfer->bytes[transfer->size] = '\0';
    return size;
}

static size_t give_bytes(char *bytes, size_t one, size_t size, void *context)
{
    struct transfer *transfer = context;
    ssize_t got = pread(transfer->descriptor, bytes, one * size, transfer->sent);
    if (got < 0)
        transfer->unread = strerror(errno);
    else if (!got && transfer->sent < transfer->body) /* the service would wait for the rest */
        transfer->unread = "it is shorter now";
    if (transfer->unread)
        return CURL_READFUNC_ABORT;
    transfer->sent += got;
    return (size_t)got;
}

/* A connection that was lost is made again, and all is sent again. */
static int go_back(void *context, curl_off_t offset, int origin)
{
    struct transfer *transfer = context;
    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_FAIL;
    transfer->sent = offset;
    return CURL_SEEKFUNC_OK;
}

static int end_if_cancelled(void *context, curl_off_t down, curl_off_t downloaded, curl_off_t up,
                            curl_off_t uploaded)
{
    const struct doppel_client *client = context;
    (void)down;
    (void)downloaded;
    (void)up;
    (void)uploaded;
    return doppel_run_cancelled(client->run);
}

/* @return false without memory */
static bool add_header(const struct libcurl *curl, struct curl_slist **list, const char *name,
                       const char *value)
{
    char *header = value ? joined(name, value) : NULL;
    struct curl_slist *longer = header ? curl->slist_append(*list, header) : NULL;
    free(header);
    if (longer)
        *list = longer;
    return longer || !value;
}

static bool make_headers(const struct doppel_client *client,
                         const struct doppel_client_request *request, struct curl_slist **out)
{
    const struct libcurl *curl = client->curl;
    return add_header(curl, out, "Expect:", "") &&
           add_header(curl, out, "Content-Type: ", request->type) &&
           add_header(curl, out, "Idempotency-Key: ", request->idempotency_key) &&
           add_header(curl, out, "", client->authorization);
}

static bool set_body(struct transfer *transfer, const struct doppel_client_request *request)
{
    __typeof__(transfer->client->curl->setopt) set = transfer->client->curl->setopt;
    CURL *handle = transfer->client->handle;
    if (!request->type)
        return true;
    if (request->body)
        return !(set(handle, CURLOPT_POSTFIELDS, request->body) ||
                 set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size));
    transfer->descriptor = request->descriptor;
    transfer->body = (off_t)request->size;
    return !(set(handle, CURLOPT_POST, 1L) ||
             set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size) ||
             set(handle, CURLOPT_READFUNCTION, give_bytes) ||
             set(handle, CURLOPT_READDATA, transfer) ||
             set(handle, CURLOPT_SEEKFUNCTION, go_back) || set(handle, CURLOPT_SEEKDATA, transfer));
}

static bool set_transfer(struct transfer *transfer, const struct doppel_client_request *request,
                         const char *url, struct curl_slist *headers)
{
    const struct doppel_client *client = transfer->client;
    __typeof__(client->curl->setopt) set = client->curl->setopt;
    CURL *handle = client->handle;
    client->curl->easy_reset(handle); /* its connection stays */
    return !(!set_body(transfer, request) || set(handle, CURLOPT_URL, url) ||
             set(handle, CURLOPT_PATH_AS_IS, 1L) || /* an item may be called ".." */
             set(handle, CURLOPT_PROTOCOLS_STR, "http,https") ||
             set(handle, CURLOPT_CUSTOMREQUEST, request->method) ||
             set(handle, CURLOPT_HTTPHEADER, headers) || set(handle, CURLOPT_USERAGENT, "doppel") ||
             set(handle, CURLOPT_FOLLOWLOCATION, 0L) || set(handle, CURLOPT_NOSIGNAL, 1L) ||
             set(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) ||
             set(handle, CURLOPT_TIMEOUT, client->timeout_s) ||
             set(handle, CURLOPT_WRITEFUNCTION, take_bytes) ||
             set(handle, CURLOPT_WRITEDATA, transfer) || set(handle, CURLOPT_NOPROGRESS, 0L) ||
             set(handle, CURLOPT_XFERINFOFUNCTION, end_if_cancelled) ||
             set(handle, CURLOPT_XFERINFODATA, client) ||
             (client->socket && set(handle, CURLOPT_UNIX_SOCKET_PATH, client->socket)) ||
             (client->ca && set(handle, CURLOPT_CAINFO, client->ca)));
}

/* ---- what came of it ---- */

static const char *service_name(const struct doppel_client *client)
{
    return client->socket ? client->socket : client->url;
}

static enum doppel_status fail_transfer(const struct transfer *transfer, CURLcode code,
                                        struct doppel_error *error)
{
    const struct doppel_client *client = transfer->client;
    const char *place = service_name(client);
    if (transfer->unread)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be sent: %s", transfer->unread);
    if (transfer->too_long)
        return doppel_fail(error, DOPPEL_E_LIMIT, "%s: the answer has more than %zu bytes", place,
                           transfer->most);
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "%s: ended early", place);
    if (code == CURLE_OUT_OF_MEMORY || code == CURLE_WRITE_ERROR)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory for the answer", place);
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: its certificate is of another name, or nobody trusted here has "
                           "signed it: name a file of who did, by --server-ca or --upstream-ca",
                           place);
    return doppel_fail(error, libcurl_is_final(code) ? DOPPEL_E_ARGUMENT : DOPPEL_E_BUSY, "%s: %s",
                       place, client->curl->easy_strerror(code));
}

/* The sentence of a problem object; "" where there is none. */
static void read_detail(const struct transfer *transfer, char out[static SENTENCE_BYTES])
{
    json_t *problem = transfer->size ? json_loadb(transfer->bytes, transfer->size, 0, NULL) : NULL;
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    *out = '\0';
    if (detail) {
        size_t size = strnlen(detail, SENTENCE_BYTES - 3);
        while ((detail[size] & 0xc0) == 0x80) /* within a character */
            size--;
        strncat(stpcpy(out, ": "), detail, size);
    }
    json_decref(problem);
}

static enum doppel_status check_answer(const struct transfer *transfer, unsigned status,
                                       struct doppel_error *error)
{
    char detail[SENTENCE_BYTES];
    if (status >= 200 && status < 300)
        return DOPPEL_OK;
    bool again = status == 429 || status == 409 || status >= 500;
    read_detail(transfer, detail);
    return doppel_fail(error,
                       again           ? DOPPEL_E_BUSY
                       : status == 404 ? DOPPEL_E_NOT_FOUND
                       : status == 413 ? DOPPEL_E_LIMIT
                       : status == 422 ? DOPPEL_E_FORMAT
                                       : DOPPEL_E_ARGUMENT,
                       "%s answers %u%s%s", service_name(transfer->client), status, detail,
                       status / 100 == 3 ? ": redirects are not followed" : "");
}

enum doppel_status doppel_client_send(struct doppel_client *client,
                                      const struct doppel_client_request *request, size_t most,
                                      struct doppel_client_answer *out, struct doppel_error *error)
{
    const struct libcurl *curl = client->curl;
    struct transfer transfer = {.client = client, .most = most};
    struct curl_slist *headers = NULL;
    char *url = joined(client->url, request->path);
    long http = 0;
    enum doppel_status status;
    if (!url || !make_headers(client, request, &headers) ||
        !set_transfer(&transfer, request, url, headers))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a request"));
    CURLcode code = curl->easy_perform(client->handle);
    if (code)
        TRY(fail_transfer(&transfer, code, error));
    if (!transfer.bytes && !(transfer.bytes = calloc(1, 1)))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer"));
    curl->getinfo(client->handle, CURLINFO_RESPONSE_CODE, &http);
    TRY(check_answer(&transfer, (unsigned)http, error));
    *out = (struct doppel_client_answer){(unsigned)http, transfer.bytes, transfer.size};
    transfer.bytes = NULL;
done:
    curl->slist_free_all(headers);
    free(transfer.bytes);
    free(url);
    return status;
}

void doppel_client_answer_free(struct doppel_client_answer *answer)
{
    free(answer->body);
    *answer = (struct doppel_client_answer){0};
}
