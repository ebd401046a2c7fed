/* What the benchmarks share: clocks, memory, medians, files and folders. */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

double bench_seconds(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) ? 0 : (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double usage_cpu(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

/* Workers live on, until they are replaced: getrusage counts them once they are reaped. */
static double children_cpu(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    struct rusage reaped = {0};
    getrusage(RUSAGE_CHILDREN, &reaped);
    double sum = usage_cpu(&reaped);
    int child;
    clockid_t clock;
    while (file && fscanf(file, "%d", &child) == 1)
        if (clock_getcpuclockid(child, &clock) == 0)
            sum += bench_seconds(clock);
    if (file)
        fclose(file);
    return sum;
}

struct bench_time bench_now(void)
{
    return (struct bench_time){bench_seconds(CLOCK_MONOTONIC),
                               bench_seconds(CLOCK_PROCESS_CPUTIME_ID) + children_cpu()};
}

struct bench_time bench_each_ms(struct bench_time since, size_t count)
{
    struct bench_time now = bench_now();
    return (struct bench_time){(now.wall - since.wall) * 1e3 / (double)count,
                               (now.cpu - since.cpu) * 1e3 / (double)count};
}

double bench_memory(const char *name, const char *field)
{
    char path[64], line[256];
    double kilobytes = 0;
    snprintf(path, sizeof path, "/proc/self/%s", name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            kilobytes = strtod(line + strlen(field), NULL);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

void bench_must(enum doppel_status status, const struct doppel_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, error->message);
    exit(1);
}

struct bench_run bench_run(const char *const *words)
{
    double since = bench_seconds(CLOCK_MONOTONIC);
    struct rusage usage;
    int status;
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execvp(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0) {
        fprintf(stderr, "%s: %s failed\n", program_invocation_short_name, words[0]);
        exit(2);
    }
    return (struct bench_run){
        bench_seconds(CLOCK_MONOTONIC) - since, usage_cpu(&usage), (double)usage.ru_maxrss * 1024,
        (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6};
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

double bench_median_ratio(const double *a, const double *b, size_t count)
{
    double ratios[BENCH_MAX_ROUNDS];
    for (size_t i = 0; i < count; i++)
        ratios[i] = a[i] / b[i];
    return bench_median(ratios, count);
}

/* ---- files ---- */

double bench_file_mb(const char *path)
{
    struct stat status;
    return stat(path, &status) || !S_ISREG(status.st_mode) ? 0 : (double)status.st_size / 1e6;
}

double bench_folder_mb(const char *path, size_t *out_files)
{
    DIR *folder = opendir(path);
    double sum = 0;
    *out_files = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_type != DT_REG)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        sum += bench_file_mb(name);
        ++*out_files;
    }
    if (folder)
        closedir(folder);
    return sum;
}

static int remove_one(const char *path, const struct stat *stat_, int type, struct FTW *walk)
{
    (void)stat_;
    (void)type;
    (void)walk;
    return remove(path);
}

bool bench_remove_folder(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0;
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
