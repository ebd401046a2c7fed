/* What the tests of the pool share: files that tell the fake worker what to do, and counting. */
#ifndef TESTS_WORKER_HELPER_H
#define TESTS_WORKER_HELPER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <doppel/worker.h>

static inline int file_of(const void *data, size_t size)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    return fd;
}

static inline struct doppel_pool *new_pool(const char *program, uint32_t jobs, uint32_t timeout_ms)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    struct doppel_error error = {0};
    options.program = program;
    options.jobs = jobs;
    options.timeout_ms = timeout_ms;
    if (doppel_pool_new(&options, &pool, &error))
        fail_msg("%s", error.message);
    return pool;
}

#ifdef WORKER
/* One worker of the true program. @param max_seconds 0: no limit */
static inline struct doppel_pool *true_pool(double max_seconds)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    struct doppel_error error = {0};
    options.program = WORKER;
    options.jobs = 1;
    options.max_seconds = max_seconds;
    if (doppel_pool_new(&options, &pool, &error))
        fail_msg("%s", error.message);
    return pool;
}
#endif

static inline enum doppel_status submit_file(struct doppel_pool *pool, int fd,
                                             enum doppel_scheme_id id, uint64_t tag)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(id);
    struct doppel_order order = {.scheme = id, .version = scheme ? scheme->version : 0};
    return doppel_pool_submit(pool, fd, &order, tag, NULL);
}

static inline void submit(struct doppel_pool *pool, const char *command, uint64_t tag)
{
    int fd = file_of(command, strlen(command));
    assert_int_equal(submit_file(pool, fd, DOPPEL_SCHEME_PHASH64, tag), DOPPEL_OK);
}

/* Wait for the next outcome, at most 30 s. */
static inline struct doppel_outcome next(struct doppel_pool *pool)
{
    struct doppel_outcome outcome;
    struct doppel_error error = {0};
    if (doppel_pool_next(pool, 30000, &outcome, &error))
        fail_msg("%s", error.message);
    return outcome;
}

/* An error that is told, not a crash; frees it. */
static inline void expect_refusal(struct doppel_outcome *outcome)
{
    assert_int_not_equal(outcome->error.status, DOPPEL_OK);
    assert_int_not_equal(outcome->error.status, DOPPEL_E_CRASH);
    assert_true(strlen(outcome->error.message) > 0);
    doppel_outcome_free(outcome);
}

/* What the fake worker answers to "ok N". */
static inline void expect_good(const struct doppel_outcome *outcome, uint64_t code)
{
    assert_int_equal(outcome->error.status, DOPPEL_OK);
    assert_int_equal(outcome->kind, DOPPEL_KIND_IMAGE);
    assert_int_equal(outcome->width, 3);
    assert_int_equal(outcome->height, 2);
    assert_int_equal(outcome->quality, 50);
    assert_int_equal(outcome->fingerprint.count, 2);
    assert_int_equal(outcome->fingerprint.codes[0].word[0], code);
    assert_int_equal(outcome->attachment_size, 100);
}

static inline int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A program that is another one with an environment variable, for a worker has none of ours. The
 * file is the caller's (unlink). */
static inline const char *program_with(const char *variable, const char *program)
{
    static char path[64];
    strcpy(path, "/tmp/doppel-worker-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && dprintf(fd, "#!/bin/sh\n%s exec %s\n", variable, program) > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    return path;
}

/* Open descriptors, and those of looking. */
static inline int count_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* The oldest child of this process; 0 if there is none. */
static inline int first_child(void)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file)
        fclose(file);
    return child;
}

/* A number of /proc/PID/status, 0 if it is not there. */
static inline long status_of(int process, const char *name)
{
    char path[64], line[256];
    long value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", process);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name) + 1, NULL, 10);
    if (file)
        fclose(file);
    return value;
}

/* No child is left, not even a dead one. */
static inline bool has_no_children(void)
{
    return waitpid(-1, NULL, WNOHANG) < 0;
}

#endif
