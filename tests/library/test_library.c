/* Items of a library: added, known, updated, moved, removed. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_what_is_added_is_got(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    struct doppel_file_stamp stamp = stamp_of(path);
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_file(library, path, 1, DOPPEL_ADDED_NEW);
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
    uint64_t id = add_file(library, path, 1, DOPPEL_ADDED_NEW);
    assert_int_equal(add_file(library, path, 1, DOPPEL_ADDED_UNCHANGED), id);
    folder_age(path, -100);
    assert_int_equal(add_file(library, path, 1, DOPPEL_ADDED_UNCHANGED), id);
    uint64_t next = add_file(library, path, 2, DOPPEL_ADDED_UPDATED);
    assert_true(next > id);
    struct doppel_item item;
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_remove(library, next, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_by_path(library, path, &item, NULL), DOPPEL_E_NOT_FOUND);
    assert_true(add_file(library, path, 1, DOPPEL_ADDED_NEW) > next);
    doppel_library_close(library);
}

static void test_ids_are_never_used_twice(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    uint64_t last = 0;
    for (int round = 0; round < 5; round++) {
        struct doppel_library *library = open_library(*state);
        uint64_t id = add_file(library, path, 1, DOPPEL_ADDED_NEW);
        assert_true(id > last);
        last = id;
        assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
        assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
        doppel_library_close(library);
    }
}

static void test_moved(void **state)
{
    const char *from = folder_path(*state, "one"), *to = folder_path(*state, "two");
    folder_write(from, "one");
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_file(library, from, 1, DOPPEL_ADDED_NEW);
    folder_write(to, "one");
    uint64_t copy =
        add_file(library, to, 1, DOPPEL_ADDED_NEW); /* a copy: the first is still there */
    assert_true(copy > id);
    assert_int_equal(rename(to, folder_path(*state, "three")), 0);
    const char *three = folder_path(*state, "three");
    assert_int_equal(add_file(library, three, 1, DOPPEL_ADDED_MOVED), copy);
    struct doppel_item item;
    assert_int_equal(doppel_library_by_path(library, folder_path(*state, "two"), &item, NULL),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_get(library, copy, true, &item, NULL), DOPPEL_OK);
    assert_string_equal(item.path, three);
    assert_non_null(item.record.attachment);
    doppel_item_free(&item);
    doppel_library_close(library);
}

static void test_another_scheme_updates_in_place(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_file(library, path, 1, DOPPEL_ADDED_NEW), again, known;
    struct doppel_record record = record_make(1);
    record.scheme = record.fingerprint.scheme = DOPPEL_SCHEME_PDQ;
    record.version = record.fingerprint.version = doppel_scheme_by_id(DOPPEL_SCHEME_PDQ)->version;
    struct doppel_file_stamp stamp = stamp_of(path);
    enum doppel_added added;
    assert_int_equal(doppel_library_add(library, path, &stamp, &record, &added, &again, NULL),
                     DOPPEL_OK);
    assert_int_equal(added, DOPPEL_ADDED_UPDATED);
    assert_int_equal(again, id);
    assert_int_equal(
        doppel_library_known(library, path, &stamp, doppel_scheme_by_id(DOPPEL_SCHEME_PDQ), &known),
        DOPPEL_OK);
    assert_int_equal(known, id);
    assert_int_equal(doppel_library_known(library, path, &stamp,
                                          doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &known),
                     DOPPEL_E_NOT_FOUND);
    struct doppel_item item;
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_OK);
    record_assert_equal(&item.record, &record);
    doppel_item_free(&item);
    doppel_record_free(&record);
    doppel_library_close(library);
}

