/* libcurl, loaded when it is first wanted: with what it needs in turn it is some thirty shared
 * objects, for which no other start of doppel is to pay. */
#ifndef DOPPEL_CLIENT_LIBCURL_H
#define DOPPEL_CLIENT_LIBCURL_H

#include <stdbool.h>

#include <curl/curl.h>

#include <doppel/core.h>

struct libcurl {
    __typeof__(&curl_easy_init) easy_init;
    __typeof__(&curl_easy_cleanup) easy_cleanup;
    __typeof__(&curl_easy_reset) easy_reset;
    __typeof__(&(curl_easy_setopt)) setopt;
    __typeof__(&(curl_easy_getinfo)) getinfo;
    __typeof__(&curl_easy_perform) easy_perform;
    __typeof__(&curl_easy_strerror) easy_strerror;
    __typeof__(&curl_slist_append) slist_append;
    __typeof__(&curl_slist_free_all) slist_free_all;
};

/* It stays loaded. Thread-safe. DOPPEL_E_UNSUPPORTED: it is not there */
enum doppel_status libcurl_load(const struct libcurl **out, struct doppel_error *error);

/* Whether it is no use to try again later. */
bool libcurl_is_final(CURLcode code);

#endif
