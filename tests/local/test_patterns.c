/* Regular patterns, each drawn anew, match each other no more often than is stated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "scenes.h"

enum { PATTERNS = 32, WIDTH = 512, HEIGHT = 384 };

static const double turn = 6.283185307179586;

static double between(uint64_t *state, double least, double most)
{
    return least + (most - least) * scene_number(state);
}

/* A pattern, in its own axes: x, y are turned and counted from its middle. */
struct pattern {
    double angle, period, other_period, phase, waves_x, waves_y;
};

typedef double pattern_shade(const struct pattern *pattern, double x, double y); /* 0 to 1 */

static double within_period(double at, double period)
{
    return at / period - floor(at / period);
}

/* Dots, larger where it is darker. */
static double shade_halftone(const struct pattern *pattern, double x, double y)
{
    double tone =
        .5 + .35 * sin(turn * (pattern->waves_x * x + pattern->waves_y * y) / 200 + pattern->phase);
    double across = within_period(x, pattern->period) - .5;
    double down = within_period(y, pattern->period) - .5;
    return across * across + down * down < tone / 4 ? 0 : 1;
}

static double shade_bricks(const struct pattern *pattern, double x, double y)
{
    const bool odd = within_period(y, 2 * pattern->period) < .5;
    const double across =
        within_period(x + (odd ? pattern->other_period / 2 : 0), pattern->other_period);
    return across < .1 || within_period(y, pattern->period) < .15 ? 0 : 1;
}

static struct doppel_fingerprint pattern_points(pattern_shade *shade, uint64_t seed)
{
    uint8_t *luma = malloc((size_t)WIDTH * HEIGHT);
    uint64_t state = seed;
    struct pattern pattern = {.angle = between(&state, 0, turn / 2),
                              .period = between(&state, 9, 40)};
    pattern.other_period = pattern.period * between(&state, .6, 1.6);
    pattern.phase = between(&state, 0, turn);
    pattern.waves_x = between(&state, -.4, .4);
    pattern.waves_y = between(&state, -.4, .4);
    const double dark = between(&state, 0, 80), bright = between(&state, 150, 255);
    assert_non_null(luma);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        double x = i % WIDTH - WIDTH / 2., y = (double)(i / WIDTH) - HEIGHT / 2.;
        double across = x * cos(pattern.angle) + y * sin(pattern.angle);
        double down = y * cos(pattern.angle) - x * sin(pattern.angle);
        luma[i] = (uint8_t)(dark + (bright - dark) * shade(&pattern, across, down));
    }
    const struct doppel_plane plane = {luma, WIDTH, HEIGHT, WIDTH};
    struct doppel_fingerprint points = {0};
    assert_int_equal(doppel_local_features(&plane, &points, NULL), DOPPEL_OK);
    free(luma);
    return points;
}

/* @return of how many pairs the rate is at most this */
static int count_matches(const struct doppel_fingerprint *points, double rate)
{
    const struct doppel_local_options options = doppel_local_options_default();
    int matches = 0;
    for (int i = 0; i < PATTERNS; i++)
        for (int k = 0; k < PATTERNS; k++) {
            struct doppel_fingerprint item = points[k];
            struct doppel_local_verdict verdict;
            doppel_local_keep(&item);
            assert_int_equal(doppel_local_verify(&points[i], &item, &options, &verdict, NULL),
                             DOPPEL_OK);
            if (i != k)
                matches += verdict.false_positive_rate <= rate;
        }
    return matches;
}

static void test_patterns_match_as_seldom_as_stated(void **state)
{
    (void)state;
    pattern_shade *const shades[] = {shade_halftone, shade_bricks};
    const double rate = 1e-3;
    int matches = 0, pairs = 0;
    for (size_t s = 0; s < sizeof shades / sizeof *shades; s++) {
        struct doppel_fingerprint points[PATTERNS];
        for (uint64_t i = 0; i < PATTERNS; i++)
            points[i] = pattern_points(shades[s], 1 + 100 * s + i);
        matches += count_matches(points, rate);
        pairs += PATTERNS * (PATTERNS - 1);
        for (int i = 0; i < PATTERNS; i++)
            doppel_fingerprint_free(&points[i]);
    }
    print_message("%d of %d pairs of patterns within %g\n", matches, pairs, rate);
    /* A few are one drawing, but for its size and place. */
    assert_true(matches <= 2 * pairs * rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns_match_as_seldom_as_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
