/* The pixel check on drawn pictures: moved ones agree, different ones do not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "image/pixels.h"

#include "planes.h"

static struct doppel_image_features features_of(const struct doppel_plane *plane)
{
    struct doppel_image_features features;
    assert_int_equal(doppel_image_features(plane, &features, NULL), DOPPEL_OK);
    return features;
}

/** The plane turned by an angle about its middle, scaled, then shifted; nearest samples, black
 * outside. */
static struct doppel_plane moved(const struct doppel_plane *plane, double radians, double scale,
                                 double shift)
{
    struct doppel_plane out = make_plane(plane->width, plane->height);
    double middle_x = plane->width / 2., middle_y = plane->height / 2.;
    double cosine = cos(radians) / scale, sine = sin(radians) / scale;
    for (uint32_t y = 0; y < out.height; y++)
        for (uint32_t x = 0; x < out.width; x++) {
            double dx = x - middle_x - shift, dy = y - middle_y - shift / 2;
            double from_x = middle_x + cosine * dx + sine * dy;
            double from_y = middle_y - sine * dx + cosine * dy;
            if (from_x >= 0 && from_y >= 0 && from_x < plane->width && from_y < plane->height)
                set(&out, x, y, get(plane, (size_t)from_x, (size_t)from_y));
        }
    return out;
}

/** The rate that the pixels alone give: what the codes said, and the quality, is put aside. */
static double rate_by_pixels(const struct doppel_plane *query_plane,
                             const struct doppel_plane *item_plane)
{
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_image_features query = features_of(query_plane), item = features_of(item_plane);
    struct doppel_image_verdict verdict = {.false_positive_rate = 1};
    query.quality = item.quality = 100;
    bool yes = doppel_image_check_pixels(&query, &item, &options, &verdict);
    assert_true(yes == (verdict.false_positive_rate <= DOPPEL_IMAGE_MAX_FPR));
    doppel_fingerprint_free(&query.fingerprint);
    doppel_fingerprint_free(&item.fingerprint);
    return verdict.false_positive_rate;
}

/* The scenes' grain, sampled anew, keeps moved ones from agreeing in full. */
static const double MOVED_RATE = 1e-5;

static void test_moved_images_are_confirmed(void **state)
{
    (void)state;
    static const double MOVES[][3] = {
        {0, 1, 0}, {0, 1, 12}, {.06, 1, 0}, {-.05, 1.05, 5}, {0, 1.1, 0}};
    for (size_t i = 0; i < sizeof MOVES / sizeof *MOVES; i++) {
        struct doppel_plane plane = draw_scene(400, 300, 40 + i);
        struct doppel_plane other = moved(&plane, MOVES[i][0], MOVES[i][1], MOVES[i][2]);
        assert_true(rate_by_pixels(&other, &plane) <= MOVED_RATE);
        free_plane(&plane);
        free_plane(&other);
    }
}

/* Between the views: no two of them are near enough by their codes. */
static void test_crops_by_any_share_are_confirmed(void **state)
{
    (void)state;
    for (uint32_t percent = 1; percent <= 20; percent++)
        for (unsigned corner = 0; corner < 4; corner++) {
            struct doppel_plane plane = draw_scene(400, 300, 600 + 4 * percent + corner);
            uint32_t across = 4 * percent, down = 3 * percent;
            const uint8_t *from =
                plane.data + (corner & 1 ? across : 0) + (corner & 2 ? down : 0) * plane.stride;
            struct doppel_plane part = {from, 400 - across, 300 - down, plane.stride};
            assert_true(rate_by_pixels(&part, &plane) <= MOVED_RATE);
            assert_true(rate_by_pixels(&plane, &part) <= MOVED_RATE);
            free_plane(&plane);
        }
}

