/* A library as a whole: opened, committed, visited, and its log. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct doppel_library_options create = {.create = true};

struct visit {
    struct doppel_library *library;
    uint64_t last;
    size_t count, stop_after;
};

static bool visit(void *context, const struct doppel_item *item)
{
    struct visit *seen = context;
    assert_int_equal(item->record.error.status, DOPPEL_OK);
    assert_true(item->id > seen->last);
    assert_null(item->record.attachment);
    assert_int_equal(item->record.fingerprint.count, DOPPEL_VIEW_COUNT);
    seen->last = item->id;
    return ++seen->count != seen->stop_after;
}

/* Other calls within a visit are fine; a visit within a visit is not. */
static bool visit_and_remove(void *context, const struct doppel_item *item)
{
    struct visit *seen = context;
    struct doppel_item copy;
    assert_int_equal(doppel_library_each(seen->library, visit, seen, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_library_get(seen->library, item->id, true, &copy, NULL), DOPPEL_OK);
    doppel_item_free(&copy);
    if (item->id % 2)
        assert_int_equal(doppel_library_remove(seen->library, item->id, NULL), DOPPEL_OK);
    seen->count++;
    return true;
}

static void test_each(void **state)
{
    enum { ITEMS = 50 };
    struct doppel_library *library = open_library(*state);
    for (uint64_t i = 0; i < ITEMS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", (int)(i * 37 % ITEMS)); /* not in order of path */
        folder_write(folder_path(*state, name), name);
        add_file(library, folder_path(*state, name), i, DOPPEL_ADDED_NEW);
    }
    struct visit seen = {.library = library};
    assert_int_equal(doppel_library_each(library, visit, &seen, NULL), DOPPEL_OK);
    assert_int_equal(seen.count, ITEMS);
    seen = (struct visit){.library = library, .stop_after = 3};
    assert_int_equal(doppel_library_each(library, visit, &seen, NULL), DOPPEL_E_CANCELLED);
    assert_int_equal(seen.count, 3);
    seen = (struct visit){.library = library};
    assert_int_equal(doppel_library_each(library, visit_and_remove, &seen, NULL), DOPPEL_OK);
    assert_int_equal(seen.count, ITEMS);
    seen = (struct visit){.library = library};
    assert_int_equal(doppel_library_each(library, visit, &seen, NULL), DOPPEL_OK);
    assert_int_equal(seen.count, ITEMS / 2);
    doppel_library_close(library);
}

static void test_only_what_is_committed_stays(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_file(library, path, 1, DOPPEL_ADDED_NEW);
    doppel_library_close(library);
    library = open_library(*state);
    struct doppel_item item;
    assert_int_equal(doppel_library_get(library, id, false, &item, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK); /* nothing to commit */
    doppel_library_close(library);
}

static void test_opening(void **state)
{
    struct doppel_library *library = NULL;
    struct doppel_error error;
    const struct doppel_library_options plain = {0}, reader = {.read_only = true};
    const char *directory = directory_of(*state);
    assert_int_equal(doppel_library_open(directory, &plain, &library, &error), DOPPEL_E_NOT_FOUND);
    assert_non_null(strstr(error.message, directory));
    assert_int_equal(access(directory, F_OK), -1);
    doppel_library_close(open_library(*state));
    struct stat status;
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);

    assert_int_equal(doppel_library_open(directory, &reader, &library, &error), DOPPEL_OK);
    struct doppel_record record = record_make(1);
    struct doppel_file_stamp stamp = {0};
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_library_add(library, "/one", &stamp, &record, &added, &id, &error),
                     DOPPEL_E_IO);
    assert_non_null(strstr(error.message, "read-only"));
    doppel_record_free(&record);
    doppel_library_close(library);

    const char *file = folder_path(*state, "file");
    folder_write(file, "no directory");
    assert_int_equal(doppel_library_open(file, &create, &library, &error), DOPPEL_E_IO);
}

/* What the log says of an item, as "action path former_path former_item", oldest first. */
static void assert_log(const char *folder, const char *expected)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    char text[1000] = "";
    assert_int_equal(sqlite3_open(folder_path(folder, "a/library/catalogue.db"), &database), 0);
    assert_int_equal(
        sqlite3_prepare_v2(database,
                           "SELECT group_concat(action || ' ' || item || ' ' || substr(path, -1) ||"
                           " coalesce(' ' || substr(former_path, -1), '') ||"
                           " coalesce(' ' || former_item, ''), ', ') FROM"
                           " (SELECT * FROM log ORDER BY entry)",
                           -1, &statement, NULL),
        0);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    assert_string_equal(text, expected);
}

static void test_log(void **state)
{
    const char *a = folder_path(*state, "a1"), *b = folder_path(*state, "b2");
    folder_write(a, "one");
    struct doppel_library *library = open_library(*state);
    add_file(library, a, 1, DOPPEL_ADDED_NEW);
    add_file(library, a, 1, DOPPEL_ADDED_UNCHANGED);
    uint64_t id = add_file(library, a, 2, DOPPEL_ADDED_UPDATED);
    assert_int_equal(rename(a, b), 0);
    add_file(library, b, 2, DOPPEL_ADDED_MOVED);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_log(*state, "added 1 1, updated 2 1 1, moved 2 2 1, removed 2 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_each),
        IN_FOLDER(test_only_what_is_committed_stays),
        IN_FOLDER(test_opening),
        IN_FOLDER(test_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
