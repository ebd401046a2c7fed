/* Reading files in memory, and comparing what came with the scene that went in. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum doppel_status read_bytes(const void *data, size_t size,
                              const struct doppel_luma_options *options, struct doppel_luma *out,
                              struct doppel_error *error)
{
    int fd = file_open(data, size);
    enum doppel_status status = doppel_media_read_luma(fd, options, out, error);
    close(fd);
    return status;
}

struct doppel_luma read_good(const struct file *file, const struct doppel_luma_options *options)
{
    struct doppel_luma luma = {0};
    struct doppel_error error = {0};
    enum doppel_status status = read_bytes(file->data, file->size, options, &luma, &error);
    if (status != DOPPEL_OK)
        fail_msg("%s: %s", doppel_status_name(status), error.message);
    assert_ptr_equal(luma.plane.data, luma.pixels);
    assert_true(luma.plane.stride >= luma.plane.width);
    return luma;
}

struct doppel_luma_options reducing_to(uint32_t min_side)
{
    struct doppel_luma_options options = doppel_luma_options_default();
    options.min_side = min_side;
    return options;
}

/* The stored sample that is shown at (x, y). Source: EXIF 2.32, tag 0x0112, case by case. */
static void stored_place(unsigned orientation, uint32_t width, uint32_t height, uint32_t *x,
                         uint32_t *y)
{
    uint32_t shown_x = *x, shown_y = *y;
    switch (orientation) {
    case 2:
        *x = width - 1 - shown_x;
        break;
    case 3:
        *x = width - 1 - shown_x;
        *y = height - 1 - shown_y;
        break;
    case 4:
        *y = height - 1 - shown_y;
        break;
    case 5:
        *x = shown_y;
        *y = shown_x;
        break;
    case 6:
        *x = shown_y;
        *y = height - 1 - shown_x;
        break;
    case 7:
        *x = width - 1 - shown_y;
        *y = height - 1 - shown_x;
        break;
    case 8:
        *x = width - 1 - shown_y;
        *y = shown_x;
        break;
    default:
        break;
    }
}

static double cell_mean(const struct scene *scene, uint32_t cell, unsigned orientation,
                        uint32_t cell_x, uint32_t cell_y)
{
    uint32_t width = orientation >= 5 ? scene->height : scene->width;
    uint32_t height = orientation >= 5 ? scene->width : scene->height;
    double sum = 0;
    unsigned count = 0;
    for (uint32_t j = cell_y * cell; j < (cell_y + 1) * cell && j < height; j++) {
        for (uint32_t i = cell_x * cell; i < (cell_x + 1) * cell && i < width; i++, count++) {
            uint32_t x = i, y = j;
            stored_place(orientation, scene->width, scene->height, &x, &y);
            sum += scene_luma(scene, x, y);
        }
    }
    return sum / count;
}

struct difference compare(const struct doppel_luma *luma, const struct scene *scene, uint32_t cell,
                          unsigned orientation)
{
    const struct doppel_plane *plane = &luma->plane;
    struct difference difference = {0};
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            double wanted = cell_mean(scene, cell, orientation, x, y);
            double off = fabs(plane->data[y * plane->stride + x] - wanted);
            difference.mean += off;
            difference.most = off > difference.most ? off : difference.most;
        }
    }
    difference.mean /= (double)plane->width * plane->height;
    return difference;
}

void assert_reads_as(struct file file, const struct scene *scene,
                     const struct doppel_luma_options *options, double mean, double most)
{
    assert_non_null(file.data);
    struct doppel_luma luma = read_good(&file, options);
    assert_int_equal(luma.width, scene->width);
    assert_int_equal(luma.height, scene->height);
    uint32_t cell = (scene->width + luma.plane.width / 2) / luma.plane.width;
    assert_int_equal(luma.plane.width, (scene->width + cell - 1) / cell);
    assert_int_equal(luma.plane.height, (scene->height + cell - 1) / cell);
    struct difference difference = compare(&luma, scene, cell, 1);
    if (difference.mean > mean || difference.most > most)
        fail_msg("off by %.2f in the mean and %.1f at most; allowed are %.2f and %.1f",
                 difference.mean, difference.most, mean, most);
    doppel_luma_free(&luma);
    file_free(&file);
}

void assert_turned(struct file file, const struct scene *scene, unsigned orientation)
{
    struct doppel_luma luma = read_good(&file, NULL);
    assert_int_equal(luma.width, orientation >= 5 ? scene->height : scene->width);
    assert_true(compare(&luma, scene, 1, orientation).most < 1.1);
    doppel_luma_free(&luma);
    file_free(&file);
}

uint32_t rows_of_cut(const struct file *file, size_t size, const struct scene *scene)
{
    struct doppel_luma_options full = reducing_to(0);
    struct doppel_luma luma;
    assert_int_equal(read_bytes(file->data, size, &full, &luma, NULL), DOPPEL_OK);
    assert_int_equal(luma.height, scene->height);
    assert_true(compare(&luma, scene, 1, 1).most < 1.1);
    uint32_t rows = luma.plane.height;
    assert_int_equal(luma.there_height, rows);
    assert_int_equal(luma.there_width, scene->width);
    assert_false(luma.coarse);
    doppel_luma_free(&luma);
    return rows;
}

void assert_refused(const void *data, size_t size, const struct doppel_luma_options *options,
                    enum doppel_status status, const char *words)
{
    struct doppel_luma luma = {.width = 77};
    struct doppel_error error = {0};
    enum doppel_status got = read_bytes(data, size, options, &luma, &error);
    if (got == DOPPEL_OK)
        fail_msg("was read, but should be refused (%s)", words);
    assert_string_equal(doppel_status_name(got), doppel_status_name(status));
    assert_int_equal(error.status, status);
    if (!strstr(error.message, words))
        fail_msg("says \"%s\", without \"%s\"", error.message, words);
    assert_int_equal(luma.width, 77); /* untouched on failure */
}
