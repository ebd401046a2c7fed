/*
 * sandbox_cost [DIR...]: what the sandbox of workers costs, against none: at a worker's start; a
 * JPEG of about 1 megapixel, those under DIRs, else drawn; and tiny ones, whose cost is that of the
 * system calls. In turns, by CPU of all processes. Two figures of each: the difference of the least
 * of all rounds, as a loaded machine adds to each, and the median of the rounds' own differences,
 * with the interval in which it lies by 95 % (of order statistics: no distribution is assumed).
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <doppel/worker.h>

#include "bench.h"
#include "demo/draw.h"

/* Rounds are short, so that some are left alone by what else the machine does; and many, as one
 * varies by 8 %. */
enum { STARTS = 101, ROUNDS = 3001, TINY_ROUNDS = 301, PASSES = 1, TINY_PASSES = 8, DRAWN = 12 };

static struct doppel_pool_options options_of(enum doppel_sandbox sandbox)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    options.program = DOPPEL_WORKER_PROGRAM;
    options.jobs = 1;
    options.sandbox = sandbox;
    return options;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* What one thing took in each round, by way. */
struct rounds {
    double none[ROUNDS], sandbox[ROUNDS];
    size_t count;
};

struct cost {
    double none, sandbox;     /* the least */
    double low, median, high; /* of the rounds' differences: the median, and its interval */
};

static struct cost cost_of(struct rounds *rounds)
{
    double differences[ROUNDS];
    for (size_t i = 0; i < rounds->count; i++)
        differences[i] = rounds->sandbox[i] - rounds->none[i];
    qsort(rounds->none, rounds->count, sizeof *rounds->none, ascending);
    qsort(rounds->sandbox, rounds->count, sizeof *rounds->sandbox, ascending);
    qsort(differences, rounds->count, sizeof *differences, ascending);
    size_t middle = rounds->count / 2, ranks = (size_t)(0.98 * sqrt((double)rounds->count));
    return (struct cost){rounds->none[0], rounds->sandbox[0], differences[middle - ranks],
                         differences[middle], differences[middle + ranks]};
}

/* @param unit what 100 % are, or 0: in ms */
static void print_cost(const char *what, const struct cost *cost, double unit)
{
    double scale = unit ? 100 / unit : 1;
    const char *sign = unit ? " %" : " ms";
    printf("%s, ms of CPU: none %.4f, sandbox %.4f: %+.2f%s by the least; %+.2f (%+.2f to %+.2f)%s "
           "by rounds\n",
           what, cost->none, cost->sandbox, (cost->sandbox - cost->none) * scale, sign,
           cost->median * scale, cost->low * scale, cost->high * scale, sign);
}

static double start_ms(enum doppel_sandbox sandbox, struct doppel_confinement *held)
{
    struct doppel_pool_options options = options_of(sandbox);
    struct doppel_error error;
    struct bench_time begun = bench_now();
    bench_must(doppel_worker_examine(&options, held, &error), &error);
    return bench_each_ms(begun, 1).cpu;
}

static void measure_starts(void)
{
    struct rounds rounds = {.count = STARTS};
    struct doppel_confinement held;
    for (size_t i = 0; i < STARTS; i++) {
        rounds.none[i] = start_ms(DOPPEL_SANDBOX_NONE, &held);
        rounds.sandbox[i] = start_ms(DOPPEL_SANDBOX_AUTO, &held);
    }
    printf("held: Landlock ABI %u%s, %s\n", held.landlock_abi, held.files ? "" : " (not active)",
           held.calls ? "seccomp" : "no filter of system calls");
    struct cost cost = cost_of(&rounds);
    print_cost("a worker's start", &cost, 0);
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

static struct doppel_pool *warm_pool(enum doppel_sandbox sandbox, const struct bench_files *files,
                                     size_t passes)
{
    struct doppel_pool_options options = options_of(sandbox);
    struct doppel_pool *pool;
    struct doppel_error error;
    bench_must(doppel_pool_new(&options, &pool, &error), &error);
    hash_all(pool, files, passes);
    return pool;
}

static double file_ms(struct doppel_pool *pool, const struct bench_files *files, size_t passes)
{
    struct bench_time begun = bench_now();
    hash_all(pool, files, passes);
    return bench_each_ms(begun, files->count * passes).cpu;
}

/* Who is first changes from round to round. */
static struct cost measure_files(const struct bench_files *files, size_t passes, size_t count)
{
    struct doppel_pool *none = warm_pool(DOPPEL_SANDBOX_NONE, files, passes);
    struct doppel_pool *sandbox = warm_pool(DOPPEL_SANDBOX_AUTO, files, passes);
    struct rounds rounds = {.count = count};
    for (size_t i = 0; i < count; i++) {
        if (i % 2)
            rounds.none[i] = file_ms(none, files, passes);
        rounds.sandbox[i] = file_ms(sandbox, files, passes);
        if (i % 2 == 0)
            rounds.none[i] = file_ms(none, files, passes);
    }
    doppel_pool_free(none);
    doppel_pool_free(sandbox);
    return cost_of(&rounds);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/sandbox_cost.XXXXXX";
    struct bench_files files = {0}, tiny = {0};
    if (!mkdtemp(folder))
        return 1;
    for (int i = 1; i < argc; i++)
        bench_find_jpegs(&files, argv[i], 500000, 2000000);
    if (!files.count)
        draw(folder, &files, 1200, 850);
    draw(folder, &tiny, 64, 64);
    measure_starts();
    struct cost large_cost = measure_files(&files, PASSES, ROUNDS);
    struct cost tiny_cost = measure_files(&tiny, TINY_PASSES, TINY_ROUNDS);
    printf("%zu ", files.count);
    print_cost("JPEGs of about 1 megapixel, each", &large_cost, large_cost.none);
    print_cost("tiny JPEGs, each; % of the former", &tiny_cost, large_cost.none);
    bench_free_files(&files);
    bench_free_files(&tiny);
    return !bench_remove_folder(folder);
}
