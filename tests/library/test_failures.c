/* Failures in a library: known until the file, the limits or the row change. */
#include "tests/library/fixture.h"

static const struct doppel_file_stamp stamp = {1, 2, 3, 1000000000};

static void put(struct doppel_library *library, const char *path, enum doppel_status status,
                const char *limits)
{
    struct doppel_failure failure = {
        .path = path, .stamp = &stamp, .time_ns = 77, .error.status = status, .limits = limits};
    strcpy(failure.error.message, "cannot be read");
    assert_int_equal(doppel_library_put_failure(library, &failure, NULL), DOPPEL_OK);
}

static void assert_failure(struct doppel_library *library, const char *path,
                           const struct doppel_file_stamp *now, const char *limits,
                           enum doppel_status expected)
{
    struct doppel_error reason = {.status = DOPPEL_OK};
    enum doppel_status status = doppel_library_failure(library, path, now, limits, &reason);
    assert_int_equal(status, expected ? DOPPEL_OK : DOPPEL_E_NOT_FOUND);
    assert_int_equal(reason.status, expected);
    if (expected)
        assert_string_equal(reason.message, "cannot be read");
}

static void test_known_until_something_changes(void **state)
{
    struct doppel_library *library = open_library(*state);
    put(library, "/a", DOPPEL_E_CORRUPT, "");
    put(library, "/b", DOPPEL_E_TIMEOUT, "narrow");
    put(library, "/c", DOPPEL_E_IO, "-");
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    library = open_library(*state);
    assert_failure(library, "/a", &stamp, "narrow", DOPPEL_E_CORRUPT);
    assert_failure(library, "/a", &stamp, "wide", DOPPEL_E_CORRUPT);
    assert_failure(library, "/b", &stamp, "narrow", DOPPEL_E_TIMEOUT);
    assert_failure(library, "/b", &stamp, "wide", DOPPEL_OK);
    assert_failure(library, "/c", &stamp, "narrow", DOPPEL_OK);
    assert_failure(library, "/d", &stamp, "narrow", DOPPEL_OK);
    struct doppel_file_stamp others[4] = {stamp, stamp, stamp, stamp};
    others[0].device++;
    others[1].inode++;
    others[2].size++;
    others[3].mtime_ns++;
    for (size_t i = 0; i < 4; i++)
        assert_failure(library, "/a", &others[i], "narrow", DOPPEL_OK);
    assert_int_equal(doppel_library_forget_failure(library, "/a", NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_forget_failure(library, "/d", NULL), DOPPEL_OK);
    assert_failure(library, "/a", &stamp, "narrow", DOPPEL_OK);
    doppel_library_close(library);
}

static bool count(void *context, const struct doppel_failure *failure)
{
    int *seen = context;
    assert_int_equal(failure->path[1], 'a' + *seen);
    assert_int_equal(failure->time_ns, 77);
    assert_memory_equal(failure->stamp, &stamp, sizeof stamp);
    return ++*seen < 3;
}

static void test_visits_in_order(void **state)
{
    struct doppel_library *library = open_library(*state);
    int seen = 0;
    put(library, "/b", DOPPEL_E_TIMEOUT, "narrow");
    put(library, "/a", DOPPEL_E_CORRUPT, "");
    assert_int_equal(doppel_library_each_failure(library, count, &seen, NULL), DOPPEL_OK);
    assert_int_equal(seen, 2);
    put(library, "/c", DOPPEL_E_CORRUPT, "");
    put(library, "/d", DOPPEL_E_CORRUPT, "");
    seen = 0;
    assert_int_equal(doppel_library_each_failure(library, count, &seen, NULL), DOPPEL_E_CANCELLED);
    doppel_library_close(library);
}

static void test_a_damaged_row_is_not_known(void **state)
{
    static const char *const damages[] = {
        "UPDATE failure SET message = 'something else'",
        "UPDATE failure SET size = 4",
        "UPDATE failure SET status = 0",
        "UPDATE failure SET limits = ''",
        "UPDATE failure SET checksum = checksum + 1",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct doppel_library *library = open_library(*state);
        struct doppel_file_stamp larger = stamp;
        int seen = 0;
        larger.size = 4;
        put(library, "/a", DOPPEL_E_TIMEOUT, "narrow");
        assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
        doppel_library_close(library);
        run_raw(folder_path(*state, "a/library/catalogue.db"), damages[i]);
        library = open_library(*state);
        assert_failure(library, "/a", i == 1 ? &larger : &stamp, "narrow", DOPPEL_OK);
        assert_int_equal(doppel_library_each_failure(library, count, &seen, NULL),
                         DOPPEL_E_CORRUPT);
        assert_int_equal(seen, 0);
        doppel_library_close(library);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_known_until_something_changes),
        IN_FOLDER(test_visits_in_order),
        IN_FOLDER(test_a_damaged_row_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
