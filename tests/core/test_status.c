/* Errors, and the names of statuses, kinds and schemes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/core.h>
#include <string.h>

static void test_a_failure_has_a_sentence(void **state)
{
    (void)state;
    struct doppel_error error = {0};
    assert_int_equal(doppel_fail(&error, DOPPEL_E_LIMIT, "%d of %s", 3, "four"), DOPPEL_E_LIMIT);
    assert_int_equal(error.status, DOPPEL_E_LIMIT);
    assert_string_equal(error.message, "3 of four");
    assert_int_equal(doppel_fail(NULL, DOPPEL_E_IO, "nobody reads this"), DOPPEL_E_IO);
}

static void test_a_sentence_may_hold_the_last_one(void **state)
{
    (void)state;
    struct doppel_error error;
    doppel_fail(&error, DOPPEL_E_IO, "inner");
    doppel_fail(&error, DOPPEL_E_CORRUPT, "outer: %s, %s", error.message, error.message);
    assert_string_equal(error.message, "outer: inner, inner");
}

static void test_a_long_sentence_is_cut(void **state)
{
    (void)state;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct {
        struct doppel_error error;
        char guard[8];
    } held = {.guard = "guard"};
    doppel_fail(&held.error, DOPPEL_E_IO, "%s", text);
    assert_int_equal(strlen(held.error.message), sizeof held.error.message - 1);
    assert_string_equal(held.guard, "guard");
}

static void test_each_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    assert_string_equal(doppel_status_name(DOPPEL_OK), "ok");
    for (int a = 0; a <= DOPPEL_E_TOO_SHORT; a++) {
        const char *name = doppel_status_name((enum doppel_status)a);
        assert_non_null(name);
        assert_string_not_equal(name, "unknown");
        for (int b = 0; b < a; b++)
            assert_string_not_equal(name, doppel_status_name((enum doppel_status)b));
    }
    assert_string_equal(doppel_status_name((enum doppel_status)(DOPPEL_E_TOO_SHORT + 1)),
                        "unknown");
    assert_string_equal(doppel_status_name((enum doppel_status) - 1), "unknown");
}

/* The cache holds these numbers. */
static void test_numbers_on_disk(void **state)
{
    (void)state;
    assert_int_equal(DOPPEL_E_EMPTY, 5);
    assert_int_equal(DOPPEL_E_FORMAT, 6);
    assert_int_equal(DOPPEL_E_CORRUPT, 7);
    assert_int_equal(DOPPEL_E_FLAT, 10);
    assert_int_equal(DOPPEL_KIND_IMAGE, 2);
}

static void test_kinds(void **state)
{
    (void)state;
    for (int kind = DOPPEL_KIND_TEXT; kind <= DOPPEL_KIND_VIDEO; kind++)
        assert_int_equal(doppel_kind_from_name(doppel_kind_name((enum doppel_kind)kind)), kind);
    assert_string_equal(doppel_kind_name((enum doppel_kind)99), "unknown");
    assert_int_equal(doppel_kind_from_name("unknown"), DOPPEL_KIND_UNKNOWN);
    assert_int_equal(doppel_kind_from_name("Image"), DOPPEL_KIND_UNKNOWN);
    assert_int_equal(doppel_kind_from_name(""), DOPPEL_KIND_UNKNOWN);
    assert_int_equal(doppel_kind_from_name(NULL), DOPPEL_KIND_UNKNOWN);
}

/* What other rooms and files on disk rely on. */
static void test_schemes(void **state)
{
    (void)state;
    size_t count;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const struct doppel_scheme *scheme = &schemes[i];
        assert_ptr_equal(doppel_scheme_by_id(scheme->id), scheme);
        assert_ptr_equal(doppel_scheme_by_name(scheme->name), scheme);
        assert_int_not_equal(scheme->id, DOPPEL_SCHEME_NONE);
        assert_int_not_equal(scheme->kind, DOPPEL_KIND_UNKNOWN);
        assert_true(scheme->version >= 1);
        assert_true(scheme->max_distance < scheme->code_bits);
        assert_int_equal(scheme->code_bits % 32, 0);
        assert_true(strlen(scheme->summary) > 0);
    }
    assert_int_equal(doppel_scheme_by_name("phash64")->id, 1);
    assert_int_equal(doppel_scheme_by_name("phash256")->id, 2);
    assert_int_equal(doppel_scheme_by_name("imagehash")->id, 3);
    assert_int_equal(doppel_scheme_by_name("pdq")->id, 4);
    assert_null(doppel_scheme_by_id(DOPPEL_SCHEME_NONE));
    assert_null(doppel_scheme_by_name("phash"));
    assert_null(doppel_scheme_by_name(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failure_has_a_sentence),
        cmocka_unit_test(test_a_sentence_may_hold_the_last_one),
        cmocka_unit_test(test_a_long_sentence_is_cut),
        cmocka_unit_test(test_each_status_has_a_name_of_its_own),
        cmocka_unit_test(test_numbers_on_disk),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_schemes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
