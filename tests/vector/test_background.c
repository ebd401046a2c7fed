/* Rates of cosines against all pairs counted one by one, and against other pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/vector.h>

#include "vectors.h"

static struct doppel_vector_background *make(const struct doppel_vectors *vectors, uint64_t pairs,
                                             uint32_t threads)
{
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    struct doppel_vector_background *background = NULL;
    options.pairs = pairs;
    options.threads = threads;
    assert_int_equal(doppel_vector_background_make(vectors, &options, &background, NULL),
                     DOPPEL_OK);
    return background;
}

static uint64_t slow_count(const struct doppel_vectors *vectors, float least)
{
    uint64_t count = 0;
    for (size_t a = 0; a < vectors->count; a++)
        for (size_t b = 0; b < a; b++) {
            const float *x = vectors->rows + a * vectors->dimension;
            const float *y = vectors->rows + b * vectors->dimension;
            count += doppel_vector_cosine(x, y, vectors->dimension) >= least;
        }
    return count;
}

/* In steps of 2^-15 a rate is that of a cosine a little lower. */
static void test_all_pairs_of_a_few(void **state)
{
    (void)state;
    float *rows = random_vectors(SHAPE_FAMILIES, 300, 12, 3);
    const struct doppel_vectors vectors = {rows, 300, 12};
    struct doppel_vector_background *background = make(&vectors, 1 << 22, 1);
    const double pairs = 300 * 299 / 2;
    assert_int_equal(doppel_vector_background_pairs(background), (uint64_t)pairs);
    for (float cosine = -1.1F; cosine < 1.1F; cosine += 0.037F) {
        const double rate = doppel_vector_background_rate(background, cosine);
        const double low = (double)slow_count(&vectors, cosine + 1e-6F) / pairs;
        const double high = (double)slow_count(&vectors, cosine - 7e-5F) / pairs;
        assert_true(rate >= fmax(low, 10 / pairs) - 1e-12);
        assert_true(rate <= fmax(high, 10 / pairs) + 1e-12);
    }
    for (double rate = 1; rate > 1e-6; rate *= 0.7) {
        const float cosine = doppel_vector_background_cosine(background, rate);
        if (rate < 10 / pairs) {
            assert_true(cosine == 2);
            continue;
        }
        assert_true(doppel_vector_background_rate(background, cosine) <= rate);
        if (cosine > -1)
            assert_true(doppel_vector_background_rate(background, cosine - 4e-5F) > rate);
    }
    doppel_vector_background_free(background);
    free(rows);
}

/* Other vectors of the same set are as the background says, within a third at 1e-3 and twice at
 * 1e-4. */
static void test_others_are_as_it_says(void **state)
{
    (void)state;
    for (int shape = SHAPE_EVEN; shape <= SHAPE_LOPSIDED; shape++) {
        float *rows = random_vectors((enum vector_shape)shape, 6000, 20, 4);
        float *others = malloc(3000 * 20 * sizeof *others);
        for (size_t i = 0; i < 3000; i += 4) { /* every second four */
            memcpy(others + i * 20, rows + (2 * i + 4) * 20, 4 * 20 * sizeof *rows);
            memmove(rows + i * 20, rows + 2 * i * 20, 4 * 20 * sizeof *rows);
        }
        const struct doppel_vectors vectors = {rows, 3000, 20}, other = {others, 3000, 20};
        struct doppel_vector_background *background = make(&vectors, 1 << 20, 2);
        assert_int_equal(doppel_vector_background_pairs(background), 1 << 20);
        static const double rates[] = {1e-2, 1e-3, 1e-4}, within[] = {1.2, 1.33, 2};
        for (int i = 0; i < 3; i++) {
            const float cosine = doppel_vector_background_cosine(background, rates[i]);
            print_message("rate %g, cosine %.4f\n", rates[i], (double)cosine);
            const double is = (double)slow_count(&other, cosine) / (3000.0 * 2999 / 2);
            assert_true(is <= rates[i] * within[i]);
            assert_true(is >= rates[i] / within[i]);
        }
        doppel_vector_background_free(background);
        free(rows);
        free(others);
    }
}

