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

static void assert_kept(const struct doppel_candidate *kept, const struct doppel_candidate *other)
{
    assert_true(doppel_canonical_compare(kept, other) < 0);
    assert_true(doppel_canonical_compare(other, kept) > 0);
}

static void test_policy(void **state)
{
    (void)state;
    const struct doppel_candidate base = {100, 100, 5000, 1000, "/pictures/photo.jpg"};
    struct doppel_candidate other = {200, 50, 5001, 0, "/a"};
    assert_kept(&other, &base); /* as many pixels, more bytes */
    other.width = 199;
    assert_kept(&base, &other); /* more pixels */
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

static void test_huge_pictures_do_not_overflow(void **state)
{
    (void)state;
    const struct doppel_candidate small = {1000, 1000, 1, 1, "/a"};
    const struct doppel_candidate huge = {UINT32_MAX, UINT32_MAX, 1, 1, "/b"};
    assert_kept(&huge, &small);
}

enum { CANDIDATES = 60 };

static int by_policy(const void *a, const void *b)
{
    return doppel_canonical_compare(a, b);
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
        candidates[i] = (struct doppel_candidate){(uint32_t)(rand() % 3), (uint32_t)(rand() % 3),
                                                  rand() % 2, rand() % 2, paths[i]};
    }
    qsort(candidates, CANDIDATES, sizeof *candidates, by_policy);
    for (int i = 0; i < CANDIDATES; i++)
        for (int j = 0; j < CANDIDATES; j++) {
            int order = doppel_canonical_compare(&candidates[i], &candidates[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_huge_pictures_do_not_overflow),
        cmocka_unit_test(test_it_is_a_total_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
