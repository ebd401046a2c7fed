/* Counting by limit, and the limit that is recommended, against a slow count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/threshold_sweep.h"

enum { PAIRS = 200 };

/* Similarities of duplicates lie in [low, 1], of others in [0, high]; some match never. */
static void make_pairs(struct judged pairs[PAIRS], unsigned low, unsigned high)
{
    for (int i = 0; i < PAIRS; i++) {
        bool same = i % 2;
        double similarity = same ? low / 100.0 + rand() % (101 - (int)low) / 100.0
                                 : rand() % ((int)high + 1) / 100.0;
        pairs[i] = (struct judged){rand() % 20 ? similarity : -1, same, similarity >= 0.8};
    }
}

static struct outcome counted(const struct judged pairs[PAIRS], double limit)
{
    struct outcome outcome = {0};
    for (int i = 0; i < PAIRS; i++) {
        bool matches = limit < 0 ? pairs[i].usual : pairs[i].similarity >= limit;
        outcome.caught += matches && pairs[i].same;
        outcome.wrong += matches && !pairs[i].same;
    }
    return outcome;
}

static void check_recommended(const struct judged pairs[PAIRS], const struct ladder *ladder,
                              double max_false)
{
    int step = ladder_recommend(ladder, max_false);
    struct outcome chosen = counted(pairs, step < 0 ? -1 : ladder_limit(step));
    assert_int_not_equal(step, RECOMMEND_NONE);
    assert_true((double)chosen.wrong <= max_false * (double)ladder->distinct);
    for (int i = 0; i < LADDER_STEPS; i++) {
        struct outcome other = counted(pairs, ladder_limit(i));
        if ((double)other.wrong > max_false * (double)ladder->distinct)
            continue;
        assert_true(other.caught <= chosen.caught);
        assert_true(step < 0 || other.caught < chosen.caught || other.wrong >= chosen.wrong);
    }
}

static void steps_are_counted(void **state)
{
    struct judged pairs[PAIRS];
    struct judged_list list = {pairs, PAIRS, PAIRS};
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 30; round++) {
        make_pairs(pairs, 20 + round, 30 + 2 * round);
        struct ladder ladder = ladder_of(&list);
        assert_int_equal(ladder.duplicates, PAIRS / 2);
        assert_int_equal(ladder.distinct, PAIRS / 2);
        for (int step = 0; step < LADDER_STEPS; step++) {
            struct outcome outcome = counted(pairs, ladder_limit(step));
            assert_int_equal(ladder.steps[step].caught, outcome.caught);
            assert_int_equal(ladder.steps[step].wrong, outcome.wrong);
        }
        assert_int_equal(ladder.usual.caught, counted(pairs, -1).caught);
        check_recommended(pairs, &ladder, 0.01);
        check_recommended(pairs, &ladder, 0.2);
    }
}

static int recommended(struct judged *pairs, size_t count, double max_false)
{
    struct judged_list list = {pairs, count, count};
    struct ladder ladder = ladder_of(&list);
    return ladder_recommend(&ladder, max_false);
}

static void the_middle_of_equals(void **state)
{
    struct judged pairs[] = {{0.8, true, false}, {0.4, false, false}};
    (void)state;
    assert_int_equal(recommended(pairs, 2, 0), 60); /* .41 to .80 */
}

static void the_usual_rule_goes_first(void **state)
{
    struct judged pairs[] = {{0.8, true, true}, {0.4, false, false}};
    (void)state;
    assert_int_equal(recommended(pairs, 2, 0), RECOMMEND_USUAL);
    pairs[1].usual = true;
    assert_int_equal(recommended(pairs, 2, 0), 60);
}

static void none_where_all_are_false(void **state)
{
    struct judged pairs[] = {{0.4, true, false}, {1, false, true}};
    (void)state;
    assert_int_equal(recommended(pairs, 2, 0.01), RECOMMEND_NONE);
    assert_int_equal(recommended(pairs, 2, 1), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_counted),
        cmocka_unit_test(the_middle_of_equals),
        cmocka_unit_test(the_usual_rule_goes_first),
        cmocka_unit_test(none_where_all_are_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
