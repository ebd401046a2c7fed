/* What the child lays on itself before it looks at the first file. */
#include "worker/confine.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "worker/process.h"
#include "core/sanitizer.h"

/* The parent holds the other end of the pipe and writes nothing into it: when it goes, however that
 * is, the kernel kills this process. PR_SET_PDEATHSIG would do so already when the thread ends that
 * started it, though others of the parent want to go on with it. */
static bool end_with_parent(void)
{
    struct pollfd life = {.fd = PROCESS_LIFE};
    return fcntl(PROCESS_LIFE, F_SETOWN, getpid()) == 0 &&
           fcntl(PROCESS_LIFE, F_SETSIG, SIGKILL) == 0 &&
           fcntl(PROCESS_LIFE, F_SETFL, O_ASYNC) == 0 && poll(&life, 1, 0) == 0;
}

/* A core file of a picture is of no use, and large. */
static void forbid_core(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}

/* What a process can hold is what it can map: private writable memory, counted by the kernel. */
static enum doppel_status limit_memory(uint64_t max_memory, struct doppel_error *error)
{
#ifdef UNDER_SANITIZER
    (void)max_memory; /* its shadow memory alone is over any limit */
    (void)error;
#else
    if (max_memory <= WORKER_UNCOUNTED_BYTES)
        return DOPPEL_OK;
    struct rlimit limit = {max_memory - WORKER_UNCOUNTED_BYTES,
                           max_memory - WORKER_UNCOUNTED_BYTES};
    if (setrlimit(RLIMIT_DATA, &limit))
        return doppel_fail(error, DOPPEL_E_IO, "the memory limit cannot be set");
#endif
    return DOPPEL_OK;
}

/* Decoders complain on standard error; the user gets a sentence a file, from the parent. */
static void silence(void)
{
#ifndef UNDER_SANITIZER
    dup2(STDOUT_FILENO, STDERR_FILENO); /* /dev/null, see process.c */
#endif
}

enum doppel_status confine(const struct worker_limits *limits, struct doppel_error *error)
{
    if (!end_with_parent())
        return doppel_fail(error, DOPPEL_E_IO, "a worker cannot see whether doppel is still there");
    forbid_core();
    silence();
    return limit_memory(limits->max_memory, error);
}

void settle_allocator(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
}
