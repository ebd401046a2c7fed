/* Warped codes against a slow resampler, and against pictures that were really cut and turned. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>
#include <doppel/video.h>

#include "drawn.h"

enum { SIDE = DOPPEL_VIDEO_CELLS };

static const double pi = 3.14159265358979323846;

static void draw_cells(uint32_t scene, uint8_t *cells)
{
    draw_scene(scene, 0, SIDE, SIDE, cells, SIDE);
}

static double share(uint32_t seed, uint32_t place, double low, double high)
{
    return low + (high - low) * (drawn_random(seed, place) % 10001) / 10000;
}

static struct doppel_video_warp random_warp(uint32_t seed)
{
    return (struct doppel_video_warp){.scale_x = (float)share(seed, 1, .7, 1.5),
                                      .scale_y = (float)share(seed, 2, .7, 1.5),
                                      .shift_x = (float)share(seed, 3, -.2, .2),
                                      .shift_y = (float)share(seed, 4, -.2, .2),
                                      .degrees = (float)share(seed, 5, -20, 20),
                                      .aspect = (float)share(seed, 6, .5, 2)};
}

/* ---- the oracle ---- */

static double cell_at(const uint8_t *cells, double x, double y)
{
    x = fmin(fmax(x, 0), SIDE - 1);
    y = fmin(fmax(y, 0), SIDE - 1);
    double value = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            value += fmax(0, 1 - fabs(x - i)) * fmax(0, 1 - fabs(y - j)) * cells[j * SIDE + i];
    return value;
}

/* A place of the original, in pixels of a query of aspect×1 about the middle of both, turned. */
static double original_at(const uint8_t *cells, const struct doppel_video_warp *warp, double x,
                          double y)
{
    double wide = (x + .5) / SIDE - .5, high = (y + .5) / SIDE - .5;
    wide *= (double)warp->scale_x * (double)warp->aspect;
    high *= (double)warp->scale_y;
    double turn = (double)warp->degrees * pi / 180;
    double u = wide * cos(turn) - high * sin(turn), v = wide * sin(turn) + high * cos(turn);
    u = u / (double)warp->aspect + (double)warp->shift_x + .5;
    v = v + (double)warp->shift_y + .5;
    return cell_at(cells, u * SIDE - .5, v * SIDE - .5);
}

static struct doppel_code slowly_warped(const uint8_t *cells, const struct doppel_video_warp *warp)
{
    uint16_t out[SIDE * SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            out[y * SIDE + x] = (uint16_t)lrint(256 * original_at(cells, warp, x, y));
    return doppel_image_phash_cells(out);
}

static void test_oracle(void **state)
{
    (void)state;
    uint32_t distances = 0;
    for (uint32_t seed = 0; seed < 60; seed++) {
        uint8_t cells[DOPPEL_VIDEO_CELL_BYTES];
        draw_cells(seed, cells);
        struct doppel_video_warp warp = random_warp(seed);
        struct doppel_code expected = slowly_warped(cells, &warp);
        struct doppel_code code = doppel_video_warped_code(cells, &warp);
        uint32_t distance = doppel_code_distance(&code, &expected, 256);
        /* Places are rounded to 1/256 of a cell. */
        assert_in_range(distance, 0, 8);
        distances += distance;
    }
    assert_in_range(distances, 0, 60);
}

/* ---- properties ---- */

static void test_the_identity_is_exact(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 20; seed++) {
        uint8_t cells[DOPPEL_VIDEO_CELL_BYTES];
        draw_cells(seed, cells);
        const struct doppel_plane plane = {cells, SIDE, SIDE, SIDE};
        const struct doppel_video_warp identity = {1, 1, 0, 0, 0, (float)seed};
        struct doppel_code code = doppel_video_warped_code(cells, &identity);
        struct doppel_code plain = doppel_image_phash(&plane);
        assert_memory_equal(&code, &plain, sizeof code);
    }
}

