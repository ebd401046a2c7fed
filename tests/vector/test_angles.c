/* What the triangle inequality of angles leaves, against arcs and against vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <doppel/vector.h>

#include "vector/angles.h"
#include "vectors.h"

static void test_angles_are_added(void **state)
{
    (void)state;
    for (int a = -20; a <= 20; a++)
        for (int b = a; b <= 20; b++)
            for (int least = -20; least <= 20; least++) {
                const struct cosine_range of = {(float)a / 20, (float)b / 20};
                const float min_cosine = (float)least / 20;
                const struct cosine_range within = cosines_within(of, min_cosine);
                const double apart = acos((double)min_cosine);
                const double most = fmin(acos((double)of.low) + apart, acos(-1.0));
                const double fewest = fmax(acos((double)of.high) - apart, 0);
                assert_true(fabs((double)within.low - cos(most)) < 1e-6);
                assert_true(fabs((double)within.high - cos(fewest)) < 1e-6);
            }
}

/* Of any three vectors: the third is a centre. */
static void test_no_vector_is_left_out(void **state)
{
    (void)state;
    enum { COUNT = 120, DIMENSION = 5 };
    for (int shape = 0; shape < SHAPE_COUNT; shape++) {
        float *rows = random_vectors((enum vector_shape)shape, COUNT, DIMENSION, 7);
        for (size_t i = 0; i < COUNT; i++)
            for (size_t j = 0; j < COUNT; j++)
                for (size_t k = 0; k < COUNT; k++) {
                    const float *x = rows + i * DIMENSION, *y = rows + j * DIMENSION;
                    const float *centre = rows + k * DIMENSION;
                    const float own = doppel_vector_cosine(x, centre, DIMENSION);
                    const struct cosine_range within =
                        cosines_within((struct cosine_range){own - 1e-6F, own + 1e-6F},
                                       doppel_vector_cosine(x, y, DIMENSION) - 1e-6F);
                    const float other = doppel_vector_cosine(y, centre, DIMENSION);
                    if (doppel_vector_cosine(x, x, DIMENSION) > 0 &&
                        doppel_vector_cosine(y, y, DIMENSION) > 0 &&
                        doppel_vector_cosine(centre, centre, DIMENSION) > 0)
                        assert_true(other >= within.low - 1e-5F && other <= within.high + 1e-5F);
                }
        free(rows);
    }
}

/* Scores end where 16 bits do: then nothing is known of how low a cosine is. */
static void test_the_lowest_score_says_little(void **state)
{
    (void)state;
    uint8_t codes[PREFIX_BLOCK * PREFIX_HEAD];
    int16_t bias[PREFIX_BLOCK] = {0};
    struct centres centres = {{.codes = codes, .error = bias, .dimensions = PREFIX_HEAD}, 2, 1};
    int8_t values[PREFIX_HEAD] = {60, -60, 60};
    for (size_t i = 0; i < sizeof codes; i++)
        codes[i] = PREFIX_ZERO;
    prefix_put(values, PREFIX_HEAD, codes, 0);
    bias[0] = (int16_t)-prefix_square(values, PREFIX_HEAD);
    const struct cosine_range some = cosine_of_score(&centres, 0, 0, 0.01F);
    assert_true(some.low > 0.3F && some.high < 0.6F && some.low < some.high);
    assert_true(cosine_of_score(&centres, 0, INT16_MIN, 0.01F).low == -1);
    assert_true(cosine_of_score(&centres, 1, 500, 0.01F).low == -1); /* it has no direction */
    assert_true(cosine_of_score(&centres, 1, 500, 0.01F).high == 1);
    const struct dot_range all = dots_of_cosines(&centres, 1, (struct cosine_range){0.9F, 1});
    assert_true(all.low < INT16_MIN && all.high > INT16_MAX);
    assert_true(2 * (int64_t)all.low - 1 > INT32_MIN && 2 * (int64_t)all.high < INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_angles_are_added),
        cmocka_unit_test(test_no_vector_is_left_out),
        cmocka_unit_test(test_the_lowest_score_says_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
