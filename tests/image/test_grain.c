/* Grain of drawn samples: the same noise agrees, other noise and even grounds do not, and what is
 * covered takes nothing but its own share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "image/grain.h"

static void fill_noise(uint32_t seed, double out[GRAIN_SAMPLES])
{
    for (int i = 0; i < GRAIN_SAMPLES; i++) {
        seed = seed * 1664525 + 1013904223;
        out[i] = 100 + (seed >> 24) / 8.;
    }
}

/** Of two planes, which are left as they are. */
static double surprise_of_planes(const double *a, const double *b)
{
    double left[GRAIN_SAMPLES], right[GRAIN_SAMPLES];
    memcpy(left, a, sizeof left);
    memcpy(right, b, sizeof right);
    return grain_surprise(left, right);
}

static void test_same_noise_agrees_in_other_tones(void **state)
{
    double a[GRAIN_SAMPLES], b[GRAIN_SAMPLES];
    (void)state;
    fill_noise(1, a);
    for (int i = 0; i < GRAIN_SAMPLES; i++) /* darker, less contrast, and a slope over it */
        b[i] = .7 * a[i] - 20 + i % GRAIN_SIDE;
    assert_true(surprise_of_planes(a, b) > 1000);
    assert_true(surprise_of_planes(a, b) == surprise_of_planes(b, a));
}

static void test_other_noise_does_not(void **state)
{
    double a[GRAIN_SAMPLES], b[GRAIN_SAMPLES];
    (void)state;
    for (uint32_t seed = 1; seed < 100; seed++) {
        fill_noise(seed, a);
        fill_noise(seed + 1000, b);
        assert_true(surprise_of_planes(a, b) < 20);
    }
}

static void test_even_grounds_say_nothing(void **state)
{
    double a[GRAIN_SAMPLES], b[GRAIN_SAMPLES];
    (void)state;
    for (int i = 0; i < GRAIN_SAMPLES; i++)
        a[i] = 200;
    assert_true(surprise_of_planes(a, a) == 0);
    fill_noise(1, b);
    for (int i = 0; i < GRAIN_SAMPLES; i++)
        b[i] = -b[i];
    fill_noise(1, a);
    assert_true(surprise_of_planes(a, b) == 0); /* the negative */
}

static void test_what_is_covered_takes_its_share(void **state)
{
    double a[GRAIN_SAMPLES], b[GRAIN_SAMPLES];
    (void)state;
    fill_noise(1, a);
    fill_noise(2, b);
    memcpy(b, a, sizeof b / 2);
    const double whole = surprise_of_planes(a, a), half = surprise_of_planes(a, b);
    assert_true(half > .4 * whole && half < .6 * whole);
}

/* Windows, charts and frames have edges at the same place. */
static void test_straight_edges_say_nothing(void **state)
{
    double a[GRAIN_SAMPLES], b[GRAIN_SAMPLES];
    (void)state;
    for (int i = 0; i < GRAIN_SAMPLES; i++) {
        const int x = i % GRAIN_SIDE, y = i / GRAIN_SIDE;
        a[i] = 200 - (x >= 11 ? 90 : 0) - (y == 30 ? 60 : 0);
        b[i] = 100 + (x >= 11 ? 80 : 0) + (y == 30 ? 70 : 0);
    }
    assert_true(surprise_of_planes(a, a) < 1);
    assert_true(surprise_of_planes(a, b) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_noise_agrees_in_other_tones),
        cmocka_unit_test(test_other_noise_does_not),
        cmocka_unit_test(test_even_grounds_say_nothing),
        cmocka_unit_test(test_what_is_covered_takes_its_share),
        cmocka_unit_test(test_straight_edges_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
