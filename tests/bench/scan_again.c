/*
 * What a second `doppel scan` of files that have not changed costs, and one after so many of them
 * are new: COUNT small files in a folder, one in five a variant of the one before it.
 *
 *     scan_again pictures|texts [COUNT [NEW]]
 *
 * Pictures are grey noise as JPEG, 112×84 pixels, variants smaller and harder compressed; texts are
 * 120 words drawn from 5 000, in variants every 40th is another one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "noise.h"
#include "random.h"

enum { WIDTH = 112, HEIGHT = 84, FOLDER_FILES = 1000, RUNS = 5, WORDS = 120, VOCABULARY = 5000 };
enum { DEFAULT_COUNT = 100000, DEFAULT_NEW = 100 };
enum { SETTLE_SECONDS = 3 }; /* until stamps are believed */

typedef bool write_file(const char *path, size_t number, bool variant);

static bool write_image(const char *path, size_t number, bool variant)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    struct image image = {WIDTH, HEIGHT, pixels}, smaller;
    uint64_t state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    noise_draw(&image, &state);
    if (!variant)
        return write_jpeg(path, &image, 80);
    smaller = edit_shrink(&image, WIDTH * 3 / 4, HEIGHT * 3 / 4);
    bool written = write_jpeg(path, &smaller, 50);
    image_free(&smaller);
    return written;
}

static bool write_text(const char *path, size_t number, bool variant)
{
    struct random random = random_seeded(number, "words", "");
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < WORDS; i++) {
        int word = random_below(&random, VOCABULARY);
        fprintf(file, "w%d%c", variant && i % 40 == 20 ? VOCABULARY + i : word,
                i % 12 == 11 ? '\n' : ' ');
    }
    return file && fclose(file) == 0;
}

/* Files with numbers from `begin` on; every fifth is a variant of the one before it. */
static void write_files(const char *folder, const char *ending, size_t begin, size_t end,
                        write_file *write)
{
    char path[512];
    for (size_t i = begin; i < end; i++) {
        bool variant = i % 5 == 4;
        snprintf(path, sizeof path, "%s/%zu", folder, i / FOLDER_FILES);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%s/%zu/%zu.%s", folder, i / FOLDER_FILES, i, ending);
        if (!write(path, variant ? i - 1 : i, variant)) {
            perror(path);
            exit(2);
        }
    }
}

static struct bench_run scan(void)
{
    return bench_run((const char *const[]){DOPPEL_PROGRAM, "scan", "--no-progress", "--json",
                                           "--cache", "cache.db", "files", NULL});
}

static void print_runs(const char *what, const struct bench_run *runs, size_t count)
{
    double wall[RUNS], cpu[RUNS];
    for (size_t i = 0; i < count; i++) {
        wall[i] = runs[i].wall;
        cpu[i] = runs[i].cpu;
    }
    printf("%-24s %8.2f %8.2f %10.0f %10.1f\n", what, bench_median(wall, count),
           bench_median(cpu, count), runs[0].peak_bytes / 1024, bench_file_mb("cache.db"));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    bool images = argc > 1 && strcmp(argv[1], "texts") != 0;
    size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_COUNT;
    size_t more = argc > 3 ? strtoul(argv[3], NULL, 10) : DEFAULT_NEW;
    const char *ending = images ? "jpg" : "txt";
    write_file *write = images ? write_image : write_text;
    char folder[] = "/tmp/scan-again-XXXXXX";
    struct bench_run runs[RUNS];
    if (!mkdtemp(folder) || chdir(folder) || mkdir("files", 0700))
        return 2;
    write_files("files", ending, 0, count, write);
    sleep(SETTLE_SECONDS);
    printf("%-24s %8s %8s %10s %10s\n", "scan", "wall s", "CPU s", "peak KB", "cache MB");
    runs[0] = scan();
    print_runs("the first", runs, 1);
    for (int i = 0; i < RUNS; i++)
        runs[i] = scan();
    print_runs("again", runs, RUNS);
    for (int i = 0; i < RUNS; i++) {
        size_t from = count + (size_t)i * more;
        write_files("files", ending, from, from + more, write);
        sleep(SETTLE_SECONDS);
        runs[i] = scan();
    }
    print_runs("with new ones each time", runs, RUNS);
    return bench_remove_folder(folder) ? 0 : 2;
}
