/* The views of drawn pictures: what is cut off, what is left, and what is kept beside the codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "planes.h"

static struct doppel_image_features features_of(const struct doppel_plane *plane)
{
    struct doppel_image_features features;
    assert_int_equal(doppel_image_features(plane, &features, NULL), DOPPEL_OK);
    return features;
}

static const uint16_t *box_of(const struct doppel_image_features *features, uint32_t view)
{
    for (uint32_t i = 0; i < features->fingerprint.count; i++)
        if (features->fingerprint.positions[i] == view)
            return features->boxes[i];
    return NULL;
}

/* In samples, within one of what is expected. */
static void assert_box(const uint16_t *box, const struct doppel_plane *frame, const int expected[4])
{
    assert_non_null(box);
    for (unsigned i = 0; i < 4; i++) {
        double at = box[i] * (double)(i % 2 ? frame->height : frame->width) / 65535;
        assert_true(at > expected[i] - 1.0 && at < expected[i] + 1.0);
    }
}

static struct doppel_plane ground(uint32_t width, uint32_t height, int level)
{
    struct doppel_plane plane = make_plane(width, height);
    memset(samples_of(&plane), level, (size_t)width * height);
    return plane;
}

static void lay(struct doppel_plane *onto, const struct doppel_plane *picture, size_t left,
                size_t top)
{
    for (size_t y = 0; y < picture->height; y++)
        for (size_t x = 0; x < picture->width; x++)
            set(onto, left + x, top + y, get(picture, x, y));
}

static void test_plain_picture_is_not_trimmed(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        struct doppel_plane plane = draw_noise(300, 220, seed);
        struct doppel_image_features features = features_of(&plane);
        assert_int_equal(features.fingerprint.count, 6);
        assert_null(box_of(&features, DOPPEL_VIEW_TRIMMED));
        assert_null(box_of(&features, DOPPEL_VIEW_FURNITURE));
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&plane);
    }
}

static void test_borders_are_cut(void **state)
{
    (void)state;
    static const int margins[][4] = {
        {0, 40, 0, 40}, {50, 0, 50, 0}, {12, 12, 12, 12}, {0, 0, 0, 70}};
    for (unsigned i = 0; i < 4; i++) {
        const int *m = margins[i];
        struct doppel_plane picture = draw_noise(300, 220, i);
        struct doppel_plane plane =
            ground((uint32_t)(300 + m[0] + m[2]), (uint32_t)(220 + m[1] + m[3]), i % 2 ? 255 : 0);
        lay(&plane, &picture, (size_t)m[0], (size_t)m[1]);
        struct doppel_image_features features = features_of(&plane);
        const int expected[4] = {m[0], m[1], m[0] + 300, m[1] + 220};
        assert_box(box_of(&features, DOPPEL_VIEW_TRIMMED), &plane, expected);
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&picture);
        free_plane(&plane);
    }
}

static void test_trimmed_view_is_the_picture(void **state)
{
    (void)state;
    struct doppel_plane picture = draw_scene(320, 200, 3), plane = ground(320, 300, 0);
    lay(&plane, &picture, 0, 50);
    struct doppel_image_features features = features_of(&plane);
    assert_int_equal(features.fingerprint.positions[1], DOPPEL_VIEW_TRIMMED);
    struct doppel_code code = doppel_image_phash(&picture);
    assert_true(doppel_code_distance(&features.fingerprint.codes[1], &code, 64) <= 2);
    doppel_fingerprint_free(&features.fingerprint);
    free_plane(&picture);
    free_plane(&plane);
}

static void test_views_of_odd_planes(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},   {1, 900},  {900, 1},    {3, 2},
                                        {12, 12}, {700, 13}, {2000, 1300}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct doppel_plane plane = draw_noise(sizes[i][0], sizes[i][1], i);
        struct doppel_image_features features = features_of(&plane);
        struct doppel_code code = doppel_image_phash(&plane);
        assert_memory_equal(&features.fingerprint.codes[0], &code, sizeof code);
        assert_int_equal(features.fingerprint.scheme, DOPPEL_SCHEME_PHASH64);
        assert_int_equal(features.fingerprint.code_bits, 256);
        doppel_fingerprint_free(&features.fingerprint);
        free_plane(&plane);
    }
    struct doppel_image_features untouched;
    struct doppel_plane none = {(const uint8_t *)"", 0, 0, 0};
    assert_int_equal(doppel_image_features(&none, &untouched, NULL), DOPPEL_E_ARGUMENT);
}

static void test_attachment_goes_there_and_back(void **state)
{
    (void)state;
    struct doppel_plane plane = draw_scene(200, 200, 8);
    struct doppel_image_features features = features_of(&plane), back = {0};
    uint8_t bytes[DOPPEL_IMAGE_ATTACHMENT_BYTES];
    doppel_image_attachment_write(&features, bytes);
    assert_int_equal(doppel_image_attachment_read(bytes, sizeof bytes, &back), DOPPEL_OK);
    assert_memory_equal(back.thumb, features.thumb, sizeof back.thumb);
    assert_memory_equal(back.boxes, features.boxes, sizeof back.boxes);
    assert_int_equal(doppel_image_attachment_read(bytes, sizeof bytes - 1, &back),
                     DOPPEL_E_CORRUPT);
    doppel_fingerprint_free(&features.fingerprint);
    free_plane(&plane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_picture_is_not_trimmed),
        cmocka_unit_test(test_borders_are_cut),
        cmocka_unit_test(test_trimmed_view_is_the_picture),
        cmocka_unit_test(test_views_of_odd_planes),
        cmocka_unit_test(test_attachment_goes_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
