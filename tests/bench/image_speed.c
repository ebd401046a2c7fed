/*
 * image_speed [DIR...]: from JPEG file to all views of phash64, through workers and in this
 * process, against libjpeg-turbo's own grey decode at 1/8 and, where it is built, OpenCV's imread +
 * PHash. Without DIR it draws its pictures. Rounds are interleaved; ratios are medians of each
 * round's.
 */
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h>

#include <doppel/image.h>
#include <doppel/media.h>
#include <doppel/worker.h>

#include "bench.h"
#include "worker/confine.h"

enum { MAX_ROUNDS = 101 };

enum way { TURBO_8, TURBO_4, IN_PROCESS, ONE_JOB, TWO_JOBS, OPENCV, WAYS };

static const char *const way_names[WAYS] = {
    "libjpeg-turbo, grey, 1/8", "libjpeg-turbo, grey, 1/4", "media + image, in this process",
    "workers, 1 job",           "workers, 2 jobs",          "OpenCV imread + PHash"};

struct run {
    const struct bench_files *files;
    unsigned repeats, rounds;
    struct doppel_pool *one, *two;
    const char *list; /* file with the paths, for the peer */
    struct bench_time times[WAYS][MAX_ROUNDS];
};

static void die(const char *what)
{
    fprintf(stderr, "image_speed: %s\n", what);
    exit(2);
}

/* ---- the ways ---- */

static void decode_grey(const char *path, unsigned scale)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path);
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_stdio_src(&cinfo, file);
    jpeg_read_header(&cinfo, TRUE);
    cinfo.out_color_space = JCS_GRAYSCALE;
    cinfo.scale_num = 1;
    cinfo.scale_denom = scale;
    jpeg_start_decompress(&cinfo);
    JSAMPROW row = malloc(cinfo.output_width);
    while (cinfo.output_scanline < cinfo.output_height)
        jpeg_read_scanlines(&cinfo, &row, 1);
    jpeg_finish_decompress(&cinfo);
    jpeg_destroy_decompress(&cinfo);
    free(row);
    fclose(file);
}

static void hash_in_process(const char *path)
{
    struct doppel_luma luma;
    struct doppel_image_features features;
    struct doppel_error error;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (doppel_media_read_luma(fd, NULL, &luma, &error) ||
        doppel_image_features(&luma.plane, &features, &error))
        die(error.message);
    doppel_fingerprint_free(&features.fingerprint);
    doppel_luma_free(&luma);
    close(fd);
}

static void hash_by_workers(const struct run *run, struct doppel_pool *pool)
{
    size_t count = run->files->count * run->repeats;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_order order = {.scheme = scheme->id, .version = scheme->version};
    struct doppel_outcome outcome;
    struct doppel_error error;
    for (size_t given = 0, taken = 0; taken < count; taken++) {
        for (; given < count && doppel_pool_room(pool); given++) {
            int fd = open(run->files->paths[given % run->files->count], O_RDONLY | O_CLOEXEC);
            doppel_pool_submit(pool, fd, &order, given, NULL);
        }
        if (doppel_pool_next(pool, -1, &outcome, &error))
            die(error.message);
        if (outcome.error.status)
            die(outcome.error.message);
        doppel_outcome_free(&outcome);
    }
}

/* The peer measures itself, without its start: "CPU-ms wall-ms" of each picture. */
static struct bench_time ask_peer(const struct run *run)
{
    struct bench_time time = {0, 0};
#ifdef OPENCV_PEER
    char command[600];
    snprintf(command, sizeof command, "'%s' '%s' 1", OPENCV_PEER, run->list);
    FILE *peer = popen(command, "r");
    if (!peer || fscanf(peer, "%lf %lf", &time.cpu, &time.wall) != 2)
        die("the peer failed");
    pclose(peer);
#else
    (void)run;
#endif
    return time;
}

static struct bench_time measure(const struct run *run, enum way way)
{
    size_t count = run->files->count * run->repeats;
    struct bench_time since = bench_now();
    if (way == OPENCV)
        return ask_peer(run);
    if (way == ONE_JOB || way == TWO_JOBS)
        hash_by_workers(run, way == ONE_JOB ? run->one : run->two);
    for (size_t i = 0; i < count && way <= IN_PROCESS; i++) {
        const char *path = run->files->paths[i % run->files->count];
        if (way == IN_PROCESS)
            hash_in_process(path);
        else
            decode_grey(path, way == TURBO_8 ? 8 : 4);
    }
    return bench_each_ms(since, count);
}

