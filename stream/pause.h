/* Waiting that ends when the run is cancelled. */
#ifndef DOPPEL_STREAM_PAUSE_H
#define DOPPEL_STREAM_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/run.h>

/* @return false: the run was cancelled, which is noticed within a tenth of a second */
bool pause_run(struct doppel_run *run, uint32_t wait_ms);

#endif
