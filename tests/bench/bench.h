/* What the benchmarks share: clocks, medians, pictures found in folders. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Seconds on the wall, and of CPU: of this process, and of its living children. */
struct bench_time {
    double wall, cpu;
};

struct bench_time bench_now(void);

/* From `since` until now, in milliseconds for each of `count`. */
struct bench_time bench_each_ms(struct bench_time since, size_t count);

/* Sorts `values`. */
double bench_median(double *values, size_t count);

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
