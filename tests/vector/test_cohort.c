/* Scores against those of a slow oracle in doubles, and what they are for. */
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

static struct doppel_vector_cohort *make(const struct doppel_vectors *vectors, uint32_t size,
                                         uint32_t nearest, uint32_t threads)
{
    struct doppel_vector_cohort_options options = doppel_vector_cohort_options_default();
    struct doppel_vector_cohort *cohort = NULL;
    options.size = size;
    options.nearest = nearest;
    options.threads = threads;
    assert_int_equal(doppel_vector_cohort_make(vectors, &options, &cohort, NULL), DOPPEL_OK);
    return cohort;
}

static double slow_cosine(const float *a, const float *b, uint32_t dimension)
{
    double dot = 0, squares_a = 0, squares_b = 0;
    for (uint32_t j = 0; j < dimension; j++) {
        dot += (double)a[j] * (double)b[j];
        squares_a += (double)a[j] * (double)a[j];
        squares_b += (double)b[j] * (double)b[j];
    }
    return squares_a > 0 && squares_b > 0 ? dot / sqrt(squares_a) / sqrt(squares_b) : 0;
}

static int compare_falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* @param size of the sample that was asked for */
static double slow_level(const struct doppel_vectors *vectors, size_t number, size_t size,
                         size_t nearest)
{
    const size_t quarter = (vectors->count + 3) / 4;
    const size_t members = size < quarter ? size : quarter;
    double *cosines = malloc(members * sizeof *cosines), sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < members; i++) {
        const size_t other = i * vectors->count / members;
        if (other != number)
            cosines[count++] =
                slow_cosine(vectors->rows + number * vectors->dimension,
                            vectors->rows + other * vectors->dimension, vectors->dimension);
    }
    qsort(cosines, count, sizeof *cosines, compare_falling);
    for (size_t i = 0; i < nearest && i < count; i++)
        sum += cosines[i];
    free(cosines);
    return count ? sum / (double)(nearest < count ? nearest : count) : 0;
}

/* Given (free). */
static struct doppel_vector_pair *some_pairs(const struct doppel_vectors *vectors, size_t count)
{
    struct doppel_vector_pair *pairs = malloc(count * sizeof *pairs);
    uint64_t seed = 9;
    for (size_t i = 0; i < count; i++) {
        pairs[i].a = (uint32_t)(random_bits(&seed) % vectors->count);
        pairs[i].b = (uint32_t)(random_bits(&seed) % vectors->count);
        pairs[i].cosine = doppel_vector_cosine(
            vectors->rows + (size_t)pairs[i].a * vectors->dimension,
            vectors->rows + (size_t)pairs[i].b * vectors->dimension, vectors->dimension);
    }
    return pairs;
}

static void check_scores(const struct doppel_vectors *vectors, uint32_t size, uint32_t nearest)
{
    enum { PAIRS = 60 };
    struct doppel_vector_pair *pairs = some_pairs(vectors, PAIRS);
    float scores[3][PAIRS];
    for (uint32_t threads = 1; threads <= 3; threads++) {
        cpu_mask(threads == 3 ? 0 : UINT32_MAX);
        struct doppel_vector_cohort *cohort = make(vectors, size, nearest, threads);
        assert_int_equal(
            doppel_vector_cohort_score(cohort, pairs, PAIRS, scores[threads - 1], NULL), DOPPEL_OK);
        doppel_vector_cohort_free(cohort);
    }
    cpu_mask(UINT32_MAX);
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    assert_memory_equal(scores[0], scores[2], sizeof scores[0]);
    for (size_t i = 0; i < PAIRS; i++) {
        const double levels = slow_level(vectors, pairs[i].a, size, nearest) +
                              slow_level(vectors, pairs[i].b, size, nearest);
        assert_true(fabs((double)pairs[i].cosine - levels / 2 - (double)scores[0][i]) <
                    0.01); /* of whole units */
    }
    free(pairs);
}

static void test_scores_are_the_oracles(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 33, 500}, dimensions[] = {1, 7, 100};
    for (int shape = 0; shape < SHAPE_COUNT; shape++)
        for (size_t i = 0; i < 3; i++) {
            float *rows = random_vectors((enum vector_shape)shape, 700, dimensions[i], 5 + i);
            const struct doppel_vectors vectors = {rows, 700, dimensions[i]};
            check_scores(&vectors, sizes[i], i == 0 ? 64 : 10);
            free(rows);
        }
}

