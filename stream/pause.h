/* Waiting that ends when the run is cancelled. */
#ifndef DOPPEL_STREAM_PAUSE_H
#define DOPPEL_STREAM_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/run.h>

/* @return false: the run was cancelled, which is noticed within a tenth of a second */
bool pause_run(struct doppel_run *run, uint32_t wait_ms);

/* Pauses before a server that is away is asked again, each twice as long as the last one, from a
 * quarter of a second to half a minute, less up to a quarter, so that not all clients of a server
 * come back at once. Zero-initialised, and set to zero when it answers: it is not away. */
struct backoff {
    uint32_t pause_ms; /* the last one */
    int64_t away_since_ms;
};

/* @return as pause_run */
bool backoff_pause(struct backoff *backoff, struct doppel_run *run);

#endif
