/* Which member of a group is kept: the policy by examples, and that it is an order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/library.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const struct doppel_candidate *a, const struct doppel_candidate *b)
{
    const struct doppel_keep_policy policy = doppel_keep_policy_default();
    return doppel_keep_compare(&policy, a, b, NULL);
}

static void assert_kept(const struct doppel_candidate *kept, const struct doppel_candidate *other)
{
    assert_true(compare(kept, other) < 0);
    assert_true(compare(other, kept) > 0);
}

static void test_policy(void **state)
{
    (void)state;
    const struct doppel_candidate base = {
        .width = 100, .height = 100, .size = 5000, .mtime_ns = 1000, .path = "/pictures/photo.jpg"};
    struct doppel_candidate other = {
        .width = 200, .height = 50, .size = 5001, .mtime_ns = 0, .path = "/a"};
    assert_kept(&other, &base); /* as many pixels, more bytes */
    other.width = 199;
    assert_kept(&base, &other); /* more pixels */
    other = base;
    other.size *= 2;
    other.width = 150;
    other.content_pixels = 10000;
    assert_kept(&other, &base); /* as much is shown, more bytes */
    other.framed = true;
    assert_kept(&base, &other); /* there is a frame around it */
    other.framed = false;
    other.turned = true;
    assert_kept(&base, &other); /* it is turned */
    other.content_pixels = 10001;
    assert_kept(&other, &base); /* more is shown, though turned */
    other = base;
    other.size--;
    other.mtime_ns = 0;
    assert_kept(&base, &other); /* more bytes, though younger */
    other = base;
    other.mtime_ns++;
    other.path = "/p";
    assert_kept(&base, &other); /* older, though deeper */
    other = base;
    other.path = "/pictures/old/a";
    assert_kept(&base, &other); /* fewer folders above it, though the longer name */
    static const char *const copies[] = {"/pictures/photo (1).jpg", "/pictures/photo copy.jpg",
                                         "/pictures/photo-1.jpg", "/pictures/photo_old.jpg",
                                         "/a/photo (1).jpg"};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        other.path = copies[i];
        assert_kept(&base, &other);
    }
    other.path = "/pictures/phota.jpg";
    assert_kept(&other, &base); /* the order of bytes */
}

static void test_huge_images_do_not_overflow(void **state)
{
    (void)state;
    const struct doppel_candidate small = {
        .width = 1000, .height = 1000, .size = 1, .mtime_ns = 1, .path = "/a"};
    const struct doppel_candidate huge = {
        .width = UINT32_MAX, .height = UINT32_MAX, .size = 1, .mtime_ns = 1, .path = "/b"};
    assert_kept(&huge, &small);
}

static void test_criteria_are_asked_in_their_order(void **state)
{
    (void)state;
    struct doppel_keep_policy policy;
    struct doppel_error error;
    enum doppel_keep by;
    const struct doppel_candidate old = {.size = 1, .mtime_ns = 1, .path = "/a"};
    const struct doppel_candidate large = {.size = 2, .mtime_ns = 2, .path = "/b"};
    assert_int_equal(doppel_keep_policy_parse("date,size", &policy, &error), DOPPEL_OK);
    assert_true(doppel_keep_compare(&policy, &old, &large, &by) < 0);
    assert_int_equal(by, DOPPEL_KEEP_DATE);
    assert_int_equal(doppel_keep_policy_parse("authority,size,date", &policy, &error), DOPPEL_OK);
    assert_true(doppel_keep_compare(&policy, &old, &large, &by) > 0);
    assert_int_equal(by, DOPPEL_KEEP_SIZE);
    assert_int_equal(doppel_keep_policy_parse("resolution", &policy, &error), DOPPEL_OK);
    assert_true(doppel_keep_compare(&policy, &old, &large, &by) < 0);
    assert_int_equal(by, DOPPEL_KEEP_CRITERIA); /* the order of bytes */
}

static void test_policies_that_are_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", ",", "size,", "sizes", "size,size", " size", "Size"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct doppel_keep_policy policy = {.count = 77};
        struct doppel_error error = {0};
        assert_int_equal(doppel_keep_policy_parse(wrong[i], &policy, &error), DOPPEL_E_ARGUMENT);
        assert_true(error.message[0] != '\0');
        assert_int_equal(policy.count, 77);
    }
}

enum { CANDIDATES = 60 };

static int by_policy(const void *a, const void *b)
{
    return compare(a, b);
}

/* Antisymmetric and transitive: sorted by it, every pair is in order. */
static void test_it_is_a_total_order(void **state)
{
    (void)state;
    static char paths[CANDIDATES][32];
    struct doppel_candidate candidates[CANDIDATES];
    srand(7);
    for (int i = 0; i < CANDIDATES; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d", rand() % 2 ? "/a" : "/b/c", i);
        candidates[i] = (struct doppel_candidate){.authority = rand() % 2,
                                                  .width = (uint32_t)(rand() % 3),
                                                  .height = (uint32_t)(rand() % 3),
                                                  .duration_ms = (uint64_t)(rand() % 2),
                                                  .size = rand() % 2,
                                                  .mtime_ns = rand() % 2,
                                                  .path = paths[i]};
    }
    qsort(candidates, CANDIDATES, sizeof *candidates, by_policy);
    for (int i = 0; i < CANDIDATES; i++)
        for (int j = 0; j < CANDIDATES; j++) {
            int order = compare(&candidates[i], &candidates[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_huge_images_do_not_overflow),
        cmocka_unit_test(test_criteria_are_asked_in_their_order),
        cmocka_unit_test(test_policies_that_are_none),
        cmocka_unit_test(test_it_is_a_total_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
