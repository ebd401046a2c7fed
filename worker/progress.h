/* How far a worker is in its file: a page of memory that it shares with its pool. The worker
 * writes, the pool reads, and believes nothing of it. */
#ifndef DOPPEL_WORKER_PROGRESS_H
#define DOPPEL_WORKER_PROGRESS_H

#include <stdatomic.h>

#include <doppel/worker.h>

enum {
    PROGRESS_NAME_BYTES = 24,
    PROGRESS_PAGE_MS = 10000 /* as which a page counts: what is getting on (handles.h) */
};

struct progress_page {
    atomic_uint_least64_t done_ms, expected_ms; /* of the file in hand; expected 0: not known */
    atomic_uint_least64_t pages, pages_total;   /* of the file in hand, which is read by OCR */
    atomic_uint_least64_t worked_ms;   /* media time that was decoded since the worker began */
    char refused[PROGRESS_NAME_BYTES]; /* the system call that ended the worker; "": none did */
};

/* ---- the pool's side ---- */

/* A page of its own size for good, so that reading it never faults. @param out_fd for the worker,
 * given; -1 without one. @return NULL: there is none, and no progress is seen */
const struct progress_page *progress_page_make(int *out_fd);
void progress_page_free(const struct progress_page *page);

/* What the page says. @param page may be NULL: nothing */
struct doppel_progress progress_read(const struct progress_page *page);
uint64_t progress_worked_ms(const struct progress_page *page);

/* The name of the system call that ended the worker, which is gone; "" if none did. */
void progress_read_refused(const struct progress_page *page, char out[PROGRESS_NAME_BYTES]);

/* ---- the worker's side ---- */

/* The page behind a descriptor, which is closed; NULL where there is none, and nothing is reported.
 */
struct progress_page *progress_page_take(int fd);

/* A file begins. */
void progress_begin_file(struct progress_page *page);

/* `done_ms` of the file are done: never less than before. */
void progress_report(struct progress_page *page, uint64_t done_ms, uint64_t expected_ms);

/* A page was read by OCR, which may have taken its time: it is got on with. */
void progress_page_done(struct progress_page *page, uint32_t done, uint32_t total);

/* More of it was decoded, which is not to be seen. */
void progress_work(struct progress_page *page, uint64_t more_ms);

#endif
