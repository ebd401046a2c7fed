/* Loading libpq at run time. */
#include "stream/postgres/libpq.h"

#include <dlfcn.h>
#include <pthread.h>

static struct libpq libpq_functions;
static bool libpq_loaded;

static void load_libpq_functions(void)
{
    static const struct {
        const char *name;
        void *place;
    } wanted[] = {
#define LIBPQ_WANTED(name) {"PQ" #name, &libpq_functions.name},
        LIBPQ_FUNCTIONS(LIBPQ_WANTED)
#undef LIBPQ_WANTED
    };
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    libpq_loaded = library != NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && libpq_loaded; i++)
        libpq_loaded = (*(void **)wanted[i].place = dlsym(library, wanted[i].name)) != NULL;
}

enum doppel_status libpq_load(const struct libpq **out, struct doppel_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_libpq_functions);
    if (!libpq_loaded)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "libpq is not there, by which PostgreSQL is reached: install it (of "
                           "Debian: libpq5)");
    *out = &libpq_functions;
    return DOPPEL_OK;
}
