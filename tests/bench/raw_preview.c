/*
 * raw_preview: CPU time of a raw file of a camera to luma, against its preview alone. The file is a
 * DNG of 24 megapixels, not compressed, with a preview of its full size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <doppel/media.h>

#include "bench.h"
#include "make.h"

enum { ROUNDS = 15, WIDTH = 6000, HEIGHT = 4000 };

static double read_ms(int fd)
{
    struct doppel_luma luma;
    struct doppel_error error;
    struct bench_time begin = bench_now();
    bench_must(doppel_media_read_luma(fd, NULL, &luma, &error), &error);
    doppel_luma_free(&luma);
    return bench_each_ms(begin, 1).cpu;
}

int main(void)
{
    double raw[ROUNDS], preview[ROUNDS];
    struct scene scene = scene_make(SCENE_SMOOTH, WIDTH, HEIGHT);
    struct raw_how how = {.preview = make_jpeg(&scene, &(struct jpeg_how){0}),
                          .preview_width = WIDTH,
                          .preview_height = HEIGHT};
    struct file file = make_raw(&scene, &how);
    int raw_fd = file_open(file.data, file.size);
    int preview_fd = file_open(how.preview.data, how.preview.size);
    for (int i = 0; i < ROUNDS; i++) {
        raw[i] = read_ms(raw_fd);
        preview[i] = read_ms(preview_fd);
    }
    double ratio = bench_median_ratio(raw, preview, ROUNDS);
    printf("raw file of %zu MB  %6.2f ms\n", file.size / 1000000, bench_median(raw, ROUNDS));
    printf("its preview alone  %6.2f ms\n", bench_median(preview, ROUNDS));
    printf("ratio              %6.2f\n", ratio);
    close(raw_fd);
    close(preview_fd);
    file_free(&file);
    file_free(&how.preview);
    scene_free(&scene);
    return 0;
}
