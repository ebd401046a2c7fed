/* Loading libcurl. */
#include "client/libcurl.h"

#include <dlfcn.h>
#include <pthread.h>

static struct libcurl functions;
static bool loaded;

/* As Debian calls it with GnuTLS, which doppel has already for libmicrohttpd; and as others do. */
static void *open_libcurl(void)
{
    static const char *const names[] = {"libcurl-gnutls.so.4", "libcurl.so.4", "libcurl.4.dylib"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static void load_functions(void)
{
    const struct {
        const char *name;
        void *place;
    } wanted[] = {
        {"curl_easy_init", &functions.easy_init},
        {"curl_easy_cleanup", &functions.easy_cleanup},
        {"curl_easy_reset", &functions.easy_reset},
        {"curl_easy_setopt", &functions.setopt},
        {"curl_easy_getinfo", &functions.getinfo},
        {"curl_easy_perform", &functions.easy_perform},
        {"curl_easy_strerror", &functions.easy_strerror},
        {"curl_slist_append", &functions.slist_append},
        {"curl_slist_free_all", &functions.slist_free_all},
    };
    void *library = open_libcurl();
    __typeof__(&curl_global_init) begin;
    loaded = library && (*(void **)&begin = dlsym(library, "curl_global_init")) &&
             begin(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && loaded; i++)
        loaded = (*(void **)wanted[i].place = dlsym(library, wanted[i].name)) != NULL;
}

enum doppel_status libcurl_load(const struct libcurl **out, struct doppel_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_functions);
    if (!loaded)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "libcurl is not there, by which services are asked: install it (of "
                           "Debian: libcurl3-gnutls)");
    *out = &functions;
    return DOPPEL_OK;
}

bool libcurl_is_final(CURLcode code)
{
    switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_WEIRD_SERVER_REPLY:
        return true;
    default:
        return false;
    }
}
