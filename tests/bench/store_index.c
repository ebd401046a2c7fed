/* store_index [MILLIONS]: inserts in transactions of 1000 codes, replay of a log at open, and the
 * cost of a commit of one; beside the disk's own fsync, and the index alone in memory. */
#include <doppel/store.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { BATCH = 1000, SYNCS = 50, SINGLES = 200 };

/* Source: Steele, Lea, Flood (2014), as the tests have it. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void fill(uint64_t first, uint64_t *codes, uint64_t *payloads)
{
    for (uint64_t i = 0; i < BATCH; i++) {
        payloads[i] = first + i;
        codes[i] = mix((first + i + 1) * 0x9e3779b97f4a7c15);
    }
}

struct opened {
    struct doppel_store *store;
    struct doppel_store_index *index;
};

static struct opened open_index(const char *folder, bool durable, uint32_t head_codes)
{
    char database[512], segments[512];
    struct doppel_error error;
    struct opened opened;
    struct doppel_index_options make = doppel_index_options_default();
    make.head_codes = head_codes;
    const struct doppel_store_options options = {.application_id = 1,
                                                 .schema_version = 1,
                                                 .schema = DOPPEL_STORE_INDEX_SCHEMA,
                                                 .create = true,
                                                 .busy_timeout_ms = 5000, /* it merges beside */
                                                 .durable = durable};
    snprintf(database, sizeof database, "%s/index.db", folder);
    snprintf(segments, sizeof segments, "%s/codes", folder);
    const struct doppel_store_index_options index_options = {
        .name = "codes", .folder = segments, .make = &make, .merge = true};
    bench_must(doppel_store_open(database, &options, &opened.store, &error), &error);
    bench_must(doppel_store_index_open(opened.store, &index_options, &opened.index, &error),
               &error);
    return opened;
}

static void close_index(struct opened *opened)
{
    doppel_store_index_close(opened->index);
    doppel_store_close(opened->store);
}

static void remove_folder(const char *folder)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'/*", folder);
    if (system(command))
        exit(1);
}

/* ---- the limits ---- */

static double fsync_ms(const char *folder)
{
    char path[512], page[16384] = {0};
    double times[SYNCS];
    snprintf(path, sizeof path, "%s/sync", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < SYNCS; i++) {
        struct bench_time begun = bench_now();
        if (pwrite(fd, page, sizeof page, (off_t)i * (off_t)sizeof page) < 0 || fdatasync(fd))
            exit(1);
        times[i] = bench_each_ms(begun, 1).wall;
    }
    close(fd);
    unlink(path);
    return bench_median(times, SYNCS);
}

/* Seconds of CPU to insert `count` codes into an index in memory that keeps them in its head. */
static double head_seconds(uint64_t count)
{
    uint64_t codes[BATCH], payloads[BATCH];
    struct doppel_index_options options = doppel_index_options_default();
    struct doppel_index *index;
    struct doppel_error error;
    options.head_codes = UINT32_MAX;
    bench_must(doppel_index_new(&options, &index, &error), &error);
    struct bench_time begun = bench_now();
    for (uint64_t first = 0; first < count; first += BATCH) {
        fill(first, codes, payloads);
        bench_must(doppel_index_insert(index, codes, payloads, BATCH, &error), &error);
    }
    double seconds = bench_each_ms(begun, 1).wall / 1e3;
    doppel_index_free(index);
    return seconds;
}

/* ---- measuring ---- */

static double insert_all(struct opened *opened, uint64_t count)
{
    uint64_t codes[BATCH], payloads[BATCH];
    struct doppel_error error;
    struct bench_time begun = bench_now();
    for (uint64_t first = 0; first < count; first += BATCH) {
        fill(first, codes, payloads);
        bench_must(doppel_store_index_insert(opened->index, codes, payloads, BATCH, &error),
                   &error);
    }
    return bench_each_ms(begun, 1).wall / 1e3;
}

static void measure_inserts(const char *folder, bool durable, uint64_t count)
{
    struct opened opened = open_index(folder, durable, 65536);
    double seconds = insert_all(&opened, count);
    size_t segments = doppel_index_info(doppel_store_index_get(opened.index)).segments;
    struct bench_time begun = bench_now();
    close_index(&opened);
    printf(
        "| inserts in transactions of %d, %s, %.0f M codes, with flushes and merges | %.2f M/s |\n",
        BATCH, durable ? "FULL" : "NORMAL", (double)count / 1e6, (double)count / seconds / 1e6);
    printf("| segments then; close, which waits for a merge | %zu; %.2f s |\n", segments,
           bench_each_ms(begun, 1).wall / 1e3);
    remove_folder(folder);
}

static void measure_replay(const char *folder, uint64_t count)
{
    struct opened opened = open_index(folder, false, UINT32_MAX);
    double seconds = insert_all(&opened, count);
    close_index(&opened);
    printf("| the same into the log alone, NORMAL | %.2f M/s |\n", (double)count / seconds / 1e6);
    struct bench_time begun = bench_now();
    opened = open_index(folder, false, UINT32_MAX);
    double open_seconds = bench_each_ms(begun, 1).wall / 1e3, head = head_seconds(count);
    printf("| open with %.0f M codes in the log | %.2f s |\n", (double)count / 1e6, open_seconds);
    printf("| of these the index, as measured by itself | %.2f s |\n", head);
    close_index(&opened);
    remove_folder(folder);
}

static void measure_singles(const char *folder, bool durable)
{
    struct opened opened = open_index(folder, durable, 65536);
    struct doppel_error error;
    double times[SINGLES];
    for (uint64_t i = 0; i < SINGLES; i++) {
        uint64_t code = mix(i);
        struct bench_time begun = bench_now();
        bench_must(doppel_store_index_insert(opened.index, &code, &i, 1, &error), &error);
        times[i] = bench_each_ms(begun, 1).wall;
    }
    printf("| a transaction of one code, %s, median | %.3f ms |\n", durable ? "FULL" : "NORMAL",
           bench_median(times, SINGLES));
    close_index(&opened);
    remove_folder(folder);
}

int main(int argc, char **argv)
{
    uint64_t count = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000;
    const char *parent = getenv("TMPDIR");
    char folder[256];
    snprintf(folder, sizeof folder, "%s/doppel-bench-XXXXXX", parent ? parent : "/var/tmp");
    if (!mkdtemp(folder))
        return 1;
    printf("| %s | |\n|---|---|\n", folder);
    printf("| write of 16 KB and fdatasync(), median | %.2f ms |\n", fsync_ms(folder));
    measure_singles(folder, true);
    measure_singles(folder, false);
    measure_inserts(folder, true, count);
    measure_inserts(folder, false, count);
    measure_replay(folder, count);
    rmdir(folder);
    return 0;
}
