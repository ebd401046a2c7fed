/* What the benchmarks share: clocks, memory, medians, files and folders. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <doppel/core.h>

/* Seconds on the wall, and of CPU: of this process and of its children, living or reaped. */
struct bench_time {
    double wall, cpu;
};

struct bench_time bench_now(void);

/* From `since` until now, in milliseconds for each of `count`. */
struct bench_time bench_each_ms(struct bench_time since, size_t count);

/* What a clock shows. */
double bench_seconds(clockid_t clock);

/* A line of /proc/self/FILE, such as "VmHWM:" of status, in bytes; 0: there is none. */
double bench_memory(const char *file, const char *field);

/* End the program with the sentence of a failure. */
void bench_must(enum doppel_status status, const struct doppel_error *error);

/* What a program took. */
struct bench_run {
    double wall, cpu; /* seconds */
    double peak_bytes;
    double kernel; /* seconds of CPU in the kernel */
};

/* Run a program, by its words up to NULL, its standard output to nowhere. If it fails, so does this
 * one. */
struct bench_run bench_run(const char *const *words);

/* Sorts `values`. */
double bench_median(double *values, size_t count);

/* The median of a[i] / b[i]; at most BENCH_MAX_ROUNDS. */
enum { BENCH_MAX_ROUNDS = 100 };
double bench_median_ratio(const double *a, const double *b, size_t count);

/* MB of 10⁶ bytes: of a file, 0 if there is none, and of those right in a folder. */
double bench_file_mb(const char *path);
double bench_folder_mb(const char *path, size_t *out_files);

/* With all in it. @return false: it could not be removed */
bool bench_remove_folder(const char *path);

enum { BENCH_MAX_FILES = 1000 };

struct bench_files {
    char *paths[BENCH_MAX_FILES];
    size_t count;
};

/* Add the JPEG files under `folder`, its subfolders included, of `min` to `max` pixels, in order of
 * their names. */
void bench_find_jpegs(struct bench_files *files, const char *folder, uint64_t min, uint64_t max);

void bench_free_files(struct bench_files *files);

#endif
