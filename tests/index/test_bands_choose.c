/* The choice of bands and rows against a slow search of all of them, with another rule of
 * integration, and against what others' code gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <doppel/index.h>

static double candidates(double similarity, uint32_t bands, uint32_t rows)
{
    return 1 - pow(1 - pow(similarity, rows), bands);
}

/* Simpson's rule over [from, to]. */
static double integral(double from, double to, uint32_t bands, uint32_t rows)
{
    enum { PARTS = 600 };
    double step = (to - from) / PARTS, sum = candidates(from, bands, rows);
    for (int i = 1; i < PARTS; i++)
        sum += (i % 2 ? 4 : 2) * candidates(from + i * step, bands, rows);
    return (sum + candidates(to, bands, rows)) * step / 3;
}

static double cost(double limit, double miss_weight, uint32_t bands, uint32_t rows)
{
    return (1 - miss_weight) * integral(0, limit, bands, rows) +
           miss_weight * (1 - limit - integral(limit, 1, bands, rows));
}

static void nothing_costs_less(uint32_t lanes, double limit, double miss_weight)
{
    uint32_t bands, rows;
    double least = 2;
    assert_int_equal(doppel_index_bands_choose(lanes, limit, miss_weight, &bands, &rows, NULL),
                     DOPPEL_OK);
    assert_true(bands >= 1 && rows >= 1 && bands * rows <= lanes);
    for (uint32_t b = 1; b <= lanes; b++)
        for (uint32_t r = 1; b * r <= lanes; r++)
            least = fmin(least, cost(limit, miss_weight, b, r));
    assert_true(cost(limit, miss_weight, bands, rows) < least + 1e-5);
}

static void the_least_cost_is_chosen(void **state)
{
    static const double limits[] = {0.05, 0.3, 0.5, 0.72, 0.9, 1};
    static const double weights[] = {0, 0.2, 0.5, 0.9, 0.99, 1};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (size_t j = 0; j < sizeof weights / sizeof *weights; j++) {
            nothing_costs_less(4, limits[i], weights[j]);
            nothing_costs_less(36, limits[i], weights[j]);
        }
    nothing_costs_less(128, 0.7, 0.9);
    nothing_costs_less(256, 0.5, 0.5);
}

struct known {
    uint32_t lanes;
    double limit;
    uint32_t bands, rows;
};

static void chosen(const struct known *known, size_t count, double miss_weight)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bands, rows;
        assert_int_equal(doppel_index_bands_choose(known[i].lanes, known[i].limit, miss_weight,
                                                   &bands, &rows, NULL),
                         DOPPEL_OK);
        assert_int_equal(bands, known[i].bands);
        assert_int_equal(rows, known[i].rows);
    }
}

/* MinHashLSH(threshold, num_perm) with weights (.5, .5). */
static void as_datasketch_chooses(void **state)
{
    static const struct known known[] = {
        {128, 0.5, 25, 5}, {128, 0.7, 14, 9}, {128, 0.8, 9, 13}, {128, 0.9, 5, 25}};
    (void)state;
    chosen(known, sizeof known / sizeof *known, 0.5);
}

static void the_usual_choice(void **state)
{
    static const struct known known[] = {{128, 0.5, 32, 4}, {128, 0.6, 32, 4},  {128, 0.7, 24, 4},
                                         {128, 0.8, 21, 6}, {128, 0.9, 12, 10}, {256, 0.7, 42, 6},
                                         {128, 1, 1, 128},  {4, 0.9, 1, 4}};
    (void)state;
    chosen(known, sizeof known / sizeof *known, DOPPEL_INDEX_BANDS_USUAL);
}

static void others_are_refused(void **state)
{
    static const struct {
        uint32_t lanes;
        double limit, miss_weight;
    } wrong[] = {{0, 0.5, 0.5},    {6, 0.5, 0.5},   {1028, 0.5, 0.5},
                 {128, -0.1, 0.5}, {128, 1.1, 0.5}, {128, NAN, 0.5},
                 {128, 0.5, -0.5}, {128, 0.5, 1.5}, {128, 0.5, NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t bands = 77, rows = 77;
        struct doppel_error error;
        assert_int_equal(doppel_index_bands_choose(wrong[i].lanes, wrong[i].limit,
                                                   wrong[i].miss_weight, &bands, &rows, &error),
                         DOPPEL_E_ARGUMENT);
        assert_int_equal(bands + rows, 154);
    }
}

/* Whatever is asked for fits an index of bands. */
static void choices_make_an_index(void **state)
{
    (void)state;
    for (uint32_t lanes = 4; lanes <= 1024; lanes *= 2)
        for (int percent = 0; percent <= 100; percent += 10) {
            struct doppel_index_options options = doppel_index_options_default();
            struct doppel_index *index;
            options.table = DOPPEL_INDEX_BANDS;
            options.lanes = lanes;
            assert_int_equal(doppel_index_bands_choose(lanes, percent / 100.0,
                                                       DOPPEL_INDEX_BANDS_USUAL, &options.bands,
                                                       &options.rows, NULL),
                             DOPPEL_OK);
            assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
            doppel_index_free(index);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_cost_is_chosen), cmocka_unit_test(as_datasketch_chooses),
        cmocka_unit_test(the_usual_choice),         cmocka_unit_test(others_are_refused),
        cmocka_unit_test(choices_make_an_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