static void test_a_level_is_that_of_a_vector_from_elsewhere(void **state)
{
    (void)state;
    float *rows = random_vectors(SHAPE_FAMILIES, 901, 20, 6);
    const struct doppel_vectors vectors = {rows, 900, 20};
    struct doppel_vector_cohort *cohort = make(&vectors, 4096, 10, 1);
    const struct doppel_vectors more = {rows, 901, 20};
    double cosines[225], sum = 0;
    for (size_t i = 0; i < 225; i++)
        cosines[i] = slow_cosine(rows + i * 4 * 20, more.rows + 900 * 20, 20);
    qsort(cosines, 225, sizeof *cosines, compare_falling);
    for (size_t i = 0; i < 10; i++)
        sum += cosines[i];
    float level;
    assert_true(doppel_vector_cohort_level(cohort, rows + 900 * 20, 1, &level));
    assert_true(fabs((double)level - sum / 10) < 0.005);
    const float zeros[20] = {0};
    assert_true(doppel_vector_cohort_level(cohort, zeros, 1, &level) && level == 0);
    assert_true(doppel_vector_cohort_normalise(0.75F, 0.5F, 0.25F) == 0.375F);
    doppel_vector_cohort_free(cohort);
    free(rows);
}

/* Every second vector is of one dense crowd. Of pairs as near as each other, those of the crowd
 * score less. */
static void test_what_is_usual_scores_less(void **state)
{
    (void)state;
    enum { COUNT = 4000, SIZE = 32 };
    float *rows = random_vectors(SHAPE_EVEN, COUNT, SIZE, 8);
    for (size_t i = 0; i < COUNT / 2; i++) /* a cosine of about .8 to each other */
        rows[2 * i * SIZE] += 12;
    for (size_t j = 0; j < SIZE; j++)
        rows[3 * SIZE + j] = rows[1 * SIZE + j] + 0.5F * rows[5 * SIZE + j];
    const struct doppel_vectors vectors = {rows, COUNT, SIZE};
    struct doppel_vector_cohort *cohort = make(&vectors, 4096, 10, 1);
    struct doppel_vector_pair pairs[] = {{0, 2, 0}, {1, 3, 0}};
    float scores[2];
    for (size_t i = 0; i < 2; i++)
        pairs[i].cosine =
            doppel_vector_cosine(rows + pairs[i].a * SIZE, rows + pairs[i].b * SIZE, SIZE);
    assert_int_equal(doppel_vector_cohort_score(cohort, pairs, 2, scores, NULL), DOPPEL_OK);
    assert_true(pairs[0].cosine > 0.7F && pairs[1].cosine > 0.7F);
    assert_true(scores[0] < 0.05F && scores[1] > 0.3F);
    doppel_vector_cohort_free(cohort);
    free(rows);
}

static void check_background(const struct doppel_vectors *vectors,
                             struct doppel_vector_cohort *cohort, float least)
{
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    struct doppel_vector_background *background = NULL;
    const size_t count = vectors->count;
    struct doppel_vector_pair *pairs = malloc(count * count * sizeof *pairs);
    float *scores = malloc(count * count * sizeof *scores);
    size_t near = 0;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < a; b++) {
            const float cosine = doppel_vector_cosine(
                vectors->rows + (size_t)a * vectors->dimension,
                vectors->rows + (size_t)b * vectors->dimension, vectors->dimension);
            if (cosine >= least)
                pairs[near++] = (struct doppel_vector_pair){a, b, cosine};
        }
    assert_int_equal(doppel_vector_cohort_score(cohort, pairs, near, scores, NULL), DOPPEL_OK);
    assert_int_equal(doppel_vector_cohort_levels(cohort, &options.levels, NULL), DOPPEL_OK);
    options.min_cosine = least;
    options.threads = 2;
    assert_int_equal(doppel_vector_background_make(vectors, &options, &background, NULL),
                     DOPPEL_OK);
    const double all = (double)count * (double)(count - 1) / 2;
    for (float score = -0.5F; score < 0.6F; score += 0.05F) {
        size_t low = 0, high = 0;
        for (size_t i = 0; i < near; i++) {
            low += scores[i] >= score + 1e-6F;
            high += scores[i] >= score - 4e-5F;
        }
        const double rate = doppel_vector_background_rate(background, score);
        assert_true(rate >= fmax((double)low, 10) / all - 1e-12);
        assert_true(rate <= fmax((double)high, 10) / all + 1e-12);
    }
    doppel_vector_background_free(background);
    free(pairs);
    free(scores);
}

static void test_rates_of_scores(void **state)
{
    (void)state;
    float *rows = random_vectors(SHAPE_FAMILIES, 600, 12, 3);
    const struct doppel_vectors vectors = {rows, 600, 12};
    struct doppel_vector_cohort *cohort = make(&vectors, 100, 10, 1);
    check_background(&vectors, cohort, -1);
    check_background(&vectors, cohort, 0.6F);
    doppel_vector_cohort_free(cohort);
    free(rows);
}

