/* What the files of the pool share. */
#ifndef DOPPEL_WORKER_POOL_H
#define DOPPEL_WORKER_POOL_H

#include <poll.h>

#include "worker/handles.h"

/* Starts in a row that fail, before no more are tried: more than a passing shortage of memory
 * kills. */
enum { POOL_START_FAILURES = 20 };

struct doppel_pool {
    struct doppel_pool_options options;
    const struct doppel_run *run; /* borrowed; ends waiting when it is cancelled; NULL: none */
    char *program, *ocr;
    uint32_t jobs;
    struct member *members; /* `jobs`; those without a process are idle places */
    struct pollfd *polls;   /* `jobs` */
    struct job *queue;      /* not yet with a worker, oldest first; room for `slots` */
    size_t queued, slots, pending;
    uint64_t serial;
    uint32_t turn; /* whose answer is looked at first */
    unsigned start_failures;
    struct doppel_error start_error; /* of the last failure */
    int64_t seen_ms;                 /* when the clock was looked at last; 0: never */
    uint64_t pages;                  /* of files that were read by OCR, and answered */
    int64_t watched_ms;              /* how long this process has watched: the time of the pool */
};

/* Let the time that was watched go on. */
void pool_look_at_clock(struct doppel_pool *pool);

/* Give queued files to workers, and start those that are needed. */
void pool_dispatch(struct doppel_pool *pool);

#endif
