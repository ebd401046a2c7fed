/* Whitening against what it promises, computed in doubles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/vector.h>

#include "core/cpu.h"
#include "vectors.h"

static struct doppel_vector_whitening *make(const float *rows, size_t count, uint32_t dimension)
{
    const struct doppel_vectors vectors = {rows, count, dimension};
    struct doppel_vector_whitening *whitening = NULL;
    assert_int_equal(doppel_vector_whitening_make(&vectors, &whitening, NULL), DOPPEL_OK);
    return whitening;
}

/* Given (free). */
static float *whiten_all(const struct doppel_vector_whitening *whitening, const float *rows,
                         size_t count, uint32_t dimension)
{
    float *out = malloc(count * dimension * sizeof *out);
    for (size_t i = 0; i < count; i++)
        assert_true(doppel_vector_whiten(whitening, rows + i * dimension, out + i * dimension));
    return out;
}

/* Of many vectors: no mean, no direction that varies more than 1, none that goes with another. */
static void test_all_directions_are_alike(void **state)
{
    (void)state;
    static const uint32_t dimensions[] = {1, 2, 16, 63, 64, 65, 100};
    for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++) {
        enum { COUNT = 20000 };
        const uint32_t size = dimensions[d];
        float *rows = random_vectors(SHAPE_LOPSIDED, COUNT, size, 7 + d);
        struct doppel_vector_whitening *whitening = make(rows, COUNT, size);
        float *out = whiten_all(whitening, rows, COUNT, size);
        for (uint32_t j = 0; j < size; j++)
            for (uint32_t k = 0; k <= j; k++) {
                double product = 0, mean = 0;
                for (size_t i = 0; i < COUNT; i++) {
                    product += (double)out[i * size + j] * (double)out[i * size + k];
                    mean += (double)out[i * size + j];
                }
                product /= COUNT;
                assert_true(fabs(mean / COUNT) < 1e-2);
                if (j == k)
                    assert_true(product < 1.01);
                else
                    assert_true(fabs(product) < 0.3);
            }
        free(out);
        free(rows);
        doppel_vector_whitening_free(whitening);
    }
}

/* y solves (C + floor) y = b, in doubles, by elimination. */
static void solve(double *matrix, double *b, size_t size)
{
    for (size_t j = 0; j < size; j++)
        for (size_t i = j + 1; i < size; i++) {
            const double by = matrix[i * size + j] / matrix[j * size + j];
            for (size_t k = j; k < size; k++)
                matrix[i * size + k] -= by * matrix[j * size + k];
            b[i] -= by * b[j];
        }
    for (size_t j = size; j--;) {
        for (size_t k = j + 1; k < size; k++)
            b[j] -= matrix[j * size + k] * b[k];
        b[j] /= matrix[j * size + j];
    }
}

/* x' y' = (x - m) (C + floor)^-1 (y - m), of vectors of length 1. */
static void test_dot_products_are_those_through_the_inverse(void **state)
{
    (void)state;
    enum { COUNT = 500, SIZE = 24 };
    float *rows = random_vectors(SHAPE_FAMILIES, COUNT, SIZE, 8);
    struct doppel_vector_whitening *whitening = make(rows, COUNT, SIZE);
    float *out = whiten_all(whitening, rows, COUNT, SIZE);
    static double unit[COUNT][SIZE], covariance[SIZE][SIZE];
    double mean[SIZE] = {0}, trace = 0;
    for (size_t i = 0; i < COUNT; i++) {
        double square = 0;
        for (size_t j = 0; j < SIZE; j++)
            square += (double)(rows[i * SIZE + j] * rows[i * SIZE + j]);
        for (size_t j = 0; j < SIZE; j++) {
            unit[i][j] = (double)rows[i * SIZE + j] / sqrt(square);
            mean[j] += unit[i][j] / COUNT;
        }
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < SIZE; j++)
            for (size_t k = 0; k < SIZE; k++)
                covariance[j][k] += (unit[i][j] - mean[j]) * (unit[i][k] - mean[k]) / COUNT;
    for (size_t j = 0; j < SIZE; j++)
        trace += covariance[j][j];
    for (size_t j = 0; j < SIZE; j++)
        covariance[j][j] += (0.05 + (double)SIZE / COUNT) * trace / SIZE;
    for (size_t i = 0; i + 1 < COUNT; i += 13) {
        double matrix[SIZE * SIZE], y[SIZE], wanted = 0, got = 0;
        memcpy(matrix, covariance, sizeof matrix);
        for (size_t j = 0; j < SIZE; j++)
            y[j] = unit[i + 1][j] - mean[j];
        solve(matrix, y, SIZE);
        for (size_t j = 0; j < SIZE; j++) {
            wanted += (unit[i][j] - mean[j]) * y[j];
            got += (double)(out[i * SIZE + j] * out[(i + 1) * SIZE + j]);
        }
        assert_true(fabs(got - wanted) < 1e-3 * (1 + fabs(wanted)));
    }
    free(out);
    free(rows);
    doppel_vector_whitening_free(whitening);
}