/* A query: the part of a scene that the box holds, turned clockwise. */
static void draw_query(uint32_t scene, const struct doppel_video_warp *warp, uint8_t *cells)
{
    enum { FINE = 8 * SIDE };
    static uint8_t samples[FINE * FINE];
    double turn = (double)warp->degrees * pi / 180, aspect = (double)warp->aspect;
    for (int j = 0; j < FINE; j++)
        for (int i = 0; i < FINE; i++) {
            double u = ((i + .5) / FINE - .5 - (double)warp->shift_x) * aspect;
            double v = (j + .5) / FINE - .5 - (double)warp->shift_y;
            double x = (u * cos(turn) + v * sin(turn)) / (aspect * (double)warp->scale_x) + .5;
            double y = (v * cos(turn) - u * sin(turn)) / (double)warp->scale_y + .5;
            samples[j * FINE + i] =
                x < 0 || y < 0 || x > 1 || y > 1 ? 0 : drawn_sample(scene, 0, x, y);
        }
    const struct doppel_plane plane = {samples, FINE, FINE, FINE};
    doppel_image_reduce(&plane, SIDE, cells);
}

static void compare_with_original(const struct doppel_video_warp *warp, uint32_t scene,
                                  uint32_t *plain, uint32_t *warped)
{
    const struct doppel_video_warp identity = {.scale_x = 1, .scale_y = 1};
    uint8_t original[DOPPEL_VIDEO_CELL_BYTES], query[DOPPEL_VIDEO_CELL_BYTES];
    draw_cells(scene, original);
    draw_query(scene, warp, query);
    struct doppel_code code = doppel_video_warped_code(original, &identity);
    struct doppel_code as_is = doppel_video_warped_code(query, &identity);
    struct doppel_code undone = doppel_video_warped_code(query, warp);
    *plain += doppel_code_distance(&code, &as_is, 256);
    *warped += doppel_code_distance(&code, &undone, 256);
}

static void test_what_was_cut_is_found_by_its_warp(void **state)
{
    (void)state;
    uint32_t plain = 0, warped = 0;
    for (uint32_t seed = 0; seed < 40; seed++) {
        struct doppel_video_warp warp = random_warp(seed);
        warp.scale_x = (float)share(seed, 7, 1.1, 1.25);
        warp.scale_y = (float)share(seed, 8, 1.1, 1.25);
        warp.shift_x = (float)share(seed, 9, -.05, .05);
        warp.shift_y = (float)share(seed, 10, -.05, .05);
        warp.degrees = 0;
        compare_with_original(&warp, seed, &plain, &warped);
    }
    assert_true(warped * 5 < plain * 4);
}

static void test_what_was_turned_is_found_by_its_warp(void **state)
{
    (void)state;
    uint32_t plain = 0, warped = 0;
    for (uint32_t seed = 0; seed < 40; seed++) {
        struct doppel_video_warp warp = {1, 1, 0, 0, (float)share(seed, 1, 3, 8), 1.78f};
        compare_with_original(&warp, seed, &plain, &warped);
    }
    assert_true(warped * 3 < plain * 2);
}

/* Nothing is read beyond the cells, whatever the warp. */
static void test_a_warp_may_be_anything(void **state)
{
    (void)state;
    const float odd[] = {0, 1, -1, 1e-30f, 1e30f, -1e30f, NAN, INFINITY, -INFINITY, 90};
    enum { ODD = sizeof odd / sizeof *odd };
    uint8_t *cells = malloc(DOPPEL_VIDEO_CELL_BYTES);
    draw_cells(1, cells);
    for (uint32_t i = 0; i < 20000; i++) {
        float values[6];
        for (uint32_t j = 0; j < 6; j++)
            values[j] = odd[drawn_random(i, j) % ODD];
        struct doppel_video_warp warp = {values[0], values[1], values[2],
                                         values[3], values[4], values[5]};
        struct doppel_code code = doppel_video_warped_code(cells, &warp);
        struct doppel_code again = doppel_video_warped_code(cells, &warp);
        assert_memory_equal(&code, &again, sizeof code);
    }
    free(cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_the_identity_is_exact),
        cmocka_unit_test(test_what_was_cut_is_found_by_its_warp),
        cmocka_unit_test(test_what_was_turned_is_found_by_its_warp),
        cmocka_unit_test(test_a_warp_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
