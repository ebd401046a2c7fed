/* Joins against all pairs compared one by one, in doubles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/vector.h>

#include "core/array.h"
#include "core/cpu.h"
#include "vectors.h"

/* What is nearer to the threshold than this may be found or not: float32 has its own opinion. */
static const double float_doubt = 1e-5;

struct found {
    ARRAY(struct doppel_vector_pair) pairs;
    size_t stop_after;
};

static bool collect(void *context, const struct doppel_vector_pair *pairs, size_t count)
{
    struct found *found = context;
    for (size_t i = 0; i < count; i++)
        assert_true(array_push(&found->pairs, pairs[i]));
    return !found->stop_after || found->pairs.count < found->stop_after;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct doppel_vector_pair *x = a, *y = b;
    return x->a != y->a ? (x->a < y->a ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

/* -2: one of them has no direction */
static double slow_cosine(const struct doppel_vectors *vectors, size_t a, size_t b)
{
    const float *x = vectors->rows + a * vectors->dimension;
    const float *y = vectors->rows + b * vectors->dimension;
    double dot = 0, xx = 0, yy = 0;
    for (uint32_t j = 0; j < vectors->dimension; j++) {
        dot += (double)x[j] * (double)y[j];
        xx += (double)x[j] * (double)x[j];
        yy += (double)y[j] * (double)y[j];
    }
    return xx > 0 && yy > 0 ? dot / sqrt(xx) / sqrt(yy) : -2;
}

static struct found join(const struct doppel_vectors *vectors,
                         const struct doppel_vector_join_options *options)
{
    struct found found = {0};
    struct doppel_vector_join_stats stats;
    struct doppel_error error = {0};
    enum doppel_status status =
        doppel_vectors_join(vectors, options, collect, &found, &stats, &error);
    if (status)
        print_message("%s\n", error.message);
    assert_int_equal(status, DOPPEL_OK);
    assert_int_equal(stats.pairs, found.pairs.count);
    if (found.pairs.count)
        qsort(found.pairs.items, found.pairs.count, sizeof *found.pairs.items, compare_pairs);
    return found;
}

static double least_of_pair(const struct doppel_vector_join_options *options, uint32_t a,
                            uint32_t b)
{
    const double cosine = (double)options->min_cosine;
    if (!options->levels)
        return cosine;
    const double levels = (double)options->levels[a] + (double)options->levels[b];
    return fmax(cosine, (double)options->min_score + levels / 2);
}

/* All that were found are pairs, each once. @return the share of all pairs that were */
static double check_found(const struct doppel_vectors *vectors,
                          const struct doppel_vector_join_options *options,
                          const struct found *found)
{
    size_t at = 0, wanted = 0, had = 0;
    for (uint32_t a = 0; a < vectors->count; a++)
        for (uint32_t b = a + 1; b < vectors->count; b++) {
            const double cosine = slow_cosine(vectors, a, b), least = least_of_pair(options, a, b);
            const struct doppel_vector_pair *pair =
                at < found->pairs.count ? &found->pairs.items[at] : NULL;
            const bool is_found = pair && pair->a == a && pair->b == b;
            if (is_found) {
                assert_true(cosine >= least - float_doubt);
                assert_true(fabs((double)pair->cosine - cosine) <= float_doubt);
                at++;
            }
            if (cosine >= least + float_doubt) {
                wanted++;
                had += is_found;
            }
        }
    assert_int_equal(at, found->pairs.count);
    return wanted ? (double)had / (double)wanted : 1;
}

static void check_exact(enum vector_shape shape, size_t count, uint32_t dimension, float least)
{
    float *rows = random_vectors(shape, count, dimension, count + dimension);
    const struct doppel_vectors vectors = {rows, count, dimension};
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    options.exact = true;
    options.min_cosine = least;
    struct found found = join(&vectors, &options);
    assert_true(check_found(&vectors, &options, &found) == 1);
    array_free(&found.pairs);
    free(rows);
}

static void test_exact_finds_all(void **state)
{
    (void)state;
    static const uint32_t dimensions[] = {1, 2, 3, 15, 16, 17, 31, 48, 49, 100, 257};
    static const float thresholds[] = {-1, -0.5F, 0, 0.3F, 0.7F, 0.9F, 0.99F, 1};
    for (int shape = 0; shape < SHAPE_COUNT; shape++)
        for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
            for (size_t j = 0; j < sizeof thresholds / sizeof *thresholds; j++)
                check_exact((enum vector_shape)shape, 60 + 37 * j, dimensions[i], thresholds[j]);
    check_exact(SHAPE_FAMILIES, 50, DOPPEL_VECTOR_DIMENSION_MAX, 0.8F);
    for (size_t count = 0; count < 40; count++)
        check_exact(SHAPE_FAMILIES, count, 20, 0.5F);
}

static void test_exact_finds_all_in_many_cells(void **state)
{
    (void)state;
    check_exact(SHAPE_FAMILIES, 4500, 24, 0.9F);
    check_exact(SHAPE_FAMILIES, 4300, 40, 0.5F);
    check_exact(SHAPE_LOPSIDED, 4200, 20, 0.99F);
    check_exact(SHAPE_ODD, 4600, 8, 0.95F);
    check_exact(SHAPE_AXES, 4200, 50, 0.2F);
}

static void test_others_find_their_share(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 3; seed++) {
        float *rows = random_vectors(SHAPE_FAMILIES, 5000, 24, seed);
        const struct doppel_vectors vectors = {rows, 5000, 24};
        struct doppel_vector_join_options options = doppel_vector_join_options_default();
        options.min_cosine = 0.8F;
        struct found found = join(&vectors, &options);
        const double share = check_found(&vectors, &options, &found);
        print_message("recall %.4f of %zu\n", share, found.pairs.count);
        assert_true(share >= (double)options.recall);
        array_free(&found.pairs);
        free(rows);
    }
}

static const struct {
    float min_cosine, min_score;
} level_cases[] = {{-1, 0.1F},  {0.6F, 0.4F}, {0.6F, 0.1F},  {-1, 0.4F},
                   {-1, -0.7F}, {-1, -2},     {0.6F, -0.7F}, {0.6F, -2}};

/* Levels of chance, and of some shapes those of their vectors. @param cases the first so many */
static void check_levels(enum vector_shape shape, size_t count, uint32_t dimension, bool exact,
                         size_t cases)
{
    float *rows = random_vectors(shape, count, dimension, count + dimension);
    float *levels = malloc(count * sizeof *levels);
    const struct doppel_vectors vectors = {rows, count, dimension};
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    uint64_t seed = count;
    for (size_t i = 0; i < count; i++)
        levels[i] = shape == SHAPE_FAMILIES && i && i % 5
                        ? levels[i - 1]
                        : (float)(random_share(&seed) * 1.5 - 0.5);
    options.exact = exact;
    options.levels = levels;
    for (size_t i = 0; i < cases; i++) {
        options.min_cosine = level_cases[i].min_cosine;
        options.min_score = level_cases[i].min_score;
        struct found found = join(&vectors, &options);
        const double share = check_found(&vectors, &options, &found);
        assert_true(exact ? share == 1 : share >= (double)options.recall);
        array_free(&found.pairs);
    }
    free(levels);
    free(rows);
}

static void test_levels_raise_the_threshold(void **state)
{
    (void)state;
    static const uint32_t dimensions[] = {1, 17, 100};
    for (int shape = 0; shape < SHAPE_COUNT; shape++)
        for (size_t i = 0; i < 3; i++)
            check_levels((enum vector_shape)shape, 300, dimensions[i], true,
                         sizeof level_cases / sizeof *level_cases);
    check_levels(SHAPE_FAMILIES, 4300, 20, true, 2);
    check_levels(SHAPE_LOPSIDED, 4200, 12, true, 1);
    check_levels(SHAPE_FAMILIES, 4200, 24, false, 2);
}

/* In the same order, too. */
static void test_the_same_on_any_processor_and_threads(void **state)
{
    (void)state;
    float *rows = random_vectors(SHAPE_FAMILIES, 4200, 50, 5);
    const struct doppel_vectors vectors = {rows, 4200, 50};
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    for (int exact = 0; exact < 2; exact++) {
        options.exact = exact;
        struct found first = {0};
        options.threads = 1;
        assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &first, NULL, NULL), 0);
        for (uint32_t threads = 2; threads < 4; threads++) {
            struct found found = {0};
            const uint32_t flags = cpu_flags();
            options.threads = threads;
            if (threads % 2)
                cpu_mask(0);
            assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, NULL),
                             0);
            cpu_mask(flags);
            assert_int_equal(found.pairs.count, first.pairs.count);
            assert_memory_equal(found.pairs.items, first.pairs.items,
                                first.pairs.count * sizeof *first.pairs.items);
            array_free(&found.pairs);
        }
        array_free(&first.pairs);
    }
    free(rows);
}

