/* An index whose writer is killed, whose disk loses power or is full: nothing acknowledged is lost,
 * nothing is half there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/store/folder.h"
#include "tests/store/kept.h"
#include "tests/store/ordeal.h"

static void test_killed(void **state)
{
    assert_true(ordeal_of_kills(*state, 20) > 100);
}

#ifdef POWER_LIBRARY
static void test_power_cut(void **state)
{
    (void)state;
    uint64_t acknowledged = 0;
    for (int round = 0; round < 16; round++) {
        char *folder = folder_make();
        acknowledged += ordeal_of_power(folder, round % 2);
        folder_remove(folder);
    }
    assert_true(acknowledged > 0);
}
#endif

/* ---- no room ---- */

enum { COMMITTED = 20 };

/* Go on until there is no room, at a limit in bytes that cannot be lifted again. @return 0 when all
 * went as it should */
static int write_until_refused(const char *folder, rlim_t limit_bytes)
{
    const struct kept_options plain = {0};
    struct doppel_error error = {0};
    struct kept kept;
    uint64_t done = COMMITTED, found;
    const struct rlimit limit = {limit_bytes, limit_bytes};
    signal(SIGXFSZ, SIG_IGN);
    if (kept_open(folder, &plain, &kept, &error) || setrlimit(RLIMIT_FSIZE, &limit))
        return 1;
    enum doppel_status status = DOPPEL_OK;
    for (; done < 20000 && !status; done++)
        status = kept_transact(&kept, done, &error);
    done -= status != DOPPEL_OK;
    if (status != DOPPEL_E_IO || !*error.message)
        return 2;
    if (kept_check(doppel_store_index_get(kept.index), &found, &error) || found != done)
        return 3;
    kept_close(&kept);
    return 0;
}

/* Flush and merge where a segment has no room. */
static int merge_without_room(const char *folder, rlim_t limit_bytes)
{
    const struct kept_options plain = {0};
    struct doppel_error error = {0};
    struct kept kept;
    uint64_t found;
    const struct rlimit limit = {limit_bytes, RLIM_INFINITY},
                        lifted = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    if (kept_open(folder, &plain, &kept, &error) || setrlimit(RLIMIT_FSIZE, &limit))
        return 11;
    if (doppel_store_index_compact(kept.index, true, &error) != DOPPEL_E_IO || !*error.message)
        return 12;
    if (kept_check(doppel_store_index_get(kept.index), &found, &error) || found != COMMITTED)
        return 13;
    setrlimit(RLIMIT_FSIZE, &lifted); /* room again: it goes on */
    if (doppel_store_index_compact(kept.index, true, &error))
        return 14;
    for (uint64_t number = COMMITTED; number < 2 * COMMITTED; number++)
        if (kept_transact(&kept, number, &error))
            return 15;
    kept_close(&kept);
    return 0;
}

static void assert_child_succeeds(int child_main(const char *, rlim_t), const char *folder,
                                  rlim_t limit)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(child_main(folder, limit));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void make_some(const char *folder)
{
    const struct kept_options plain = {0};
    struct doppel_error error = {0};
    struct kept kept;
    if (kept_open(folder, &plain, &kept, &error))
        fail_msg("%s", error.message);
    for (uint64_t number = 0; number < COMMITTED; number++)
        assert_int_equal(kept_transact(&kept, number, &error), DOPPEL_OK);
    kept_close(&kept);
}

/* The database may grow to a size at which segments still fit, and the reverse. */
static void test_no_room_to_insert(void **state)
{
    static const rlim_t limits[] = {100 << 10, 200 << 10, 1 << 20};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char *folder = folder_make();
        make_some(folder);
        assert_child_succeeds(write_until_refused, folder, limits[i]);
        assert_true(state_of(folder) >= COMMITTED);
        folder_remove(folder);
    }
    (void)state;
}

static void test_no_room_to_merge(void **state)
{
    static const rlim_t limits[] = {1, 5000};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char *folder = folder_make();
        make_some(folder);
        assert_child_succeeds(merge_without_room, folder, limits[i]);
        assert_int_equal(state_of(folder), 2 * COMMITTED);
        folder_remove(folder);
    }
    (void)state;
}

int main(void)
{
    srand(20240301);
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_killed),
#ifdef POWER_LIBRARY
        IN_FOLDER(test_power_cut),
#endif
        IN_FOLDER(test_no_room_to_insert),
        IN_FOLDER(test_no_room_to_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
