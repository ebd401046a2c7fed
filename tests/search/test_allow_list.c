/* Which matches benign items explain: by examples, and against a look at every tenth of a second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "search/allow_list.h"

#include <stdlib.h>

static void test_a_whole_match_explains_all(void **state)
{
    (void)state;
    const struct doppel_segment part = {.a_start = 1, .a_end = 2};
    struct listed_match matches[] = {
        {.id = 1, .state = DOPPEL_LIST_ACTIVE},
        {.id = 2, .state = DOPPEL_LIST_BENIGN},
        {.id = 3, .state = DOPPEL_LIST_ACTIVE, .segments = &part, .segment_count = 1},
        {.id = 4, .state = DOPPEL_LIST_BENIGN},
        {.id = 5, .state = DOPPEL_LIST_DISABLED},
    };
    assert_int_equal(allow_list_apply(matches, 5, NULL), DOPPEL_OK);
    assert_int_equal(matches[0].suppressed_by, 2);
    assert_int_equal(matches[1].suppressed_by, 0);
    assert_int_equal(matches[2].suppressed_by, 2);
    assert_int_equal(matches[3].suppressed_by, 0);
    assert_int_equal(matches[4].suppressed_by, 0);
}

static void test_nothing_is_explained_without_benign_items(void **state)
{
    (void)state;
    struct listed_match matches[] = {{.id = 1, .state = DOPPEL_LIST_ACTIVE, .suppressed_by = 9},
                                     {.id = 2, .state = DOPPEL_LIST_DISABLED}};
    assert_int_equal(allow_list_apply(matches, 2, NULL), DOPPEL_OK);
    assert_int_equal(matches[0].suppressed_by, 0);
    assert_int_equal(allow_list_apply(NULL, 0, NULL), DOPPEL_OK);
}

static void test_parts(void **state)
{
    (void)state;
    const struct doppel_segment jingle[] = {{.a_start = 0, .a_end = 4},
                                            {.a_start = 10, .a_end = 14}};
    const struct doppel_segment inside = {.a_start = 0, .a_end = 5}; /* 4 of 5 */
    const struct doppel_segment outside = {.a_start = 0, .a_end = 5.01};
    struct listed_match matches[] = {
        {.id = 1, .state = DOPPEL_LIST_BENIGN, .segments = jingle, .segment_count = 2},
        {.id = 2, .segments = &inside, .segment_count = 1},
        {.id = 3, .segments = &outside, .segment_count = 1},
        {.id = 4}, /* the whole query is more than a jingle */
    };
    assert_int_equal(allow_list_apply(matches, 4, NULL), DOPPEL_OK);
    assert_int_equal(matches[1].suppressed_by, 1);
    assert_int_equal(matches[2].suppressed_by, 0);
    assert_int_equal(matches[3].suppressed_by, 0);
}

/* ---- at random: ends lie on tenths of a second ---- */

enum { TENTHS = 300, MATCHES = 6, SEGMENTS = 4, ROUNDS = 2000 };

static void mark_tenths(const struct listed_match *match, bool tenths[TENTHS])
{
    for (size_t i = 0; i < match->segment_count; i++)
        for (int t = (int)(match->segments[i].a_start * 10 + 0.5);
             t < (int)(match->segments[i].a_end * 10 + 0.5); t++)
            tenths[t] = true;
}

/* How long a match is, in tenths, and how much of that benign ones have. */
static void count_tenths(const struct listed_match *matches, size_t which, int *out_length,
                         int *out_common)
{
    bool benign[TENTHS] = {0}, own[TENTHS] = {0};
    *out_length = *out_common = 0;
    for (size_t i = 0; i < MATCHES; i++)
        if (matches[i].state == DOPPEL_LIST_BENIGN)
            mark_tenths(&matches[i], benign);
    mark_tenths(&matches[which], own);
    for (int t = 0; t < TENTHS; t++) {
        *out_length += own[t];
        *out_common += own[t] && benign[t];
    }
}

static bool is_explained_slowly(const struct listed_match *matches, size_t which)
{
    int length, common;
    count_tenths(matches, which, &length, &common);
    return matches[which].state == DOPPEL_LIST_ACTIVE && length && common * 5 > length * 4;
}

/* Whether it is exactly at the limit, where sums of duplicates may say either. */
static bool is_at_the_limit(const struct listed_match *matches, size_t which)
{
    int length, common;
    count_tenths(matches, which, &length, &common);
    return common * 5 == length * 4;
}

static void test_parts_as_a_slow_look_says(void **state)
{
    (void)state;
    srand(7);
    int explained = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct doppel_segment segments[MATCHES][SEGMENTS];
        struct listed_match matches[MATCHES];
        for (size_t i = 0; i < MATCHES; i++) {
            size_t count = 1 + (size_t)(rand() % SEGMENTS);
            for (size_t j = 0; j < count; j++) {
                int start = rand() % (TENTHS - 1), length = 1 + rand() % 60;
                int end = start + length < TENTHS ? start + length : TENTHS;
                segments[i][j] =
                    (struct doppel_segment){.a_start = start / 10.0, .a_end = end / 10.0};
            }
            matches[i] =
                (struct listed_match){.id = i + 1,
                                      .state = rand() % 2 ? DOPPEL_LIST_BENIGN : DOPPEL_LIST_ACTIVE,
                                      .segments = segments[i],
                                      .segment_count = count};
        }
        assert_int_equal(allow_list_apply(matches, MATCHES, NULL), DOPPEL_OK);
        for (size_t i = 0; i < MATCHES; i++) {
            if (is_at_the_limit(matches, i))
                continue;
            assert_int_equal(matches[i].suppressed_by != 0, is_explained_slowly(matches, i));
            explained += matches[i].suppressed_by != 0;
        }
    }
    assert_true(explained > ROUNDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_match_explains_all),
        cmocka_unit_test(test_nothing_is_explained_without_benign_items),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_parts_as_a_slow_look_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
