/* Loading GnuTLS at run time. */
#include "redis/gnutls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

static struct libgnutls gnutls_functions;
static bool gnutls_loaded;

static void load_gnutls_functions(void)
{
    static const struct {
        const char *name;
        void *place;
    } wanted[] = {
#define GNUTLS_WANTED(name) {"gnutls_" #name, &gnutls_functions.name},
        GNUTLS_FUNCTIONS(GNUTLS_WANTED)
#undef GNUTLS_WANTED
    };
    void *library = dlopen("libgnutls.so.30", RTLD_NOW | RTLD_LOCAL);
    gnutls_loaded = library != NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && gnutls_loaded; i++)
        gnutls_loaded = (*(void **)wanted[i].place = dlsym(library, wanted[i].name)) != NULL;
}

enum doppel_status libgnutls_load(const struct libgnutls **out, struct doppel_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_gnutls_functions);
    if (!gnutls_loaded)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "GnuTLS is not there, by which rediss:// is spoken: install it (of "
                           "Debian: libgnutls30)");
    *out = &gnutls_functions;
    return DOPPEL_OK;
}