static bool stopped(void *context)
{
    return --*(int *)context < 0;
}

static void test_what_is_wrong_is_said(void **state)
{
    (void)state;
    float *rows = random_vectors(SHAPE_FAMILIES, 5000, 20, 6);
    struct doppel_vectors vectors = {rows, 5000, 20};
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    struct doppel_error error;
    struct found found = {.stop_after = 10};
    assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error),
                     DOPPEL_E_CANCELLED);
    for (int turns = 0; turns < 20; turns++) {
        int left = turns;
        options.context = &left;
        options.stopped = stopped;
        found.stop_after = 0;
        const enum doppel_status status =
            doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error);
        assert_true(status == DOPPEL_E_CANCELLED || (status == DOPPEL_OK && left >= 0));
    }
    options = doppel_vector_join_options_default();
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30F};
    memset(rows + 20 * 100, 0, 20 * sizeof *rows);
    rows[20 * 100] = 1e-30F; /* its square is 0, and it is not */
    assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error),
                     DOPPEL_E_FORMAT);
    assert_non_null(strstr(error.message, "vector 100 "));
    rows[20 * 100] = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rows[20 * 4999 + 3] = bad[i];
        rows[20 * 4321 + 19] = bad[i];
        options.threads = 1 + (uint32_t)i;
        assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error),
                         DOPPEL_E_FORMAT);
        assert_non_null(strstr(error.message, "vector 4321 "));
    }
    vectors.count = 0;
    assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error),
                     DOPPEL_OK);
    vectors.dimension = 0;
    assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error),
                     DOPPEL_E_ARGUMENT);
    vectors.dimension = DOPPEL_VECTOR_DIMENSION_MAX + 1;
    assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error),
                     DOPPEL_E_ARGUMENT);
    vectors.dimension = 20;
    options.min_cosine = 1.5F;
    assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error),
                     DOPPEL_E_ARGUMENT);
    options = doppel_vector_join_options_default();
    options.recall = NAN;
    assert_int_equal(doppel_vectors_join(&vectors, &options, collect, &found, NULL, &error),
                     DOPPEL_E_ARGUMENT);
    array_free(&found.pairs);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_finds_all),
        cmocka_unit_test(test_exact_finds_all_in_many_cells),
        cmocka_unit_test(test_others_find_their_share),
        cmocka_unit_test(test_levels_raise_the_threshold),
        cmocka_unit_test(test_the_same_on_any_processor_and_threads),
        cmocka_unit_test(test_what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
