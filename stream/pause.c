/* Waiting that ends when the run is cancelled. */
#include "stream/pause.h"

#include <time.h>

#include "core/clock.h"

enum { SLICE_MS = 100, MS_NS = 1000000, FIRST_PAUSE_MS = 250, LONGEST_PAUSE_MS = 30000 };

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

bool backoff_pause(struct backoff *backoff, struct doppel_run *run)
{
    const int64_t now_ms = monotonic_ms();
    if (!backoff->pause_ms)
        backoff->away_since_ms = now_ms;
    backoff->pause_ms = backoff->pause_ms ? 2 * backoff->pause_ms : FIRST_PAUSE_MS;
    if (backoff->pause_ms > LONGEST_PAUSE_MS)
        backoff->pause_ms = LONGEST_PAUSE_MS;
    const uint32_t less = (uint32_t)(now_ms * 2654435761u) % (backoff->pause_ms / 4 + 1);
    return pause_run(run, backoff->pause_ms - less);
}
