/* What the worker shows of a file: stills, envelopes, plain text; limits and wrong orders. */
#include "helper.h"

#include <jpeglib.h>
#include <png.h>

#include <doppel/media.h>
#include <doppel/text.h>

#include "core/bytes.h"
#include "audio.h"

static struct doppel_outcome make_preview(int fd, const struct doppel_order *order)
{
    struct doppel_pool *pool = true_pool(0);
    assert_int_equal(doppel_pool_submit(pool, fd, order, 5, NULL), DOPPEL_OK);
    struct doppel_outcome outcome = next(pool);
    doppel_pool_free(pool);
    assert_int_equal(outcome.tag, 5);
    assert_int_equal(outcome.fingerprint.count, 0);
    return outcome;
}

/* ---- stills ---- */

static const struct doppel_order still = {.look = DOPPEL_LOOK_STILL, .look_size = 64};

struct pixels {
    uint32_t width, height;
    uint8_t *rgb;
};

static struct pixels decode(const struct doppel_outcome *outcome)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    assert_int_equal(outcome->error.status, DOPPEL_OK);
    assert_int_equal(outcome->kind, DOPPEL_KIND_IMAGE);
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, outcome->attachment, outcome->attachment_size);
    jpeg_read_header(&cinfo, TRUE);
    cinfo.out_color_space = JCS_RGB;
    jpeg_start_decompress(&cinfo);
    struct pixels pixels = {cinfo.output_width, cinfo.output_height,
                            malloc((size_t)3 * cinfo.output_width * cinfo.output_height)};
    while (cinfo.output_scanline < cinfo.output_height) {
        JSAMPROW row = pixels.rgb + (size_t)3 * cinfo.output_scanline * pixels.width;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_decompress(&cinfo);
    jpeg_destroy_decompress(&cinfo);
    return pixels;
}

static void assert_colour(const struct pixels *pixels, uint32_t x, uint32_t y, const int wanted[3])
{
    for (int i = 0; i < 3; i++)
        assert_in_range(pixels->rgb[3 * ((size_t)y * pixels->width + x) + (size_t)i] + 24,
                        wanted[i], wanted[i] + 48);
}

/* Left red, right a blue that is not there. */
static int draw_png(uint32_t width, uint32_t height)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGBA};
    uint8_t *rgba = malloc((size_t)4 * width * height);
    for (size_t i = 0; i < (size_t)width * height; i++)
        memcpy(rgba + 4 * i, i % width < width / 2 ? "\xe0\x20\x20\xff" : "\x10\x10\xf0\x00", 4);
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *png = malloc(size);
    assert_true(png_image_write_to_memory(&image, png, &size, 0, rgba, 0, NULL));
    int fd = file_of(png, size);
    free(png);
    free(rgba);
    return fd;
}

static void stills_are_small_and_over_white(void **state)
{
    (void)state;
    static const int red[] = {0xe0, 0x20, 0x20}, white[] = {255, 255, 255};
    struct doppel_outcome outcome = make_preview(draw_png(640, 320), &still);
    struct pixels pixels = decode(&outcome);
    assert_int_equal(pixels.width, 64);
    assert_int_equal(pixels.height, 32);
    assert_colour(&pixels, 10, 16, red);
    assert_colour(&pixels, 54, 16, white);
    free(pixels.rgb);
    doppel_outcome_free(&outcome);
    outcome = make_preview(draw_png(20, 30), &still);
    pixels = decode(&outcome);
    assert_int_equal(pixels.width, 20);
    assert_int_equal(pixels.height, 30);
    free(pixels.rgb);
    doppel_outcome_free(&outcome);
}

/* Bright to the right, and said to be turned: 6 is shown by a quarter turn to the right. */
static int draw_turned_jpeg(uint32_t width, uint32_t height, size_t cut)
{
    static const uint8_t exif[] = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"
                                  "\0\0\0";
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    uint8_t *row = malloc((size_t)3 * width), *data = NULL;
    unsigned long size = 0;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = width;
    cinfo.image_height = height;
    cinfo.input_components = 3;
    cinfo.in_color_space = JCS_RGB;
    jpeg_set_defaults(&cinfo);
    jpeg_start_compress(&cinfo, TRUE);
    jpeg_write_marker(&cinfo, JPEG_APP0 + 1, exif, sizeof exif - 1);
    for (uint32_t x = 0; x < width; x++)
        memcpy(row + (size_t)3 * x, x < width / 2 ? "\x10\x10\x40" : "\x20\xf0\x20", 3);
    while (cinfo.next_scanline < height)
        jpeg_write_scanlines(&cinfo, &row, 1);
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    int fd = file_of(data, cut && cut < size ? cut : size);
    free(row);
    free(data);
    return fd;
}

static void stills_are_upright(void **state)
{
    (void)state;
    static const int dark[] = {0x10, 0x10, 0x40}, bright[] = {0x20, 0xf0, 0x20};
    struct doppel_outcome outcome = make_preview(draw_turned_jpeg(400, 200, 0), &still);
    struct pixels pixels = decode(&outcome);
    assert_int_equal(pixels.width, 32);
    assert_int_equal(pixels.height, 64);
    assert_colour(&pixels, 16, 8, dark);
    assert_colour(&pixels, 16, 56, bright);
    free(pixels.rgb);
    doppel_outcome_free(&outcome);
}

