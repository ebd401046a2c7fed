/* long-kept-kills KILLS [KIND]: as many writers of each kind killed while two readers ask, as in
 * tests/library/test_kept_killed.c. */
#include <stdio.h>

#include "tests/library/fixture.h"
#include "tests/library/kept_killed.h"

static int kills;
static const struct kept_kind *only;

static void kill_many(void **state)
{
    for (size_t i = 0; i < kept_kind_count; i++)
        if (!only || only == &kept_kinds[i])
            kept_kill_writers(&kept_kinds[i], folder_path(*state, kept_kinds[i].name), kills);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(kill_many)};
    kills = argc > 1 ? atoi(argv[1]) : 0;
    only = argc > 2 ? kept_kind_called(argv[2]) : NULL;
    if (kills < 1 || (argc > 2 && !only)) {
        fprintf(stderr, "usage: %s KILLS [KIND]\n", argv[0]);
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
