/* What the benchmarks share: clocks, medians, pictures found in folders. */
#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) ? 0 : (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* getrusage counts children once they are reaped; workers live on. */
static double children_cpu(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    double sum = 0;
    int child;
    clockid_t clock;
    while (file && fscanf(file, "%d", &child) == 1)
        if (clock_getcpuclockid(child, &clock) == 0)
            sum += seconds(clock);
    if (file)
        fclose(file);
    return sum;
}

struct bench_time bench_now(void)
{
    return (struct bench_time){seconds(CLOCK_MONOTONIC),
                               seconds(CLOCK_PROCESS_CPUTIME_ID) + children_cpu()};
}

struct bench_time bench_each_ms(struct bench_time since, size_t count)
{
    struct bench_time now = bench_now();
    return (struct bench_time){(now.wall - since.wall) * 1e3 / (double)count,
                               (now.cpu - since.cpu) * 1e3 / (double)count};
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Pixels as the frame header (SOF) of a JPEG declares them; 0 if it is none. */
static uint64_t jpeg_pixels(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t head[4], frame[5];
    uint64_t pixels = 0;
    if (!file)
        return 0;
    if (fread(head, 1, 2, file) == 2 && head[0] == 0xff && head[1] == 0xd8)
        while (fread(head, 1, 4, file) == 4 && head[0] == 0xff) {
            int marker = head[1], length = head[2] << 8 | head[3];
            if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xcc) {
                if (fread(frame, 1, 5, file) == 5)
                    pixels =
                        (uint64_t)(frame[1] << 8 | frame[2]) * (uint64_t)(frame[3] << 8 | frame[4]);
                break;
            }
            if (fseek(file, length - 2, SEEK_CUR))
                break;
        }
    fclose(file);
    return pixels;
}

void bench_find_jpegs(struct bench_files *files, const char *folder, uint64_t min, uint64_t max)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_type == DT_DIR && entries[i]->d_name[0] != '.')
            bench_find_jpegs(files, path, min, max);
        uint64_t pixels = entries[i]->d_type == DT_REG ? jpeg_pixels(path) : 0;
        if (pixels >= min && pixels <= max && pixels && files->count < BENCH_MAX_FILES)
            files->paths[files->count++] = strdup(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

void bench_free_files(struct bench_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    files->count = 0;
}