/* Of vectors in all directions alike, a thirtieth of the pairs say within twice what all do. */
static void test_the_tail_goes_on(void **state)
{
    (void)state;
    for (uint32_t dimension = 10; dimension <= 80; dimension *= 2) {
        float *rows = random_vectors(SHAPE_EVEN, 3000, dimension, 6);
        const struct doppel_vectors vectors = {rows, 3000, dimension};
        struct doppel_vector_background *some = make(&vectors, 150000, 1);
        struct doppel_vector_background *all = make(&vectors, 1 << 23, 2);
        const double least = 30 / (double)doppel_vector_background_pairs(all);
        double before = 1;
        size_t seen = 0;
        for (float cosine = -1; cosine <= 1; cosine += 0.001F) {
            const double tail = doppel_vector_background_tail(some, cosine);
            const double is = doppel_vector_background_rate(all, cosine);
            assert_true(tail <= before && tail > 0);
            before = tail;
            if (is > 1e-3 || is < least)
                continue;
            assert_true(tail > is / 2 && tail < is * 2);
            seen += tail < 1e-4;
        }
        assert_true(seen > 10);
        assert_true(before < 1e-9);
        doppel_vector_background_free(some);
        doppel_vector_background_free(all);
        free(rows);
    }
}

/* Of two groups alone, whether all pairs are looked at or some. */
static void test_pairs_of_a_group_are_left_out(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    float *rows = random_vectors(SHAPE_FAMILIES, COUNT, 12, 7);
    uint32_t groups[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) /* of 1, 2, 3, … */
        groups[i] = i ? groups[i - 1] + (rows[(size_t)i * 12] > 0) : 0;
    uint64_t wanted = 0, near = 0;
    for (size_t a = 0; a < COUNT; a++)
        for (size_t b = 0; b < a; b++) {
            wanted += groups[a] != groups[b];
            near += groups[a] != groups[b] &&
                    doppel_vector_cosine(rows + a * 12, rows + b * 12, 12) >= 0.5F;
        }
    const struct doppel_vectors vectors = {rows, COUNT, 12};
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    struct doppel_vector_background *background = NULL;
    options.groups = groups;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &background, NULL),
                     DOPPEL_OK);
    assert_true(wanted < COUNT * (COUNT - 1) / 2);
    assert_int_equal(doppel_vector_background_pairs(background), wanted);
    assert_true(near > 100);
    assert_true(
        fabs(doppel_vector_background_rate(background, 0.5F) * (double)wanted - (double)near) < 2);
    doppel_vector_background_free(background);
    options.pairs = COUNT;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &background, NULL),
                     DOPPEL_OK);
    assert_true(doppel_vector_background_pairs(background) < COUNT);
    doppel_vector_background_free(background);
    memset(groups, 0, sizeof groups);
    struct doppel_error error;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &background, &error),
                     DOPPEL_E_EMPTY);
    free(rows);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void test_the_same_for_any_threads_and_odd_sets(void **state)
{
    (void)state;
    float *rows = random_vectors(SHAPE_ODD, 4000, 9, 5);
    struct doppel_vectors vectors = {rows, 4000, 9};
    struct doppel_vector_background *one = make(&vectors, 500000, 1);
    struct doppel_vector_background *three = make(&vectors, 500000, 3);
    assert_true(doppel_vector_background_pairs(one) < 500000); /* some have no direction */
    for (float cosine = -1; cosine < 1; cosine += 0.01F)
        assert_true(doppel_vector_background_rate(one, cosine) ==
                    doppel_vector_background_rate(three, cosine));
    doppel_vector_background_free(one);
    doppel_vector_background_free(three);
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    struct doppel_error error;
    options.stopped = stop_at_once;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &one, &error),
                     DOPPEL_E_CANCELLED);
    options.stopped = NULL;
    rows[5] = NAN;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &one, &error),
                     DOPPEL_E_FORMAT);
    vectors.count = 1;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &one, &error),
                     DOPPEL_E_EMPTY);
    vectors.count = 0;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &one, &error),
                     DOPPEL_E_EMPTY);
    memset(rows, 0, 4000 * 9 * sizeof *rows);
    vectors.count = 4000;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &one, &error),
                     DOPPEL_E_EMPTY);
    vectors.dimension = 0;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &one, &error),
                     DOPPEL_E_ARGUMENT);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs_of_a_few),
        cmocka_unit_test(test_others_are_as_it_says),
        cmocka_unit_test(test_the_tail_goes_on),
        cmocka_unit_test(test_pairs_of_a_group_are_left_out),
        cmocka_unit_test(test_the_same_for_any_threads_and_odd_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