/* ---- the table ---- */

static double median_of(const struct run *run, enum way way, bool wall)
{
    double values[MAX_ROUNDS];
    for (unsigned i = 0; i < run->rounds; i++)
        values[i] = wall ? run->times[way][i].wall : run->times[way][i].cpu;
    return bench_median(values, run->rounds);
}

/* Median over the rounds of a's time over b's. */
static double ratio_of(const struct run *run, enum way a, enum way b, bool wall)
{
    double values[MAX_ROUNDS];
    for (unsigned i = 0; i < run->rounds; i++) {
        const struct bench_time *left = &run->times[a][i], *right = &run->times[b][i];
        values[i] = wall ? left->wall / right->wall : left->cpu / right->cpu;
    }
    return bench_median(values, run->rounds);
}

static void print_goal(const char *what, double value, const char *relation, double goal)
{
    bool met = *relation == '<' ? value <= goal : value >= goal;
    printf("  %-58s %6.3f  goal %s %.2f  %s\n", what, value, relation, goal,
           met ? "met" : "MISSED");
}

static void print_table(const struct run *run, const char *title, bool large)
{
    bool peer = run->times[OPENCV][0].cpu > 0;
    printf("\n%s: %zu pictures x %u, %u rounds\n", title, run->files->count, run->repeats,
           run->rounds);
    printf("  %-34s %10s %10s %12s\n", "ms a picture, median", "CPU", "wall", "CPU / 1:8");
    for (enum way way = 0; way < WAYS; way++)
        if (way != OPENCV || peer)
            printf("  %-34s %10.3f %10.3f %12.3f\n", way_names[way], median_of(run, way, false),
                   median_of(run, way, true), ratio_of(run, way, TURBO_8, false));
    print_goal("workers, 1 job / libjpeg-turbo 1/8, CPU", ratio_of(run, ONE_JOB, TURBO_8, false),
               "<=", large ? 1.10 : 1.5);
    print_goal("workers, 1 job / libjpeg-turbo 1/8, wall", ratio_of(run, ONE_JOB, TURBO_8, true),
               "<=", large ? 1.10 : 1.5);
    if (!large) {
        print_goal("workers, 1 job / in this process, wall",
                   ratio_of(run, ONE_JOB, IN_PROCESS, true), "<=", 1.03);
        print_goal("workers, 1 job / in this process, CPU of all processes",
                   ratio_of(run, ONE_JOB, IN_PROCESS, false), "<=", 1.03);
        print_goal("workers, 2 jobs / in this process, CPU of all processes",
                   ratio_of(run, TWO_JOBS, IN_PROCESS, false), "<=", 1.03);
    }
    if (large && peer)
        print_goal("OpenCV / workers, 1 job, CPU", ratio_of(run, OPENCV, ONE_JOB, false),
                   ">=", 4.5);
    print_goal("workers, 1 job / 2 jobs, wall", ratio_of(run, ONE_JOB, TWO_JOBS, true), ">=", 1.8);
}

/* ---- pictures ---- */

static double noise_at(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t hash = x * 374761393u + y * 668265263u + seed * 2246822519u;
    hash = (hash ^ hash >> 13) * 1274126177u;
    return (double)((hash ^ hash >> 16) & 0xffff) / 65535;
}

/* Value noise: the corners of a lattice of `step` pixels, blended. */
static double blend(uint32_t x, uint32_t y, uint32_t step, uint32_t seed)
{
    uint32_t column = x / step, row = y / step;
    double u = (double)(x % step) / step, v = (double)(y % step) / step;
    double top = noise_at(column, row, seed) * (1 - u) + noise_at(column + 1, row, seed) * u;
    double bottom =
        noise_at(column, row + 1, seed) * (1 - u) + noise_at(column + 1, row + 1, seed) * u;
    return top * (1 - v) + bottom * v;
}

