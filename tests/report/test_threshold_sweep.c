/* Counting by threshold, and the threshold that is recommended, against a slow count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/threshold_sweep.h"

enum { PAIRS = 200 };

/* Similarities of duplicates lie in [low, 1], of others in [0, high]; some match never. */
static void make_pairs(struct scored_pair pairs[PAIRS], unsigned low, unsigned high)
{
    for (int i = 0; i < PAIRS; i++) {
        bool same = i % 2;
        double similarity = same ? low / 100.0 + rand() % (101 - (int)low) / 100.0
                                 : rand() % ((int)high + 1) / 100.0;
        pairs[i] = (struct scored_pair){rand() % 20 ? similarity : -1, same, similarity >= 0.8};
    }
}

static struct sweep_counts counted(const struct scored_pair pairs[PAIRS], double limit)
{
    struct sweep_counts counts = {0};
    for (int i = 0; i < PAIRS; i++) {
        bool matches = limit < 0 ? pairs[i].by_default : pairs[i].similarity >= limit;
        counts.caught += matches && pairs[i].same;
        counts.wrong += matches && !pairs[i].same;
    }
    return counts;
}

static void check_recommended(const struct scored_pair pairs[PAIRS],
                              const struct threshold_sweep *sweep, double max_false)
{
    int step = sweep_recommend(sweep, max_false);
    struct sweep_counts chosen = counted(pairs, step < 0 ? -1 : sweep_threshold(step));
    assert_int_not_equal(step, RECOMMEND_NONE);
    assert_true((double)chosen.wrong <= max_false * (double)sweep->distinct);
    for (int i = 0; i < SWEEP_STEPS; i++) {
        struct sweep_counts other = counted(pairs, sweep_threshold(i));
        if ((double)other.wrong > max_false * (double)sweep->distinct)
            continue;
        assert_true(other.caught <= chosen.caught);
        assert_true(step < 0 || other.caught < chosen.caught || other.wrong >= chosen.wrong);
    }
}

static void steps_are_counted(void **state)
{
    struct scored_pair pairs[PAIRS];
    struct scored_pairs list = {pairs, PAIRS, PAIRS};
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 30; round++) {
        make_pairs(pairs, 20 + round, 30 + 2 * round);
        struct threshold_sweep sweep = sweep_of(&list);
        assert_int_equal(sweep.duplicates, PAIRS / 2);
        assert_int_equal(sweep.distinct, PAIRS / 2);
        for (int step = 0; step < SWEEP_STEPS; step++) {
            struct sweep_counts counts = counted(pairs, sweep_threshold(step));
            assert_int_equal(sweep.steps[step].caught, counts.caught);
            assert_int_equal(sweep.steps[step].wrong, counts.wrong);
        }
        assert_int_equal(sweep.by_default.caught, counted(pairs, -1).caught);
        check_recommended(pairs, &sweep, 0.01);
        check_recommended(pairs, &sweep, 0.2);
    }
}

static int recommended(struct scored_pair *pairs, size_t count, double max_false)
{
    struct scored_pairs list = {pairs, count, count};
    struct threshold_sweep sweep = sweep_of(&list);
    return sweep_recommend(&sweep, max_false);
}

static void the_middle_of_equals(void **state)
{
    struct scored_pair pairs[] = {{0.8, true, false}, {0.4, false, false}};
    (void)state;
    assert_int_equal(recommended(pairs, 2, 0), 60); /* .41 to .80 */
}

static void the_default_goes_first(void **state)
{
    struct scored_pair pairs[] = {{0.8, true, true}, {0.4, false, false}};
    (void)state;
    assert_int_equal(recommended(pairs, 2, 0), RECOMMEND_DEFAULT);
    pairs[1].by_default = true;
    assert_int_equal(recommended(pairs, 2, 0), 60);
}

static void none_where_all_are_false(void **state)
{
    struct scored_pair pairs[] = {{0.4, true, false}, {1, false, true}};
    (void)state;
    assert_int_equal(recommended(pairs, 2, 0.01), RECOMMEND_NONE);
    assert_int_equal(recommended(pairs, 2, 1), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_counted),
        cmocka_unit_test(the_middle_of_equals),
        cmocka_unit_test(the_default_goes_first),
        cmocka_unit_test(none_where_all_are_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
