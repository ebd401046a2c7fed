/* Small pictures to be looked at: of every format, upright, as bright as their luma and of the
 * scene's colours. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jpeglib.h>
#include <png.h>

enum { LONGEST = 48 };

/* RGB. */
struct still {
    uint32_t width, height;
    uint8_t *rgb;
    bool grey;
};

static struct still still_of(const struct file *file, const char *what)
{
    uint8_t *jpeg = NULL;
    size_t size = 0;
    struct doppel_error error = {0};
    int fd = file_open(file->data, file->size);
    if (doppel_media_read_still(fd, NULL, LONGEST, &jpeg, &size, &error) != DOPPEL_OK)
        fail_msg("%s: %s", what, error.message);
    close(fd);
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, jpeg, size);
    jpeg_read_header(&cinfo, TRUE);
    struct still still = {cinfo.image_width, cinfo.image_height, NULL, cinfo.num_components == 1};
    cinfo.out_color_space = JCS_RGB;
    jpeg_start_decompress(&cinfo);
    still.rgb = malloc((size_t)3 * still.width * still.height);
    while (cinfo.output_scanline < still.height) {
        JSAMPROW row = still.rgb + (size_t)3 * cinfo.output_scanline * still.width;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_decompress(&cinfo);
    jpeg_destroy_decompress(&cinfo);
    free(jpeg);
    return still;
}

static double luma_at(const struct still *still, uint32_t x, uint32_t y)
{
    const uint8_t *p = still->rgb + 3 * ((size_t)y * still->width + x);
    return .299 * p[0] + .587 * p[1] + .114 * p[2];
}

/* The mean of the luma that falls on a sample of the still. */
static double mean_at(const struct doppel_plane *plane, const struct still *still, uint32_t x,
                      uint32_t y)
{
    double sum = 0, count = 0;
    for (uint32_t v = y * plane->height / still->height;
         v < (y + 1) * plane->height / still->height; v++)
        for (uint32_t u = x * plane->width / still->width;
             u < (x + 1) * plane->width / still->width; u++, count++)
            sum += plane->data[v * plane->stride + u];
    return sum / count;
}

static void assert_as_luma(const struct file *file, const struct still *still, const char *what)
{
    struct doppel_luma_options options = doppel_luma_options_default();
    struct doppel_luma luma;
    options.min_side = 0;
    int fd = file_open(file->data, file->size);
    assert_int_equal(doppel_media_read_luma(fd, &options, &luma, NULL), DOPPEL_OK);
    close(fd);
    double difference = 0;
    bool wide = luma.plane.width > luma.plane.height;
    if (wide != (still->width > still->height))
        fail_msg("%s: %u x %u", what, still->width, still->height);
    for (uint32_t y = 0; y < still->height; y++)
        for (uint32_t x = 0; x < still->width; x++)
            difference += fabs(luma_at(still, x, y) - mean_at(&luma.plane, still, x, y));
    difference /= (double)still->width * still->height;
    if (difference > 6)
        fail_msg("%s: %.1f from its luma", what, difference);
    doppel_luma_free(&luma);
}

/* Of a picture that is not turned. */
static void assert_colours(const struct scene *scene, const struct still *still, const char *what)
{
    for (int channel = 0; channel < 3; channel++) {
        double wrong = 0;
        for (uint32_t y = 0; y < still->height; y++)
            for (uint32_t x = 0; x < still->width; x++) {
                uint32_t u = (2 * x + 1) * scene->width / (2 * still->width);
                uint32_t v = (2 * y + 1) * scene->height / (2 * still->height);
                const uint8_t *from = scene->rgba + 4 * ((size_t)v * scene->width + u);
                double alpha = from[3] / 255., wanted = from[channel] * alpha + 255 * (1 - alpha);
                wrong +=
                    fabs(still->rgb[3 * ((size_t)y * still->width + x) + (size_t)channel] - wanted);
            }
        wrong /= (double)still->width * still->height;
        if (wrong > 12)
            fail_msg("%s: channel %d is wrong by %.1f", what, channel, wrong);
    }
}

