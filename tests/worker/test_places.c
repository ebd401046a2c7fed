/* Where doppel-worker is looked for. */
#include "helper.h"

#include "worker/process.h"

static void expect_found(const char *wanted, const char *path)
{
    char *found = NULL;
    assert_int_equal(process_find_program(wanted, &found, NULL), DOPPEL_OK);
    assert_string_equal(found, path);
    free(found);
}

static void test_what_was_installed_is_found(void **state)
{
    (void)state;
    unsetenv("DOPPEL_WORKER");
    expect_found(NULL, WORKER);
}

static void test_what_is_named_comes_first(void **state)
{
    (void)state;
    setenv("DOPPEL_WORKER", "/of/the/environment", 1);
    expect_found(NULL, "/of/the/environment");
    expect_found("/of/the/options", "/of/the/options");
    setenv("DOPPEL_WORKER", "", 1);
    expect_found(NULL, WORKER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_installed_is_found),
        cmocka_unit_test(test_what_is_named_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
