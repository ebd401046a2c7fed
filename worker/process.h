/* One worker process: where its program is, starting it, ending it. */
#ifndef DOPPEL_WORKER_PROCESS_H
#define DOPPEL_WORKER_PROCESS_H

#include <sys/types.h>

#include <doppel/core.h>

#include "worker/progress.h"

/* Where a worker finds the bell that it rings, the pipe that ends with its parent, and the page of
 * its progress, if there is one; its socket is standard input. */
enum { PROCESS_BELL = 3, PROCESS_LIFE, PROCESS_PROGRESS };

struct process {
    pid_t pid;
    int socket;                           /* our end; close-on-exec */
    int bell;                             /* to be read, never waits; close-on-exec (bell.h) */
    int life;                             /* written to by nobody; close-on-exec (confine.c) */
    const struct progress_page *progress; /* NULL: not seen */
};

/* The path of doppel-worker: `wanted`, else $DOPPEL_WORKER, else beside this program, else
 * ../libexec/doppel, else where the build was to be installed. @param out given (free). @return
 * DOPPEL_OK, DOPPEL_E_NOT_FOUND, DOPPEL_E_MEMORY */
enum doppel_status process_find_program(const char *wanted, char **out, struct doppel_error *error);

/* @param out given (process_end). @return DOPPEL_OK, DOPPEL_E_NOT_FOUND, DOPPEL_E_IO */
enum doppel_status process_start(const char *program, struct process *out,
                                 struct doppel_error *error);

/* How a process ended. */
struct ending {
    int status;                        /* of waitpid; -1 if someone else reaped it */
    char refused[PROGRESS_NAME_BYTES]; /* the system call that it was ended for; "": not told */
};

/* Kill and reap. */
struct ending process_end(struct process *process);

#endif
