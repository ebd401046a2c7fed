/*
 * hash_jobs [FILE...]: wall time of `doppel hash` over several files with one job and with two, in
 * interleaved rounds. A FILE may be a folder. Without any, pictures are drawn and videos are made,
 * and hashed apart and together; where videos cannot be written, pictures alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "demo/draw.h"
#include "video.h"

enum { ROUNDS = 5, IMAGES = DRAW_SUBJECTS / 2, VIDEOS = 2, MAX_FILES = 1000 };
enum { IMAGE_WIDTH = 2000, IMAGE_HEIGHT = 1500, VIDEO_WIDTH = 640, VIDEO_HEIGHT = 360 };

static const double video_seconds = 8;

/* ---- what is hashed ---- */

/* As many other files with the same content, each with bytes of its own behind it: to draw is slow.
 */
static bool make_copies(const char *path)
{
    char command[256];
    snprintf(command, sizeof command, "for i in %s; do (cat %s; echo $i) > %s-$i; done",
             "1 2 3 4 5 6 7", path, path);
    return system(command) == 0;
}

static bool make_images(const char *folder)
{
    char path[64];
    bool made = mkdir(folder, 0700) == 0;
    for (unsigned i = 0; i < IMAGES && made; i++) {
        struct image image = draw_image(i, 1, IMAGE_WIDTH, IMAGE_HEIGHT);
        snprintf(path, sizeof path, "%s/%u.jpg", folder, i);
        made = image.pixels && write_jpeg(path, &image, 90) && make_copies(path);
        image_free(&image);
    }
    return made;
}

static bool make_videos(const char *folder)
{
    char path[64];
    bool made = mkdir(folder, 0700) == 0;
    for (unsigned i = 0; i < VIDEOS && made; i++) {
        const struct video_how how = {.view.seed = 1 + i,
                                      .seconds = video_seconds,
                                      .width = VIDEO_WIDTH,
                                      .height = VIDEO_HEIGHT};
        snprintf(path, sizeof path, "%s/%u.mp4", folder, i);
        made = video_write(path, &how) && make_copies(path);
    }
    return made;
}

/* ---- measuring ---- */

static struct bench_run hash(const char *jobs, const char *const *files, size_t count)
{
    const char *words[MAX_FILES + 7] = {DOPPEL_PROGRAM, "hash", "-j", jobs, "--no-cache", "-q"};
    memcpy(words + 6, files, count * sizeof *files);
    return bench_run(words);
}

static void measure(const char *name, const char *const *files, size_t count)
{
    double walls[2][ROUNDS], cpus[2][ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        for (int jobs = 0; jobs < 2; jobs++) {
            struct bench_run run = hash(jobs ? "2" : "1", files, count);
            walls[jobs][round] = run.wall;
            cpus[jobs][round] = run.cpu;
        }
    double ratio = bench_median_ratio(walls[0], walls[1], ROUNDS);
    double cpu_ratio = bench_median_ratio(cpus[1], cpus[0], ROUNDS);
    printf("%-20s %8.2f s %8.2f s %10.2f x %12.2f x\n", name, bench_median(walls[0], ROUNDS),
           bench_median(walls[1], ROUNDS), ratio, cpu_ratio);
    fflush(stdout);
}

static void measure_made(void)
{
    static const char *const both[] = {"pictures", "films"};
    if (!make_images(both[0])) {
        fputs("hash_jobs: the pictures could not be written\n", stderr);
        exit(2);
    }
    measure(both[0], both, 1);
    if (!make_videos(both[1]))
        return;
    measure(both[1], both + 1, 1);
    measure("both", both, 2);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/hash-jobs-XXXXXX";
    printf("%-20s %10s %10s %12s %14s\n", "wall, median", "-j1", "-j2", "-j1 / -j2",
           "CPU, -j2 / -j1");
    if (argc > MAX_FILES)
        return 2;
    if (argc > 1) {
        measure("the files", (const char *const *)argv + 1, (size_t)argc - 1);
        return 0;
    }
    if (!mkdtemp(folder) || chdir(folder))
        return 2;
    measure_made();
    return bench_remove_folder(folder) ? 0 : 2;
}