/* The query's crops are nearest: they begin the fit, though nobody looks them up. */
static void test_wide_crops_are_confirmed(void **state)
{
    (void)state;
    unsigned found = 0, tried = 0;
    for (uint32_t percent = 18; percent <= 25; percent++)
        for (unsigned side = 0; side < 4; side++, tried++) {
            struct doppel_plane plane = draw_scene(400, 300, 900 + 4 * percent + side);
            uint32_t across = side < 2 ? 4 * percent : 0, down = side < 2 ? 0 : 3 * percent;
            const uint8_t *from =
                plane.data + (side & 1 ? across : 0) + (side & 1 ? down : 0) * plane.stride;
            struct doppel_plane part = {from, 400 - across, 300 - down, plane.stride};
            found += rate_by_pixels(&part, &plane) <= MOVED_RATE;
            free_plane(&plane);
        }
    assert_true(found * 10 >= tried * 9);
}

static void test_crops_in_all_orientations_are_confirmed(void **state)
{
    (void)state;
    for (unsigned orientation = 0; orientation < 8; orientation++) {
        struct doppel_plane plane = draw_scene(400, 320, 90 + orientation);
        struct doppel_plane cropped = {plane.data + 8 * plane.stride + 14, 368, 294, plane.stride};
        struct doppel_plane turned = turn_plane(&cropped, orientation);
        assert_true(rate_by_pixels(&turned, &plane) <= MOVED_RATE);
        free_plane(&plane);
        free_plane(&turned);
    }
}

/** Paint a rectangle of a chequered ground, as a sticker with words on it. */
static void cover(struct doppel_plane *plane, uint32_t left, uint32_t top, uint32_t width,
                  uint32_t height)
{
    for (uint32_t y = top; y < top + height; y++)
        for (uint32_t x = left; x < left + width; x++)
            set(plane, x, y, (x / 6 + y / 6) % 2 ? 255 : 0);
}

static void test_partly_covered_images_are_confirmed(void **state)
{
    (void)state;
    static const uint32_t boxes[][4] = {
        {120, 90, 160, 110}, {0, 0, 170, 110}, {20, 20, 360, 50}, {250, 180, 150, 120}};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        struct doppel_plane plane = draw_scene(400, 300, 740 + i);
        struct doppel_plane other = moved(&plane, 0, 1, 0);
        cover(&other, boxes[i][0], boxes[i][1], boxes[i][2], boxes[i][3]);
        assert_true(rate_by_pixels(&other, &plane) <= MOVED_RATE);
        assert_true(rate_by_pixels(&plane, &other) <= MOVED_RATE);
        free_plane(&plane);
        free_plane(&other);
    }
}

/* Without what differs, all that is left of them is the same empty ground. */
static void test_figures_on_one_ground_are_not(void **state)
{
    (void)state;
    enum { COUNT = 12 };
    struct doppel_plane planes[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        struct doppel_plane scene = draw_scene(300, 200, 800 + i);
        planes[i] = make_plane(300, 200);
        for (uint32_t y = 0; y < 200; y++)
            for (uint32_t x = 0; x < 300; x++) {
                bool inside = x >= 90 && x < 210 && y >= 50 && y < 150;
                set(&planes[i], x, y, inside ? get(&scene, x, y) : 255);
            }
        free_plane(&scene);
    }
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < COUNT; j++)
            assert_true(i == j || rate_by_pixels(&planes[i], &planes[j]) > MOVED_RATE);
    for (unsigned i = 0; i < COUNT; i++)
        free_plane(&planes[i]);
}

static void test_different_images_are_not(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    struct doppel_plane planes[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        planes[i] = draw_scene(300, 200, 500 + i);
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < COUNT; j++)
            assert_true(i == j || rate_by_pixels(&planes[i], &planes[j]) > MOVED_RATE);
    for (unsigned i = 0; i < COUNT; i++)
        free_plane(&planes[i]);
}

