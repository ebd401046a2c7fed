/* Writers of each kind that is found by kept indexes, killed: a few here, many by hand
 * (tests/long/kept_kills.c). */
#include "tests/library/fixture.h"
#include "tests/library/kept_killed.h"

enum { KILLS = 24 };

static void test_killed(void **state)
{
    for (size_t i = 0; i < kept_kind_count; i++)
        if (kept_kinds[i].scheme != DOPPEL_SCHEME_MINHASH256 &&
            kept_kinds[i].scheme != DOPPEL_SCHEME_PHASH256)
            kept_kill_writers(&kept_kinds[i], folder_path(*state, kept_kinds[i].name), KILLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_killed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
