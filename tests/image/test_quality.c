/* The quality figure: what must come out under the limit, and what over it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "image/quality.h"
#include "planes.h"

static void fill_box(struct doppel_plane *plane, size_t left, size_t top, size_t width,
                     size_t height, int level)
{
    for (size_t y = top; y < top + height && y < plane->height; y++)
        for (size_t x = left; x < left + width && x < plane->width; x++)
            set(plane, x, y, level);
}

static void assert_weak(struct doppel_plane plane)
{
    assert_true(doppel_image_quality(&plane) < DOPPEL_IMAGE_MIN_QUALITY);
    free_plane(&plane);
}

static void test_flat_and_tiny_planes_are_weak(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 300}, {7, 300}, {300, 200}, {4000, 3000}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct doppel_plane plane = make_plane(sizes[i][0], sizes[i][1]);
        fill_box(&plane, 0, 0, plane.width, plane.height, 200);
        assert_int_equal(doppel_image_quality(&plane), 0);
        free_plane(&plane);
    }
    assert_weak(draw_noise(1, 1, 1));
    assert_weak(draw_noise(1, 2000, 1));
    assert_weak(draw_noise(5, 5, 1));
}

static void test_slopes_are_weak(void **state)
{
    (void)state;
    static const int slopes[][3] = {{255, 0, 0}, {0, 255, 0}, {128, 127, 0}, {60, -60, 100}};
    for (unsigned i = 0; i < 4; i++) {
        struct doppel_plane plane = make_plane(400, 300);
        for (int y = 0; y < 300; y++)
            for (int x = 0; x < 400; x++)
                set(&plane, (size_t)x, (size_t)y,
                    slopes[i][2] + slopes[i][0] * x / 399 + slopes[i][1] * y / 299);
        assert_weak(plane);
    }
}

static void test_rectangles_and_halves_are_weak(void **state)
{
    (void)state;
    uint64_t random = 4;
    for (unsigned seed = 0; seed < 30; seed++) {
        struct doppel_plane plane = make_plane(400, 300);
        fill_box(&plane, 0, 0, 400, 300, (int)(next_random(&random) % 256));
        for (unsigned n = 0; n < 1 + seed % 3; n++)
            fill_box(&plane, next_random(&random) % 300, next_random(&random) % 200,
                     1 + next_random(&random) % 400, 1 + next_random(&random) % 300,
                     (int)(next_random(&random) % 256));
        assert_weak(plane);
    }
}

static void test_few_stars_are_weak(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (unsigned stars = 1; stars <= 20; stars++) {
        struct doppel_plane plane = make_plane(512, 384);
        for (unsigned n = 0; n < stars; n++)
            fill_box(&plane, next_random(&random) % 500, next_random(&random) % 370, 3, 3,
                     100 + (int)(next_random(&random) % 156));
        assert_weak(plane);
    }
}

static void test_stripes_are_weak(void **state)
{
    (void)state;
    struct doppel_plane plane = make_plane(400, 300);
    for (size_t x = 0; x < 400; x += 20)
        fill_box(&plane, x, 0, 10, 300, 230);
    assert_weak(plane);
}

static void test_scenes_are_strong_at_all_sizes(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{16, 16},   {32, 24},   {64, 64},
                                        {100, 300}, {500, 375}, {1500, 900}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned seed = 0; seed < 5; seed++) {
            struct doppel_plane plane = draw_scene(sizes[i][0], sizes[i][1], seed);
            assert_true(doppel_image_quality(&plane) >= 2 * DOPPEL_IMAGE_MIN_QUALITY);
            free_plane(&plane);
        }
}

static void test_even_places_are_counted(void **state)
{
    (void)state;
    enum { SIDE = 16, PLACES = (SIDE - 1) * (SIDE - 1) };
    uint16_t cells[SIDE * SIDE] = {0};
    assert_int_equal(even_of_cells(cells, SIDE), 100);
    assert_int_equal(even_of_cells(cells, 4), 0);
    for (int i = 0; i < SIDE * SIDE; i++)
        cells[i] = (uint16_t)(100 + i / SIDE); /* a slope that is hardly one */
    assert_int_equal(even_of_cells(cells, SIDE), 100);
    cells[5 * SIDE + 5] = 200; /* which three places see */
    assert_int_equal(even_of_cells(cells, SIDE), (PLACES - 3) * 100 / PLACES);
    for (int i = 0; i < SIDE * SIDE; i++)
        cells[i] = (uint16_t)(2 * (i % SIDE));
    assert_int_equal(even_of_cells(cells, SIDE), 0);
}

static void test_what_is_even_limits_the_quality(void **state)
{
    (void)state;
    for (int even = 0; even <= 100; even++) {
        const uint8_t most = quality_of_even((uint8_t)even);
        assert_in_range(most, DOPPEL_IMAGE_MIN_QUALITY, 100);
        assert_true(!even || most <= quality_of_even((uint8_t)(even - 1)));
    }
    assert_int_equal(quality_of_even(6), 100);
    assert_int_equal(quality_of_even(40), 75);
    assert_int_equal(quality_of_even(100), DOPPEL_IMAGE_MIN_QUALITY);
}

/* The same figure on paper, and in a scene of its own. */
static void test_a_figure_on_a_ground_says_less(void **state)
{
    (void)state;
    struct doppel_plane scene = draw_scene(400, 300, 3), figure = make_plane(400, 300);
    struct doppel_image_features whole, alone;
    fill_box(&figure, 0, 0, 400, 300, 255);
    for (uint32_t y = 80; y < 220; y++)
        for (uint32_t x = 120; x < 120 + (y - 80); x++) /* a triangle */
            set(&figure, x, y, scene.data[y * scene.stride + x]);
    assert_int_equal(doppel_image_features(&scene, &whole, NULL), DOPPEL_OK);
    assert_int_equal(doppel_image_features(&figure, &alone, NULL), DOPPEL_OK);
    assert_in_range(alone.quality, DOPPEL_IMAGE_MIN_QUALITY, 80);
    assert_true(whole.quality >= 90);
    doppel_fingerprint_free(&whole.fingerprint);
    doppel_fingerprint_free(&alone.fingerprint);
    free_plane(&scene);
    free_plane(&figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_and_tiny_planes_are_weak),
        cmocka_unit_test(test_slopes_are_weak),
        cmocka_unit_test(test_rectangles_and_halves_are_weak),
        cmocka_unit_test(test_few_stars_are_weak),
        cmocka_unit_test(test_stripes_are_weak),
        cmocka_unit_test(test_scenes_are_strong_at_all_sizes),
        cmocka_unit_test(test_even_places_are_counted),
        cmocka_unit_test(test_what_is_even_limits_the_quality),
        cmocka_unit_test(test_a_figure_on_a_ground_says_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
