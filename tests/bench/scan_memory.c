/*
 * What a picture costs in memory in a whole `doppel scan`: the peak of a scan of N pictures less
 * that of N/2, all of them in the cache, by the process itself (workers are not started for what is
 * known).
 *
 *     scan_memory [PICTURES]
 *
 * The pictures are unrelated items: grey noise in cells of 7 pixels, interpolated, as JPEG.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "noise.h"

enum { WIDTH = 224, HEIGHT = 168, QUALITY = 60, FOLDER_FILES = 1000, DEFAULT = 20000 };

static void write_half(const char *half, size_t count, uint64_t *state)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    struct image image = {WIDTH, HEIGHT, pixels};
    char path[64] = "a folder";
    bool made = mkdir(half, 0700) == 0;
    for (size_t i = 0; i < count && made; i++) {
        if (i % FOLDER_FILES == 0) {
            snprintf(path, sizeof path, "%s/%zu", half, i / FOLDER_FILES);
            made = mkdir(path, 0700) == 0;
        }
        noise_draw(&image, state);
        snprintf(path, sizeof path, "%s/%zu/%zu.jpg", half, i / FOLDER_FILES, i);
        made = made && write_jpeg(path, &image, QUALITY);
    }
    if (!made) {
        perror(path);
        exit(2);
    }
}

/* Bytes of the process itself at its peak. */
static double scan(const char *first, const char *second)
{
    return bench_run((const char *const[]){DOPPEL_PROGRAM, "scan", "--no-progress", "--cache",
                                           "cache.db", first, second, NULL})
        .peak_bytes;
}

int main(int argc, char **argv)
{
    size_t half = (argc > 1 ? strtoul(argv[1], NULL, 10) : DEFAULT) / 2;
    uint64_t state = 88172645463325252u;
    char folder[] = "/tmp/scan-memory-XXXXXX";
    if (!half || !mkdtemp(folder) || chdir(folder))
        return 2;
    write_half("a", half, &state);
    write_half("b", half, &state);
    scan("b", "a"); /* now all are in the cache, but not compared in this order */
    double all = scan("a", "b"), less = scan("a", NULL);
    printf("%-12s %10s\n", "pictures", "peak KB");
    printf("%-12zu %10.0f\n%-12zu %10.0f\n", half, less / 1024, 2 * half, all / 1024);
    printf("bytes for each picture more: %.0f\n", (all - less) / (double)half);
    return bench_remove_folder(folder) ? 0 : 2;
}
