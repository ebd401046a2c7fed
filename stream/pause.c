/* Waiting that ends when the run is cancelled. */
#include "stream/pause.h"

#include <time.h>

#include "core/clock.h"

enum { SLICE_MS = 100, MS_NS = 1000000 };

bool pause_run(struct doppel_run *run, uint32_t wait_ms)
{
    const int64_t end = monotonic_ms() + wait_ms;
    int64_t left;
    while (!doppel_run_cancelled(run) && (left = end - monotonic_ms()) > 0) {
        const long slice = (long)(left < SLICE_MS ? left : SLICE_MS);
        nanosleep(&(struct timespec){.tv_nsec = slice * MS_NS}, NULL); /* a signal ends it */
    }
    return !doppel_run_cancelled(run);
}