/* Pictures 1 and 3 have one digest of their pixels, 2 another, 4 none. */
static void test_by_pixels(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_digest pixels = {{7}};
    struct doppel_item item;
    uint64_t id = 0;
    for (uint64_t i = 1; i <= 4; i++) {
        struct doppel_record record = record_make(i);
        record.attachment = realloc(record.attachment, DOPPEL_IMAGE_ATTACHMENT_MOST);
        record.attachment_size =
            i < 4 ? DOPPEL_IMAGE_ATTACHMENT_MOST : DOPPEL_IMAGE_ATTACHMENT_BYTES;
        memset(record.attachment, 0, record.attachment_size);
        record.attachment[0] = i == 2 ? 8 : 7;
        assert_int_equal(add_numbered(library, i, record, NULL), DOPPEL_OK);
    }
    static const uint64_t next[] = {1, 3, 3, 0};
    for (uint64_t after = 0; after < 4; after++) {
        assert_int_equal(doppel_library_by_pixels(library, &pixels, after, &id, NULL), DOPPEL_OK);
        assert_int_equal(id, next[after]);
    }
    assert_int_equal(doppel_library_get(library, 3, false, &item, NULL), DOPPEL_OK);
    assert_memory_equal(&item.record.pixels, &pixels, sizeof pixels);
    doppel_item_free(&item);
    assert_int_equal(doppel_library_remove(library, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_by_pixels(library, &pixels, 0, &id, NULL), DOPPEL_OK);
    assert_int_equal(id, 3);
    /* As of an item of a version that kept none: it gets them when its file is read again. */
    struct doppel_record again = record_make(4);
    again.attachment = realloc(again.attachment, DOPPEL_IMAGE_ATTACHMENT_MOST);
    again.attachment_size = DOPPEL_IMAGE_ATTACHMENT_MOST;
    memset(again.attachment, 0, again.attachment_size);
    again.attachment[0] = 7;
    assert_int_equal(add_numbered(library, 4, again, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_by_pixels(library, &pixels, 3, &id, NULL), DOPPEL_OK);
    assert_int_equal(id, 4);
    doppel_library_close(library);
}

static void test_known(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    const struct doppel_file_stamp stamp = stamp_of(path);
    struct doppel_library *library = open_library(*state);
    uint64_t known = 0, id = add_file(library, path, 1, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_known(library, path, &stamp,
                                          doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &known),
                     DOPPEL_OK);
    assert_int_equal(known, id);
    struct doppel_file_stamp other[4] = {stamp, stamp, stamp, stamp};
    other[0].device++;
    other[1].inode++;
    other[2].size++;
    other[3].mtime_ns++;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(doppel_library_known(library, path, &other[i],
                                              doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &known),
                         DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_known(library, folder_path(*state, "two"), &stamp,
                                          doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &known),
                     DOPPEL_E_NOT_FOUND);
    doppel_library_close(library);
}

/* Changed just before it was added: it may change again within the same tick of its clock. */
static void test_a_fresh_file_is_not_trusted(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    folder_age(path, -1);
    const struct doppel_file_stamp stamp = stamp_of(path);
    struct doppel_library *library = open_library(*state);
    uint64_t known, id = add_file(library, path, 1, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_known(library, path, &stamp,
                                          doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &known),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);

    folder_age(path, -5); /* as if five seconds had passed … */
    library = open_library(*state);
    const struct doppel_file_stamp aged = stamp_of(path);
    assert_int_equal(add_file(library, path, 1, DOPPEL_ADDED_UNCHANGED), id);
    assert_int_equal(doppel_library_known(library, path, &aged,
                                          doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &known),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);

    /* … and the file had been left alone */
    const char *catalogue = folder_path(*state, "a/library/catalogue.db");
    run_raw(catalogue, "UPDATE item SET settled = 0");
    seal_catalogue(catalogue);
    library = open_library(*state);
    assert_int_equal(doppel_library_known(library, path, &aged,
                                          doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &known),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(add_file(library, path, 1, DOPPEL_ADDED_UNCHANGED), id);
    assert_int_equal(doppel_library_known(library, path, &aged,
                                          doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &known),
                     DOPPEL_OK);
    doppel_library_close(library);
}

static void test_paths_are_bytes(void **state)
{
    static const char *const names[] = {"new\nline", "bad\xff\xfeutf8", "\x01",        " ",
                                        "'; --",     "caf\xc3\xa9",     "cafe\xcc\x81"};
    enum { NAMES = sizeof names / sizeof *names };
    struct doppel_library *library = open_library(*state);
    uint64_t ids[NAMES];
    for (size_t i = 0; i < NAMES; i++) {
        const char *path = folder_path(*state, names[i]);
        folder_write(path, names[i]);
        ids[i] = add_file(library, path, i, DOPPEL_ADDED_NEW);
    }
    for (size_t i = 0; i < NAMES; i++) {
        struct doppel_item item;
        const char *path = folder_path(*state, names[i]);
        assert_int_equal(doppel_library_by_path(library, path, &item, NULL), DOPPEL_OK);
        assert_int_equal(item.id, ids[i]);
        assert_string_equal(item.path, path);
        doppel_item_free(&item);
    }
    doppel_library_close(library);
}

static void test_what_is_no_item(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    const struct doppel_file_stamp stamp = stamp_of(path);
    struct doppel_library *library = open_library(*state);
    struct doppel_record record = record_make(1);
    struct doppel_error error;
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_library_add(library, "one", &stamp, &record, &added, &id, &error),
                     DOPPEL_E_ARGUMENT);
    record.scheme = DOPPEL_SCHEME_PDQ;
    assert_int_equal(doppel_library_add(library, path, &stamp, &record, &added, &id, &error),
                     DOPPEL_E_ARGUMENT);
    record.scheme = DOPPEL_SCHEME_PHASH64;
    record.error.status = DOPPEL_E_CORRUPT;
    assert_int_equal(doppel_library_add(library, path, &stamp, &record, &added, &id, &error),
                     DOPPEL_E_ARGUMENT);
    record.error.status = DOPPEL_OK;
    doppel_fingerprint_free(&record.fingerprint);
    assert_int_equal(doppel_library_add(library, path, &stamp, &record, &added, &id, &error),
                     DOPPEL_E_ARGUMENT);
    doppel_record_free(&record);
    doppel_library_close(library);
}

struct ending {
    struct doppel_error *error;
    bool says;
};

static bool end_visit(void *context, const struct doppel_item *item)
{
    struct ending *ending = context;
    (void)item;
    if (ending->says)
        doppel_fail(ending->error, DOPPEL_E_BUSY, "the reason");
    return false;
}

static void test_who_ends_a_visit_says_why(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_error error;
    memset(&error, 0xff, sizeof error); /* what was there before says nothing */
    struct ending ending = {.error = &error};
    assert_int_equal(add_numbered(library, 1, record_make(1), &error), DOPPEL_OK);
    assert_int_equal(doppel_library_each(library, end_visit, &ending, &error), DOPPEL_E_CANCELLED);
    assert_string_equal(error.message, "ended early");
    ending.says = true;
    assert_int_equal(doppel_library_each(library, end_visit, &ending, &error), DOPPEL_E_CANCELLED);
    assert_string_equal(error.message, "the reason");
    assert_int_equal(doppel_library_each(library, end_visit, &(struct ending){0}, NULL),
                     DOPPEL_E_CANCELLED);
    doppel_library_close(library);
}

static void test_careless_calls(void **state)
{
    struct doppel_library *library = open_library(*state);
    char folder[512];
    struct doppel_item_set wanted = {.some = true};
    snprintf(folder, sizeof folder, "%s", directory_of(*state));
    assert_int_equal(doppel_library_filter(library, NULL, &wanted, NULL), DOPPEL_OK);
    assert_false(wanted.some);
    assert_int_equal(doppel_library_compact(library, NULL, NULL, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(doppel_library_open(folder, NULL, &library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(doppel_library_open(folder_path(*state, "none"), NULL, &library, NULL),
                     DOPPEL_E_NOT_FOUND);
    const struct doppel_library_options create = {.create = true};
    assert_int_equal(doppel_library_open("", &create, &library, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_library_open(NULL, &create, &library, NULL), DOPPEL_E_ARGUMENT);
    doppel_library_close(NULL);
    doppel_record_free(NULL);
    doppel_item_free(NULL);
    doppel_item_set_free(NULL);
    doppel_metadata_free(NULL);
    doppel_name_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_what_is_added_is_got),
        IN_FOLDER(test_unchanged_updated_removed),
        IN_FOLDER(test_ids_are_never_used_twice),
        IN_FOLDER(test_moved),
        IN_FOLDER(test_another_scheme_updates_in_place),
        IN_FOLDER(test_known),
        IN_FOLDER(test_by_pixels),
        IN_FOLDER(test_a_fresh_file_is_not_trusted),
        IN_FOLDER(test_paths_are_bytes),
        IN_FOLDER(test_what_is_no_item),
        IN_FOLDER(test_who_ends_a_visit_says_why),
        IN_FOLDER(test_careless_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