static void test_the_same_bits_and_odd_sets(void **state)
{
    (void)state;
    enum { COUNT = 900, SIZE = 70 };
    float *rows = random_vectors(SHAPE_ODD, COUNT, SIZE, 9);
    struct doppel_vector_whitening *whitening = make(rows, COUNT, SIZE);
    float *out = whiten_all(whitening, rows, COUNT, SIZE);
    const uint32_t flags = cpu_flags();
    cpu_mask(0);
    struct doppel_vector_whitening *portable = make(rows, COUNT, SIZE);
    float *same = whiten_all(portable, rows, COUNT, SIZE);
    cpu_mask(flags);
    assert_memory_equal(out, same, COUNT * SIZE * sizeof *out);
    for (size_t j = 0; j < SIZE; j++)
        assert_true(out[3 * SIZE + j] == 0); /* of no direction */
    free(out);
    free(same);
    doppel_vector_whitening_free(whitening);
    doppel_vector_whitening_free(portable);
    struct doppel_vectors vectors = {rows, COUNT, SIZE};
    struct doppel_error error;
    rows[SIZE * 77] = INFINITY;
    assert_int_equal(doppel_vector_whitening_make(&vectors, &whitening, &error), DOPPEL_E_FORMAT);
    assert_non_null(strstr(error.message, "vector 77 "));
    memset(rows, 0, COUNT * SIZE * sizeof *rows);
    assert_int_equal(doppel_vector_whitening_make(&vectors, &whitening, &error), DOPPEL_E_EMPTY);
    vectors.count = 0;
    assert_int_equal(doppel_vector_whitening_make(&vectors, &whitening, &error), DOPPEL_E_EMPTY);
    vectors.dimension = 0;
    assert_int_equal(doppel_vector_whitening_make(&vectors, &whitening, &error), DOPPEL_E_ARGUMENT);
    free(rows);
    rows = random_vectors(SHAPE_SAME, 40, 30, 1); /* all alike: there is nothing to tell apart */
    whitening = make(rows, 40, 30);
    out = whiten_all(whitening, rows, 40, 30);
    for (size_t i = 0; i < 40 * 30; i++)
        assert_true(isfinite(out[i]));
    free(out);
    free(rows);
    doppel_vector_whitening_free(whitening);
}

/* Taken out and put in again: the same bits, on any processor. */
static void test_the_numbers_of_a_whitening(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    static const uint32_t dimensions[] = {1, 5, 64, 70, 129};
    for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++) {
        const uint32_t size = dimensions[d];
        const size_t count = doppel_vector_whitening_size(size);
        assert_int_equal(count, size + size * (size + 1) / 2);
        float *rows = random_vectors(SHAPE_FAMILIES, COUNT, size, 11);
        float *numbers = malloc(count * sizeof *numbers), *again = malloc(count * sizeof *again);
        struct doppel_vector_whitening *first = make(rows, COUNT, size), *second = NULL;
        float *wanted = whiten_all(first, rows, COUNT, size);
        doppel_vector_whitening_get(first, numbers);
        assert_int_equal(doppel_vector_whitening_set(numbers, size, &second, NULL), DOPPEL_OK);
        doppel_vector_whitening_get(second, again);
        assert_memory_equal(numbers, again, count * sizeof *numbers);
        const uint32_t flags = cpu_flags();
        cpu_mask(0);
        float *got = whiten_all(second, rows, COUNT, size);
        cpu_mask(flags);
        assert_memory_equal(got, wanted, COUNT * size * sizeof *got);
        for (size_t bad = 0; bad < count; bad += 1 + count / 7) {
            struct doppel_vector_whitening *none = NULL;
            const float kept = numbers[bad];
            numbers[bad] = bad % 2 ? INFINITY : NAN;
            assert_int_equal(doppel_vector_whitening_set(numbers, size, &none, NULL),
                             DOPPEL_E_FORMAT);
            assert_null(none);
            numbers[bad] = kept;
        }
        doppel_vector_whitening_free(first);
        doppel_vector_whitening_free(second);
        free(rows);
        free(numbers);
        free(again);
        free(wanted);
        free(got);
    }
    struct doppel_vector_whitening *none = NULL;
    assert_int_equal(doppel_vector_whitening_set(NULL, 0, &none, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_vector_whitening_set(NULL, 4097, &none, NULL), DOPPEL_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_numbers_of_a_whitening),
        cmocka_unit_test(test_all_directions_are_alike),
        cmocka_unit_test(test_dot_products_are_those_through_the_inverse),
        cmocka_unit_test(test_the_same_bits_and_odd_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
