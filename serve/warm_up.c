/* A thread that reads the indexes of a library in, with an opening of its own. */
#include "serve/warm_up.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <doppel/library.h>

#include "serve/service.h"

struct warm_up {
    const char *directory;
    atomic_bool ending;
    pthread_t thread;
};

static bool warm_up_ends(void *context)
{
    struct warm_up *warm_up = context;
    return atomic_load(&warm_up->ending);
}

/* What fails here fails again when it is asked for, and is told then. */
static void *read_library_in(void *context)
{
    const struct doppel_library_options options = {.read_only = true, .no_rebuild = true};
    struct warm_up *warm_up = context;
    struct doppel_library *library;
    if (doppel_library_open(warm_up->directory, &options, &library, NULL))
        return NULL;
    doppel_library_set_cancel(library, warm_up_ends, warm_up);
    (void)doppel_library_read_in(library, NULL);
    doppel_library_close(library);
    return NULL;
}

enum doppel_status warm_up_begin(const struct service *service, struct warm_up **out,
                                 struct doppel_error *error)
{
    struct warm_up *warm_up = calloc(1, sizeof *warm_up);
    if (!warm_up)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a service");
    warm_up->directory = service->options->library;
    if (pthread_create(&warm_up->thread, NULL, read_library_in, warm_up)) {
        free(warm_up);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no thread can be started");
    }
    *out = warm_up;
    return DOPPEL_OK;
}

void warm_up_end(struct warm_up *warm_up)
{
    if (!warm_up)
        return;
    atomic_store(&warm_up->ending, true);
    pthread_join(warm_up->thread, NULL);
    free(warm_up);
}
