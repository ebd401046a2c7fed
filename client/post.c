/* A POST, by libcurl. */
#include "client/post.h"

#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>

#include "client/address.h"
#include "client/libcurl.h"
#include "core/try.h"

enum { POST_CONNECT_MS = 10000 };

struct posting {
    const struct post *post;
    struct post_answer *answer;
    struct host_port host;
    struct sockaddr_storage address; /* that the URL names */
    bool has_address, refused, no_memory;
};

/* ---- while it is in flight ---- */

static bool may_reach(const struct posting *posting, const struct sockaddr *address)
{
    switch (posting->post->reach) {
    case POST_PUBLIC:
        return posting->has_address
                   ? address_equal(address, (const struct sockaddr *)&posting->address)
                   : address_is_public(address);
    case POST_LOOPBACK:
        return address_is_loopback(address);
    default:
        return true;
    }
}

/* What a name resolves to is checked as it is connected to: so it cannot change in between. */
static curl_socket_t open_checked(void *context, curlsocktype purpose,
                                  struct curl_sockaddr *address)
{
    struct posting *posting = context;
    (void)purpose;
    if (!may_reach(posting, &address->addr)) {
        posting->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static bool reserve_answer(struct post_answer *answer, size_t size)
{
    if (size < answer->capacity)
        return true;
    char *grown = realloc(answer->body, 2 * size + 1);
    if (!grown)
        return false;
    answer->body = grown;
    answer->capacity = 2 * size + 1;
    return true;
}

static size_t take_answer_bytes(char *bytes, size_t one, size_t size, void *context)
{
    struct posting *posting = context;
    struct post_answer *answer = posting->answer;
    size_t room = posting->post->most - answer->size, kept = size < room ? size : room;
    (void)one; /* is 1 */
    if (!reserve_answer(answer, answer->size + kept)) {
        posting->no_memory = true;
        return 0;
    }
    memcpy(answer->body + answer->size, bytes, kept);
    answer->size += kept;
    answer->body[answer->size] = '\0';
    answer->cut = kept < size;
    return kept;
}

static int end_if_stopped(void *context, curl_off_t down, curl_off_t downloaded, curl_off_t up,
                          curl_off_t uploaded)
{
    const struct post *post = ((const struct posting *)context)->post;
    (void)down;
    (void)downloaded;
    (void)up;
    (void)uploaded;
    return post->stopped && post->stopped(post->context);
}

/* ---- making it ---- */

static bool list_headers(const struct libcurl *curl, const struct post *post,
                         struct curl_slist **out)
{
    *out = curl->slist_append(NULL, "Expect:"); /* else some wait for a second */
    for (size_t i = 0; i < post->header_count && *out; i++) {
        struct curl_slist *longer = curl->slist_append(*out, post->headers[i]);
        if (!longer)
            return false;
        *out = longer;
    }
    return *out;
}

static bool set_post(const struct poster *poster, struct curl_slist *headers,
                     struct posting *posting)
{
    __typeof__(poster->curl->setopt) set = poster->curl->setopt;
    const struct post *post = posting->post;
    CURL *handle = poster->handle;
    poster->curl->easy_reset(handle); /* its connection stays */
    return !(
        set(handle, CURLOPT_URL, post->url) || set(handle, CURLOPT_PROTOCOLS_STR, "http,https") ||
        set(handle, CURLOPT_FOLLOWLOCATION, 0L) ||
        (post->reach != POST_ANYWHERE && set(handle, CURLOPT_PROXY, "")) ||
        set(handle, CURLOPT_NOSIGNAL, 1L) || set(handle, CURLOPT_USERAGENT, "doppel") ||
        set(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)POST_CONNECT_MS) ||
        set(handle, CURLOPT_TIMEOUT_MS, post->timeout_ms) ||
        set(handle, CURLOPT_HTTPHEADER, headers) || set(handle, CURLOPT_POSTFIELDS, post->body) ||
        set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->size) ||
        set(handle, CURLOPT_OPENSOCKETFUNCTION, open_checked) ||
        set(handle, CURLOPT_OPENSOCKETDATA, posting) ||
        set(handle, CURLOPT_WRITEFUNCTION, take_answer_bytes) ||
        set(handle, CURLOPT_WRITEDATA, posting) || set(handle, CURLOPT_NOPROGRESS, 0L) ||
        set(handle, CURLOPT_XFERINFOFUNCTION, end_if_stopped) ||
        set(handle, CURLOPT_XFERINFODATA, posting));
}

static enum doppel_status open_poster(struct poster *poster, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!poster->curl)
        TRY(libcurl_load(&poster->curl, error));
    if (!poster->handle && !(poster->handle = poster->curl->easy_init()))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a call");
done:
    return status;
}

/* ---- what came of it ---- */

static enum doppel_status outcome_of_post(const struct libcurl *curl, CURLcode code,
                                          const struct posting *posting, struct doppel_error *error)
{
    if (code == CURLE_OK || posting->answer->cut)
        return DOPPEL_OK;
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    if (code == CURLE_OUT_OF_MEMORY || posting->no_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the answer");
    if (posting->refused)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           posting->post->reach == POST_LOOPBACK
                               ? "'%.100s' has an address that is not this machine's"
                               : "'%.100s' has an address of a private network: allow the "
                                 "address itself",
                           posting->host.host);
    return doppel_fail(error,
                       code == CURLE_OPERATION_TIMEDOUT ? DOPPEL_E_TIMEOUT
                       : libcurl_is_final(code)         ? DOPPEL_E_ARGUMENT
                                                        : DOPPEL_E_BUSY,
                       "%s", curl->easy_strerror(code));
}

static void read_status(const struct poster *poster, struct post_answer *out)
{
    long status = 0;
    curl_off_t wait_s = 0;
    if (!poster->curl->getinfo(poster->handle, CURLINFO_RESPONSE_CODE, &status))
        out->status = (unsigned)status;
    if (!poster->curl->getinfo(poster->handle, CURLINFO_RETRY_AFTER, &wait_s) && wait_s > 0)
        out->retry_after_s = wait_s < 1000000 ? (unsigned)wait_s : 1000000;
}

enum doppel_status post_send(struct poster *poster, const struct post *post,
                             struct post_answer *out, struct doppel_error *error)
{
    struct posting posting = {.post = post, .answer = out};
    struct curl_slist *headers = NULL;
    enum doppel_status status;
    *out = (struct post_answer){.body = out->body, .capacity = out->capacity};
    if (!http_url_parse(post->url, &posting.host))
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "that is no URL of http or https"));
    posting.has_address = address_parse(posting.host.host, &posting.address);
    TRY(open_poster(poster, error));
    if (!reserve_answer(out, 0) || !list_headers(poster->curl, post, &headers) ||
        !set_post(poster, headers, &posting))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a call"));
    out->body[0] = '\0';
    TRY(outcome_of_post(poster->curl, poster->curl->easy_perform(poster->handle), &posting, error));
    read_status(poster, out);
done:
    if (headers)
        poster->curl->slist_free_all(headers);
    return status;
}

void poster_free(struct poster *poster)
{
    if (poster->handle)
        poster->curl->easy_cleanup(poster->handle);
    *poster = (struct poster){0};
}

void post_answer_free(struct post_answer *answer)
{
    free(answer->body);
    *answer = (struct post_answer){0};
}
