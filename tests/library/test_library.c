/* Items of a library: added, known, updated, moved, removed, listed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/library/records.h"
#include "tests/store/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct doppel_library_options create = {.create = true};

static int set_up(void **state)
{
    *state = folder_make();
    return 0;
}

static int tear_down(void **state)
{
    folder_remove(*state);
    return 0;
}

static struct doppel_library *open_library(const char *folder)
{
    struct doppel_library *library = NULL;
    struct doppel_error error = {0};
    if (doppel_library_open(folder_path(folder, "a/library"), &create, &library, &error))
        fail_msg("%s", error.message);
    return library;
}

/* Add what `seed` makes; the stamp is the file's. */
static uint64_t add(struct doppel_library *library, const char *path, uint64_t seed,
                    enum doppel_added expected)
{
    struct doppel_record record = record_make(seed);
    struct doppel_file_stamp stamp = stamp_of(path);
    struct doppel_error error = {0};
    enum doppel_added added;
    uint64_t id = 0;
    if (doppel_library_add(library, path, &stamp, &record, &added, &id, &error))
        fail_msg("%s", error.message);
    assert_int_equal(added, expected);
    doppel_record_free(&record);
    return id;
}

static void test_what_is_added_is_got(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    struct doppel_file_stamp stamp = stamp_of(path);
    struct doppel_library *library = open_library(*state);
    uint64_t id = add(library, path, 1, DOPPEL_ADDED_NEW);
    assert_int_equal(id, 1);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);

    library = open_library(*state);
    struct doppel_item item;
    struct doppel_record expected = record_make(1);
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_OK);
    assert_string_equal(item.path, path);
    assert_memory_equal(&item.stamp, &stamp, sizeof stamp);
    assert_non_null(item.record.attachment);
    record_assert_equal(&item.record, &expected);
    doppel_item_free(&item);
    assert_int_equal(doppel_library_by_path(library, path, &item, NULL), DOPPEL_OK);
    assert_int_equal(item.id, id);
    assert_null(item.record.attachment);
    doppel_item_free(&item);
    doppel_record_free(&expected);
    doppel_library_close(library);
}

static void test_unchanged_updated_removed(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    uint64_t id = add(library, path, 1, DOPPEL_ADDED_NEW);
    assert_int_equal(add(library, path, 1, DOPPEL_ADDED_UNCHANGED), id);
    folder_age(path, -100);
    assert_int_equal(add(library, path, 1, DOPPEL_ADDED_UNCHANGED), id);
    uint64_t next = add(library, path, 2, DOPPEL_ADDED_UPDATED);
    assert_true(next > id);
    struct doppel_item item;
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_remove(library, next, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_by_path(library, path, &item, NULL), DOPPEL_E_NOT_FOUND);
    assert_true(add(library, path, 1, DOPPEL_ADDED_NEW) > next);
    doppel_library_close(library);
}

static void test_ids_are_never_used_twice(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    uint64_t last = 0;
    for (int round = 0; round < 5; round++) {
        struct doppel_library *library = open_library(*state);
        uint64_t id = add(library, path, 1, DOPPEL_ADDED_NEW);
        assert_true(id > last);
        last = id;
        assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
        assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
        doppel_library_close(library);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_added_is_got, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unchanged_updated_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ids_are_never_used_twice, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
