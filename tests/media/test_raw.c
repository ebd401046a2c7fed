/* Raw files of cameras to luma: by their preview, or by the sensor's data. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

/* The scene as a camera keeps it, with a preview of another scene, or none. */
static struct file raw_of(const struct scene *scene, const struct scene *preview,
                          unsigned orientation)
{
    struct raw_how how = {.orientation = orientation};
    if (preview) {
        how.preview = make_jpeg(preview, &(struct jpeg_how){0});
        how.preview_width = preview->width;
        how.preview_height = preview->height;
    }
    struct file file = make_raw(scene, &how);
    file_free(&how.preview);
    return file;
}

static void a_large_preview_stands_for_the_sensor(void **state)
{
    (void)state;
    struct scene sensor = scene_make(SCENE_TWO, 640, 480);
    struct scene preview = scene_make(SCENE_SMOOTH, 320, 256);
    struct file file = raw_of(&sensor, &preview, 1);
    struct doppel_luma luma = read_good(&file, NULL);
    assert_int_equal(luma.format, DOPPEL_FORMAT_RAW);
    assert_int_equal(luma.width, 640);
    assert_int_equal(luma.height, 480);
    assert_true(compare(&luma, &preview, 1, 1).mean < 2);
    doppel_luma_free(&luma);
    file_free(&file);
    scene_free(&sensor);
    scene_free(&preview);
}

/* libraw develops by a curve of its own: what is dark stays dark. */
static void expect_developed(const struct file *file, const struct scene *scene)
{
    struct doppel_luma luma = read_good(file, NULL);
    struct doppel_luma plain = {0};
    struct file jpeg = make_jpeg(scene, &(struct jpeg_how){0});
    assert_int_equal(read_bytes(jpeg.data, jpeg.size, NULL, &plain, NULL), DOPPEL_OK);
    assert_int_equal(luma.width, scene->width);
    assert_int_equal(luma.height, scene->height);
    double both = 0, a = 0, b = 0, mean_a = 0, mean_b = 0;
    uint32_t width = luma.plane.width, height = luma.plane.height;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t y = 0; y < height; y++) {
            for (uint32_t x = 0; x < width; x++) {
                uint32_t other_x = x * plain.plane.width / width;
                uint32_t other_y = y * plain.plane.height / height;
                double p = luma.plane.data[(size_t)y * luma.plane.stride + x];
                double q = plain.plane.data[(size_t)other_y * plain.plane.stride + other_x];
                if (!pass) {
                    mean_a += p / ((double)width * height);
                    mean_b += q / ((double)width * height);
                    continue;
                }
                both += (p - mean_a) * (q - mean_b);
                a += (p - mean_a) * (p - mean_a);
                b += (q - mean_b) * (q - mean_b);
            }
        }
    }
    assert_true(both > 0 && both * both > .9 * a * b);
    file_free(&jpeg);
    doppel_luma_free(&plain);
    doppel_luma_free(&luma);
}

static void without_a_large_preview_it_is_developed(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 640, 480);
    struct scene icon = scene_make(SCENE_TWO, 160, 120);
    struct file without = raw_of(&scene, NULL, 1), small = raw_of(&scene, &icon, 1);
    expect_developed(&without, &scene);
    expect_developed(&small, &scene);
    file_free(&without);
    file_free(&small);
    scene_free(&icon);
    scene_free(&scene);
}

static void both_ways_turn_it_upright(void **state)
{
    (void)state;
    static const unsigned orientations[] = {1, 3, 6, 8};
    struct scene scene = scene_make(SCENE_SMOOTH, 320, 256);
    for (size_t i = 0; i < 8; i++) {
        unsigned orientation = orientations[i / 2];
        struct file file = raw_of(&scene, i % 2 ? &scene : NULL, orientation);
        struct doppel_luma luma = read_good(&file, NULL);
        assert_int_equal(luma.width, orientation >= 5 ? 256 : 320);
        if (i % 2)
            assert_true(compare(&luma, &scene, 1, orientation).mean < 2);
        doppel_luma_free(&luma);
        file_free(&file);
    }
    scene_free(&scene);
}

static void the_camera_and_the_time_are_told(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 320, 256);
    struct file file = raw_of(&scene, &scene, 1);
    struct doppel_luma luma = read_good(&file, NULL);
    assert_string_equal(luma.origin.camera, "Camera 1");
    assert_int_equal(luma.origin.taken_s, 1706933106); /* date -u -d '2024-02-03 04:05:06' +%s */
    assert_int_equal(luma.origin.taken_fraction, 251);
    assert_int_equal(luma.origin.jpeg_quality, 0);
    doppel_luma_free(&luma);
    file_free(&file);
    scene_free(&scene);
}

static void limits_hold(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 640, 480);
    struct file file = raw_of(&scene, NULL, 1);
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits.max_pixels = 640 * 480 - 1;
    assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "640 x 480");
    options = doppel_luma_options_default();
    options.limits.max_memory = 1 << 20;
    assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "--max-memory");
    file_free(&file);
    scene_free(&scene);
}

/* Cut anywhere it is refused with a sentence, or its preview is read. */
static void broken_ones_are_refused_or_read(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 64, 48);
    struct file file = raw_of(&scene, NULL, 1);
    uint32_t random = 5;
    for (size_t i = 0; i < 600; i++) {
        struct file copy = file_of(file.data, file.size);
        size_t size = i % 3 ? file.size : file.size * i / 600;
        for (size_t n = 0; i % 3 && n < 1 + i % 5; n++) {
            random = random * 1664525 + 1013904223;
            copy.data[(random >> 8) % (i % 2 ? 700 : file.size)] = (uint8_t)(random >> 3);
        }
        struct doppel_luma luma = {0};
        struct doppel_error error = {0};
        if (read_bytes(copy.data, size, NULL, &luma, &error))
            assert_true(*error.message);
        doppel_luma_free(&luma);
        file_free(&copy);
    }
    file_free(&file);
    scene_free(&scene);
}

/* libraw makes black of what is missing: that is no picture to compare. */
static void one_that_breaks_off_is_refused(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 640, 480);
    struct scene preview = scene_make(SCENE_SMOOTH, 320, 256);
    struct file plain = raw_of(&scene, NULL, 1), previewed = raw_of(&scene, &preview, 1);
    assert_refused(plain.data, plain.size / 2, NULL, DOPPEL_E_CORRUPT, "damaged");
    previewed.size -= 640 * 480; /* half of what the sensor saw; the preview is before it */
    struct doppel_luma luma = read_good(&previewed, NULL);
    assert_true(compare(&luma, &preview, 1, 1).mean < 2);
    doppel_luma_free(&luma);
    file_free(&plain);
    file_free(&previewed);
    scene_free(&scene);
    scene_free(&preview);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_preview_stands_for_the_sensor),
        cmocka_unit_test(without_a_large_preview_it_is_developed),
        cmocka_unit_test(both_ways_turn_it_upright),
        cmocka_unit_test(the_camera_and_the_time_are_told),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(one_that_breaks_off_is_refused),
        cmocka_unit_test(broken_ones_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