/* Of each pair one of the two is the query; which of them, is half this and half that. */
static void test_rates_of_scores_of_queries(void **state)
{
    (void)state;
    enum { COUNT = 600, SIZE = 12 };
    float *rows = random_vectors(SHAPE_FAMILIES, COUNT, SIZE, 3), *levels = calloc(COUNT, 4);
    const struct doppel_vectors vectors = {rows, COUNT, SIZE};
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    struct doppel_vector_background *background = NULL;
    for (size_t i = 0; i < COUNT; i++)
        levels[i] = i % 2 ? 0.6F : -0.2F;
    options.levels = levels;
    options.of_queries = true;
    options.min_cosine = -1;
    assert_int_equal(doppel_vector_background_make(&vectors, &options, &background, NULL),
                     DOPPEL_OK);
    for (float score = -0.5F; score < 0.9F; score += 0.1F) {
        double reaching = 0;
        for (size_t a = 0; a < COUNT; a++)
            for (size_t b = 0; b < COUNT; b++)
                reaching += a != b && doppel_vector_cosine(rows + a * SIZE, rows + b * SIZE, SIZE) -
                                              levels[a] / 2 >=
                                          score;
        const double expected = reaching / (COUNT * (COUNT - 1.0));
        assert_true(fabs(doppel_vector_background_rate(background, score) - expected) <
                    0.02 * expected + 2e-3);
    }
    doppel_vector_background_free(background);
    free(levels);
    free(rows);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void test_what_is_refused(void **state)
{
    (void)state;
    float *rows = random_vectors(SHAPE_EVEN, 100, 4, 3);
    struct doppel_vectors vectors = {rows, 100, 4};
    struct doppel_vector_cohort_options options = doppel_vector_cohort_options_default();
    struct doppel_vector_cohort *cohort = NULL;
    static const struct {
        uint32_t size, nearest, dimension;
    } bad[] = {{0, 10, 4}, {65537, 10, 4}, {9, 0, 4}, {9, 65, 4}, {9, 10, 0}, {9, 10, 4097}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.size = bad[i].size;
        options.nearest = bad[i].nearest;
        vectors.dimension = bad[i].dimension;
        assert_int_equal(doppel_vector_cohort_make(&vectors, &options, &cohort, NULL),
                         DOPPEL_E_ARGUMENT);
        assert_null(cohort);
    }
    vectors.dimension = 4;
    options = doppel_vector_cohort_options_default();
    options.stopped = stop_at_once;
    assert_int_equal(doppel_vector_cohort_make(&vectors, &options, &cohort, NULL), DOPPEL_OK);
    struct doppel_vector_pair pair = {0, 99, 0};
    float score = 7;
    assert_int_equal(doppel_vector_cohort_score(cohort, &pair, 1, &score, NULL),
                     DOPPEL_E_CANCELLED);
    pair.b = 100;
    assert_int_equal(doppel_vector_cohort_score(cohort, &pair, 1, &score, NULL), DOPPEL_E_ARGUMENT);
    assert_true(score == 7);
    doppel_vector_cohort_free(cohort);
    cohort = make(&vectors, 10, 10, 1);
    const float before = rows[99 * 4];
    float again[2];
    rows[99 * 4] = NAN;
    pair.b = 99;
    assert_int_equal(doppel_vector_cohort_score(cohort, &pair, 1, &score, NULL), DOPPEL_E_FORMAT);
    rows[99 * 4] = before; /* a failure leaves nothing behind */
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(doppel_vector_cohort_score(cohort, &pair, 1, &again[i], NULL), DOPPEL_OK);
    assert_true(again[0] == again[1]);
    const double levels = slow_level(&vectors, 0, 10, 10) + slow_level(&vectors, 99, 10, 10);
    assert_true(fabs((double)again[0] + levels / 2) < 0.005);
    doppel_vector_cohort_free(cohort);
    rows[1] = NAN; /* of one in the sample */
    options.stopped = NULL;
    assert_int_equal(doppel_vector_cohort_make(&vectors, &options, &cohort, NULL), DOPPEL_E_FORMAT);
    vectors.count = 0;
    assert_int_equal(doppel_vector_cohort_make(&vectors, &options, &cohort, NULL), DOPPEL_OK);
    assert_int_equal(doppel_vector_cohort_score(cohort, NULL, 0, NULL, NULL), DOPPEL_OK);
    doppel_vector_cohort_free(cohort);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_are_the_oracles),
        cmocka_unit_test(test_a_level_is_that_of_a_vector_from_elsewhere),
        cmocka_unit_test(test_what_is_usual_scores_less),
        cmocka_unit_test(test_rates_of_scores),
        cmocka_unit_test(test_rates_of_scores_of_queries),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
