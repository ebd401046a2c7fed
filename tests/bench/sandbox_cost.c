/*
 * sandbox_cost [DIR...]: what the sandbox of workers costs, against none: at a worker's start; a
 * JPEG of about 1 megapixel, those under DIRs, else drawn; and tiny ones, whose cost is that of the
 * system calls. In turns; the least of all rounds, as a loaded machine adds to each.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <doppel/worker.h>

#include "bench.h"
#include "demo/draw.h"

enum { STARTS = 41, ROUNDS = 21, PASSES = 8, TINY_PASSES = 30, DRAWN = 12 };

static const enum doppel_sandbox ways[] = {DOPPEL_SANDBOX_NONE, DOPPEL_SANDBOX_AUTO};

static double ended_children(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct doppel_pool_options options_of(enum doppel_sandbox sandbox)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    options.program = DOPPEL_WORKER_PROGRAM;
    options.jobs = 1;
    options.sandbox = sandbox;
    return options;
}

static double least_of(const double *values, size_t count)
{
    double least = values[0];
    for (size_t i = 1; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

static void measure_starts(void)
{
    double wall[2][STARTS], cpu[2][STARTS];
    for (int i = 0; i < STARTS; i++)
        for (int way = 0; way < 2; way++) {
            struct doppel_pool_options options = options_of(ways[way]);
            struct doppel_confinement held;
            struct doppel_error error;
            double ended = ended_children(), begun = bench_seconds(CLOCK_MONOTONIC);
            bench_must(doppel_worker_examine(&options, &held, &error), &error);
            wall[way][i] = (bench_seconds(CLOCK_MONOTONIC) - begun) * 1000;
            cpu[way][i] = (ended_children() - ended) * 1000;
            if (i == 0 && ways[way] == DOPPEL_SANDBOX_AUTO)
                printf("held: Landlock ABI %u%s, %s\n", held.landlock_abi,
                       held.files ? "" : " (not active)",
                       held.calls ? "seccomp" : "no filter of system calls");
        }
    double walls[2], cpus[2];
    for (int way = 0; way < 2; way++) {
        walls[way] = least_of(wall[way], STARTS);
        cpus[way] = least_of(cpu[way], STARTS);
    }
    printf("start, ms, wall / CPU: none %.1f / %.1f, sandbox %.1f / %.1f: %+.1f / %+.1f\n",
           walls[0], cpus[0], walls[1], cpus[1], walls[1] - walls[0], cpus[1] - cpus[0]);
}

static void draw(const char *folder, struct bench_files *files, uint32_t width, uint32_t height)
{
    char path[256];
    for (unsigned i = 0; i < DRAWN; i++) {
        struct image image = draw_image(i, 1, width, height);
        snprintf(path, sizeof path, "%s/%u-%u.jpg", folder, width, i);
        if (!image.pixels || !write_jpeg(path, &image, 90))
            exit(1);
        image_free(&image);
    }
    bench_find_jpegs(files, folder, width * height, width * height);
}

static void hash_all(struct doppel_pool *pool, const struct bench_files *files, size_t passes)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_order order = {.scheme = scheme->id, .version = scheme->version};
    struct doppel_outcome outcome;
    struct doppel_error error;
    for (size_t given = 0, taken = 0; taken < files->count * passes; taken++) {
        for (; given < files->count * passes && doppel_pool_room(pool); given++) {
            int fd = open(files->paths[given % files->count], O_RDONLY | O_CLOEXEC);
            bench_must(doppel_pool_submit(pool, fd, &order, given, &error), &error);
        }
        bench_must(doppel_pool_next(pool, -1, &outcome, &error), &error);
        bench_must(outcome.error.status, &outcome.error);
        doppel_outcome_free(&outcome);
    }
}

/* @param out ms of CPU of a file, by way */
static void measure_files(const struct bench_files *files, size_t passes, double out[2])
{
    struct doppel_pool *pools[2];
    double cpu[2][ROUNDS];
    for (int way = 0; way < 2; way++) {
        struct doppel_pool_options options = options_of(ways[way]);
        struct doppel_error error;
        bench_must(doppel_pool_new(&options, &pools[way], &error), &error);
        hash_all(pools[way], files, passes); /* warm */
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++) {
            int way = (i + round) % 2;
            struct bench_time begun = bench_now();
            hash_all(pools[way], files, passes);
            cpu[way][round] = bench_each_ms(begun, files->count * passes).cpu;
        }
    for (int way = 0; way < 2; way++) {
        out[way] = least_of(cpu[way], ROUNDS);
        doppel_pool_free(pools[way]);
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/sandbox_cost.XXXXXX";
    struct bench_files files = {0}, tiny = {0};
    double large_ms[2], tiny_ms[2];
    if (!mkdtemp(folder))
        return 1;
    for (int i = 1; i < argc; i++)
        bench_find_jpegs(&files, argv[i], 500000, 2000000);
    if (!files.count)
        draw(folder, &files, 1200, 850);
    draw(folder, &tiny, 64, 64);
    measure_starts();
    measure_files(&files, PASSES, large_ms);
    measure_files(&tiny, TINY_PASSES, tiny_ms);
    double more_ms = tiny_ms[1] - tiny_ms[0];
    printf("%zu JPEGs of about 1 megapixel, ms of CPU each: none %.3f, sandbox %.3f: %+.2f %%\n",
           files.count, large_ms[0], large_ms[1], (large_ms[1] / large_ms[0] - 1) * 100);
    printf("tiny JPEGs, the same: none %.4f, sandbox %.4f: %+.4f ms, of 1 megapixel %+.2f %%\n",
           tiny_ms[0], tiny_ms[1], more_ms, more_ms / large_ms[0] * 100);
    bench_free_files(&files);
    bench_free_files(&tiny);
    return !bench_remove_folder(folder);
}
