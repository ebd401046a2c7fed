/* What a worker lays on itself before the first file, so that a decoder that somebody took over can
 * do nothing but decode. For good: nothing takes it back. */
#ifndef DOPPEL_WORKER_SANDBOX_H
#define DOPPEL_WORKER_SANDBOX_H

#include <doppel/worker.h>

struct progress_page;

/* Descriptors: the worker's own and `stream` (-1: none) stay, others are closed. What the kernel
 * lacks is left out, and `out` says what holds.
 * @param page where a refused system call is noted; may be NULL
 * @return DOPPEL_OK; DOPPEL_E_UNSUPPORTED when less holds than DOPPEL_SANDBOX_REQUIRE asks for */
enum doppel_status sandbox_enter(enum doppel_sandbox wanted, int stream, struct progress_page *page,
                                 struct doppel_confinement *out, struct doppel_error *error);

/* Of sandbox_enter: from now on, all threads of this process may make the system calls that
 * decoding needs; any other ends it with SIGSYS, and its name is noted in `page`, which may be NULL
 * (syscall_filter.c). @return false: the kernel does not filter, or this was built without */
bool filter_system_calls(struct progress_page *page);

#endif