/* @param scene NULL: it is turned, or shown in grey. @param file freed */
static void check(struct file file, const struct scene *scene, const char *what)
{
    if (!file.data)
        return; /* no such encoder here */
    struct still still = still_of(&file, what);
    assert_true(still.width == LONGEST || still.height == LONGEST);
    assert_as_luma(&file, &still, what);
    if (scene) {
        assert_false(still.grey);
        assert_colours(scene, &still, what);
    }
    free(still.rgb);
    file_free(&file);
}

static void jpegs(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 300, 200);
    for (int colours = JPEG_YCC; colours <= JPEG_YCCK; colours++)
        for (unsigned orientation = 0; orientation <= 8; orientation++) {
            char what[64];
            snprintf(what, sizeof what, "JPEG, colours %d, orientation %u", colours, orientation);
            struct jpeg_how how = {.colours = (enum jpeg_colours)colours,
                                   .orientation = orientation,
                                   .progressive = orientation % 2};
            bool told = colours != JPEG_GREY;
            check(make_jpeg(&scene, &how), told && orientation <= 1 ? &scene : NULL, what);
        }
    scene_free(&scene);
}

/* Without FFmpeg no colours are read of what is no JPEG: a still is grey. */
#ifdef HAVE_FFMPEG
static const bool reads_colours = true;
#else
static const bool reads_colours = false;
#endif

static void pngs(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_ALPHA, 300, 200);
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_PALETTE,
                                PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB_ALPHA};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (unsigned orientation = 0; orientation <= 8; orientation++) {
            char what[64];
            snprintf(what, sizeof what, "PNG, type %d, orientation %u", types[i], orientation);
            struct png_how how = {
                .colour_type = types[i], .orientation = orientation, .interlaced = orientation % 2};
            bool told = types[i] == PNG_COLOR_TYPE_RGB_ALPHA && reads_colours;
            check(make_png(&scene, &how), told && orientation <= 1 ? &scene : NULL, what);
        }
    scene_free(&scene);
}

#ifdef HAVE_WEBP
static void webps(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_ALPHA, 300, 200);
    for (unsigned orientation = 0; orientation <= 8; orientation++)
        for (int lossless = 0; lossless < 2; lossless++) {
            char what[64];
            snprintf(what, sizeof what, "WebP, %d, orientation %u", lossless, orientation);
            struct webp_how how = {.lossless = lossless, .orientation = orientation};
            check(make_webp(&scene, &how), orientation <= 1 && reads_colours ? &scene : NULL, what);
        }
    check(make_webp(&scene, &(struct webp_how){.animated = true}), NULL, "WebP, animated");
    scene_free(&scene);
}
#endif

static void others(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 300, 200);
    (void)check;
#ifdef HAVE_FFMPEG
    static const enum doppel_format formats[] = {DOPPEL_FORMAT_GIF, DOPPEL_FORMAT_BMP,
                                                 DOPPEL_FORMAT_TIFF, DOPPEL_FORMAT_TGA,
                                                 DOPPEL_FORMAT_JXL};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        check(make_lavc(&scene, formats[i], NULL), formats[i] == DOPPEL_FORMAT_GIF ? NULL : &scene,
              doppel_format_name(formats[i]));
#endif
#ifdef HAVE_HEIF
    for (unsigned orientation = 1; orientation <= 8; orientation++)
        check(make_heif(&scene, DOPPEL_FORMAT_AVIF, orientation), orientation == 1 ? &scene : NULL,
              "AVIF");
    check(make_heif(&scene, DOPPEL_FORMAT_HEIC, 1), &scene, "HEIC");
    struct scene alpha = scene_make(SCENE_ALPHA, 300, 200);
    check(make_heif(&alpha, DOPPEL_FORMAT_AVIF, 1), &alpha, "AVIF with alpha");
    scene_free(&alpha);
#endif
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jpegs),
        cmocka_unit_test(pngs),
#ifdef HAVE_WEBP
        cmocka_unit_test(webps),
#endif
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