static void draw_row(uint32_t width, uint32_t y, uint32_t seed, uint8_t *out)
{
    for (uint32_t x = 0; x < width; x++) {
        double shade = 0, weight = 0.5;
        for (uint32_t step = width / 3; step >= 2; step /= 3, weight *= 0.55)
            shade += weight * blend(x, y, step, seed + step);
        shade = fmin(fmax(shade * 1.1 - 0.05, 0), 1);
        out[3 * x] = (uint8_t)(shade * 255);
        out[3 * x + 1] = (uint8_t)(shade * 230);
        out[3 * x + 2] = (uint8_t)(blend(x, y, width / 4, seed) * 255);
    }
}

static void draw_jpeg(const char *path, uint32_t width, uint32_t height, uint32_t seed)
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(path, "wb");
    JSAMPROW row = malloc((size_t)width * 3);
    if (!file || !row)
        die(path);
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_stdio_dest(&cinfo, file);
    cinfo.image_width = width;
    cinfo.image_height = height;
    cinfo.input_components = 3;
    cinfo.in_color_space = JCS_RGB;
    jpeg_set_defaults(&cinfo);
    jpeg_set_quality(&cinfo, 90, TRUE);
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < height) {
        draw_row(width, cinfo.next_scanline, seed, row);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    free(row);
    fclose(file);
}

static void draw_images(char *folder)
{
    char path[64];
    if (!mkdtemp(folder))
        die(folder);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/large%u.jpg", folder, i);
        draw_jpeg(path, 4000, 3000, i);
        snprintf(path, sizeof path, "%s/middle%u.jpg", folder, i);
        draw_jpeg(path, 1152, 864, i);
    }
}

/* ---- the run ---- */

static struct doppel_pool *open_pool(uint32_t jobs)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool;
    struct doppel_error error;
#ifdef DOPPEL_WORKER_PROGRAM
    options.program = DOPPEL_WORKER_PROGRAM;
#endif
    options.jobs = jobs;
    if (doppel_pool_new(&options, &pool, &error))
        die(error.message);
    return pool;
}

static void write_list(const struct bench_files *files, const char *path)
{
    FILE *list = fopen(path, "w");
    if (!list)
        die(path);
    for (size_t i = 0; i < files->count; i++)
        fprintf(list, "%s\n", files->paths[i]);
    fclose(list);
}

static void run_all(const struct bench_files *files, const char *title, bool large, unsigned rounds)
{
    static struct run run;
    char list[] = "/tmp/doppel-speed.XXXXXX";
    int fd = mkstemp(list);
    if (fd < 0)
        die(list);
    close(fd);
    write_list(files, list);
    size_t wanted = large ? 12 : 48;
    run = (struct run){.files = files,
                       .repeats = (unsigned)((wanted + files->count - 1) / files->count),
                       .rounds = rounds,
                       .one = open_pool(1),
                       .two = open_pool(2),
                       .list = list};
    for (enum way way = 0; way < WAYS; way++) /* to warm up */
        measure(&run, way);
    for (unsigned round = 0; round < rounds; round++)
        for (enum way way = 0; way < WAYS; way++)
            run.times[way][round] = measure(&run, way);
    print_table(&run, title, large);
    doppel_pool_free(run.one);
    doppel_pool_free(run.two);
    unlink(list);
}

static void run_size(char **folders, int count, uint64_t min, uint64_t max, const char *title,
                     unsigned rounds)
{
    struct bench_files files = {.count = 0};
    for (int i = 0; i < count; i++)
        bench_find_jpegs(&files, folders[i], min, max);
    if (files.count)
        run_all(&files, title, min > 5000000, rounds);
    else
        printf("\n%s: none found\n", title);
    bench_free_files(&files);
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("BENCH_ROUNDS");
    unsigned rounds = wanted ? (unsigned)atoi(wanted) : 25;
    char drawn[] = "/tmp/doppel-speed.XXXXXX", *folder = drawn;
    settle_allocator(); /* as in the workers, so that the ways differ in the way alone */
    if (rounds < 1 || rounds > MAX_ROUNDS)
        die("BENCH_ROUNDS is 1 to 101");
    if (argc < 2)
        draw_images(drawn);
    char **folders = argc < 2 ? &folder : argv + 1;
    int count = argc < 2 ? 1 : argc - 1;
    run_size(folders, count, 9000000, 16000000, "12 megapixels", rounds);
    run_size(folders, count, 700000, 1500000, "1 megapixel", rounds);
    if (argc < 2) {
        char command[64];
        snprintf(command, sizeof command, "rm -r '%s'", drawn);
        return system(command) != 0;
    }
    return 0;
}