static void stills_of_what_is_none_are_refused(void **state)
{
    (void)state;
    struct doppel_order order = still;
    struct doppel_outcome outcome = make_preview(file_of("no picture", 10), &order);
    assert_int_equal(outcome.error.status, DOPPEL_E_FORMAT);
    assert_null(outcome.attachment);
    doppel_outcome_free(&outcome);
    outcome = make_preview(draw_turned_jpeg(400, 200, 300), &order);
    assert_int_equal(outcome.error.status, DOPPEL_E_CORRUPT);
    doppel_outcome_free(&outcome);
    order.look_size = 5000;
    outcome = make_preview(draw_png(20, 20), &order);
    assert_int_equal(outcome.error.status, DOPPEL_E_ARGUMENT);
    doppel_outcome_free(&outcome);
    order.look = 77;
    outcome = make_preview(draw_png(20, 20), &order);
    assert_int_equal(outcome.error.status, DOPPEL_E_ARGUMENT);
    doppel_outcome_free(&outcome);
}

/* ---- envelopes ---- */

/* Silence, then samples that go from -0.5 to 1. */
static void envelopes_have_every_extreme(void **state)
{
    (void)state;
    static const double lengths[] = {.004, 1, 7.3, 61};
    for (size_t k = 0; k < 4; k++) {
        size_t count = (size_t)(lengths[k] * 11025);
        float *samples = calloc(count, sizeof *samples);
        for (size_t i = count / 2; i < count; i++)
            samples[i] = i % 2 ? 1 : -.5F;
        struct doppel_order order = {.look = DOPPEL_LOOK_WAVE,
                                     .look_size = 100,
                                     .pcm = DOPPEL_PCM_F32LE,
                                     .pcm_rate = 11025,
                                     .pcm_channels = 1};
        struct doppel_outcome outcome =
            make_preview(file_of(samples, count * sizeof *samples), &order);
        assert_int_equal(outcome.error.status, DOPPEL_OK);
        assert_in_range(get_u32(outcome.attachment), lengths[k] * 1000 - 2, lengths[k] * 1000 + 2);
        uint32_t buckets = get_u32(outcome.attachment + 4);
        assert_int_equal(outcome.attachment_size, DOPPEL_WAVE_HEAD_BYTES + 2 * buckets);
        assert_in_range(buckets, k ? 50 : 1, 100);
        const int8_t *wave = (const int8_t *)outcome.attachment + DOPPEL_WAVE_HEAD_BYTES;
        for (uint32_t i = 0; k && i < buckets / 2 - 2; i++)
            assert_true(wave[2 * i] == 0 && wave[2 * i + 1] == 0);
        /* Media limits the loudest of a resampled audio a little. */
        for (uint32_t i = buckets / 2 + 2; i + 1 < buckets; i++) {
            assert_in_range(wave[2 * i] + 128, 128 - 70, 128 - 58);
            assert_in_range(wave[2 * i + 1], 120, 127);
        }
        doppel_outcome_free(&outcome);
        free(samples);
    }
}

static void envelopes_of_what_is_no_audio_are_refused(void **state)
{
    (void)state;
    struct doppel_order order = {.look = DOPPEL_LOOK_WAVE, .look_size = 100};
    struct doppel_outcome outcome = make_preview(draw_png(20, 20), &order);
    assert_int_not_equal(outcome.error.status, DOPPEL_OK);
    doppel_outcome_free(&outcome);
    order.look_size = 1;
    outcome = make_preview(draw_png(20, 20), &order);
    assert_int_equal(outcome.error.status, DOPPEL_E_ARGUMENT);
    doppel_outcome_free(&outcome);
}

/* ---- plain text ---- */

static void assert_plain(const char *text, uint8_t format, uint32_t most, const char *wanted)
{
    struct doppel_order order = {
        .look = DOPPEL_LOOK_PLAIN, .look_size = most, .text_format = format};
    struct doppel_outcome outcome = make_preview(file_of(text, strlen(text)), &order);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    assert_int_equal(outcome.kind, DOPPEL_KIND_TEXT);
    assert_int_equal(outcome.attachment_size, strlen(wanted));
    if (*wanted)
        assert_memory_equal(outcome.attachment, wanted, strlen(wanted));
    doppel_outcome_free(&outcome);
}

static void texts_are_told_plain_and_bounded(void **state)
{
    (void)state;
    assert_plain("some words", DOPPEL_TEXT_PLAIN, 100, "some words");
    assert_plain("some words", DOPPEL_TEXT_PLAIN, 4, "some");
    assert_plain("", DOPPEL_TEXT_PLAIN, 4, "");
    assert_plain("<!doctype html><p>one <b>&amp;</b><script>x</script>", DOPPEL_TEXT_AUTO, 100,
                 "one &");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stills_are_small_and_over_white),
        cmocka_unit_test(stills_are_upright),
        cmocka_unit_test(stills_of_what_is_none_are_refused),
        cmocka_unit_test(envelopes_have_every_extreme),
        cmocka_unit_test(envelopes_of_what_is_no_audio_are_refused),
        cmocka_unit_test(texts_are_told_plain_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