/* Pictures with hardly anything in them match by nothing. */
static void test_poor_images_have_no_say(void **state)
{
    (void)state;
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_plane plane = draw_scene(300, 200, 1);
    struct doppel_image_features a = features_of(&plane), b = features_of(&plane);
    double last = 0;
    a.quality = 100;
    for (int quality = 100; quality >= 0; quality -= 20) {
        struct doppel_image_verdict verdict = {.false_positive_rate = 1};
        b.quality = (uint8_t)quality;
        (void)doppel_image_check_pixels(&a, &b, &options, &verdict);
        assert_true(verdict.false_positive_rate >= last);
        assert_true((verdict.false_positive_rate >= 1) == (quality < DOPPEL_IMAGE_MIN_QUALITY));
        last = verdict.false_positive_rate;
    }
    doppel_fingerprint_free(&a.fingerprint);
    doppel_fingerprint_free(&b.fingerprint);
    free_plane(&plane);
}

/** What the check makes of a pair that its codes say is as rare as this. */
static double rate_after(const struct doppel_plane *a, const struct doppel_plane *b,
                         double by_codes, uint8_t quality)
{
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_image_features query = features_of(a), item = features_of(b);
    struct doppel_image_verdict verdict = {.false_positive_rate = by_codes};
    query.quality = item.quality = quality;
    (void)doppel_image_check_pixels(&query, &item, &options, &verdict);
    doppel_fingerprint_free(&query.fingerprint);
    doppel_fingerprint_free(&item.fingerprint);
    return verdict.false_positive_rate;
}

/* Codes count in full where the pixels agree, or where there is too little in them to be asked. */
static void test_codes_without_pixels_count_less(void **state)
{
    (void)state;
    const double rates[] = {1, 1e-3, 1e-7, 1e-9, 1e-30};
    struct doppel_plane a = draw_scene(300, 200, 1), b = draw_scene(300, 200, 2);
    struct doppel_plane same = moved(&a, 0, 1, 0);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const double unseen = pow(rates[i], DOPPEL_IMAGE_UNSEEN_POWER);
        const double apart = rate_after(&a, &b, rates[i], 100);
        assert_true(apart <= unseen);
        assert_true((apart > rates[i] * 1.001) == (rates[i] < 1));
        assert_true(apart == rate_after(&b, &a, rates[i], 100));
        assert_true(rate_after(&a, &same, rates[i], 100) <= rates[i]);
        assert_true(rate_after(&a, &b, rates[i], DOPPEL_IMAGE_MIN_QUALITY - 1) == rates[i]);
    }
    free_plane(&a);
    free_plane(&b);
    free_plane(&same);
}

/* A frame that both have holds no fit, and what is inside is looked at. */
static void test_framed_copies_are_confirmed(void **state)
{
    (void)state;
    struct doppel_plane planes[2], others[2];
    for (unsigned i = 0; i < 2; i++) {
        struct doppel_plane scene = draw_scene(300, 200, 30 + i);
        planes[i] = make_plane(360, 260);
        for (uint32_t y = 0; y < 260; y++)
            for (uint32_t x = 0; x < 360; x++) {
                bool inside = x >= 30 && x < 330 && y >= 30 && y < 230;
                set(&planes[i], x, y, inside ? get(&scene, x - 30, y - 30) : 255);
            }
        others[i] = moved(&planes[i], 0, 1, 0);
        free_plane(&scene);
    }
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 2; j++)
            assert_true((rate_by_pixels(&planes[i], &others[j]) <= MOVED_RATE) == (i == j));
    for (unsigned i = 0; i < 2; i++) {
        free_plane(&planes[i]);
        free_plane(&others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moved_images_are_confirmed),
        cmocka_unit_test(test_crops_by_any_share_are_confirmed),
        cmocka_unit_test(test_wide_crops_are_confirmed),
        cmocka_unit_test(test_crops_in_all_orientations_are_confirmed),
        cmocka_unit_test(test_partly_covered_images_are_confirmed),
        cmocka_unit_test(test_figures_on_one_ground_are_not),
        cmocka_unit_test(test_different_images_are_not),
        cmocka_unit_test(test_poor_images_have_no_say),
        cmocka_unit_test(test_codes_without_pixels_count_less),
        cmocka_unit_test(test_framed_copies_are_confirmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
