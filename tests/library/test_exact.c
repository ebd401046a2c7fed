/* Digests that stand for files, and files that could not be read. */
#include "tests/library/fixture.h"

static void test_exact(void **state)
{
    const uint8_t md5[16] = {1, 0xab}, sha256[32] = {2};
    struct doppel_library *library = open_library(*state);
    unsigned kinds = 9;
    uint64_t id = 0, found = 0;
    bool added;
    assert_int_equal(doppel_library_exact_kinds(library, &kinds, NULL), DOPPEL_OK);
    assert_int_equal(kinds, 0);
    assert_int_equal(
        doppel_library_add_exact(library, &(struct doppel_exact_digest){DOPPEL_EXACT_MD5, md5, 0},
                                 &id, &added, NULL),
        DOPPEL_OK);
    assert_true(added);
    assert_int_equal(id, 1);
    assert_int_equal(
        doppel_library_add_exact(library, &(struct doppel_exact_digest){DOPPEL_EXACT_MD5, md5, 0},
                                 &id, &added, NULL),
        DOPPEL_OK);
    assert_false(added);
    assert_int_equal(id, 1);
    assert_int_equal(doppel_library_add_exact(
                         library, &(struct doppel_exact_digest){DOPPEL_EXACT_SHA256, sha256, 0},
                         &id, &added, NULL),
                     DOPPEL_OK);
    assert_int_equal(id, 2);
    commit(library);
    assert_int_equal(doppel_library_exact_kinds(library, &kinds, NULL), DOPPEL_OK);
    assert_int_equal(kinds, 1u << DOPPEL_EXACT_MD5 | 1u << DOPPEL_EXACT_SHA256);
    assert_int_equal(doppel_library_by_exact(library, DOPPEL_EXACT_MD5, md5, &found, NULL),
                     DOPPEL_OK);
    assert_int_equal(found, 1);
    assert_int_equal(doppel_library_by_exact(library, DOPPEL_EXACT_SHA1, md5, &found, NULL),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_add_exact(
                         library, &(struct doppel_exact_digest){(enum doppel_exact)4, md5, 0}, &id,
                         &added, NULL),
                     DOPPEL_E_ARGUMENT);
    assert_string_equal(doppel_exact_name(DOPPEL_EXACT_SHA256), "sha256");
    assert_string_equal(doppel_exact_name((enum doppel_exact)4), "");
    struct doppel_item item;
    assert_int_equal(doppel_library_get(library, 1, false, &item, NULL), DOPPEL_OK);
    assert_string_equal(item.path, "md5:01ab0000000000000000000000000000");
    assert_int_equal(item.record.kind, DOPPEL_KIND_UNKNOWN);
    assert_int_equal(item.record.fingerprint.count, 0);
    doppel_item_free(&item);
    assert_int_equal(doppel_library_remove(library, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_by_exact(library, DOPPEL_EXACT_MD5, md5, &found, NULL),
                     DOPPEL_E_NOT_FOUND);
    doppel_library_close(library);
}

/* ---- items of which nothing but the bytes is known ---- */

static uint64_t add_bytes(struct doppel_library *library, const char *path, uint64_t seed,
                          enum doppel_added expected)
{
    struct doppel_record full = record_make(seed), record = {.digest = full.digest};
    const struct doppel_file_stamp stamp = {.inode = 7, .size = 5};
    enum doppel_added added = DOPPEL_ADDED_ELSEWHERE;
    uint64_t id = 0;
    assert_int_equal(doppel_library_add_decided(library, path, &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    assert_int_equal(added, expected);
    doppel_record_free(&full);
    return id;
}

static uint64_t add_whole(struct doppel_library *library, const char *path, uint64_t seed,
                          enum doppel_added expected)
{
    struct doppel_record record = record_make(seed);
    const struct doppel_file_stamp stamp = {.inode = 8, .size = 5};
    enum doppel_added added = DOPPEL_ADDED_ELSEWHERE;
    uint64_t id = 0;
    assert_int_equal(doppel_library_add(library, path, &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    assert_int_equal(added, expected);
    doppel_record_free(&record);
    return id;
}

static void assert_scheme(struct doppel_library *library, uint64_t id, enum doppel_scheme_id scheme,
                          const char *path)
{
    struct doppel_item item;
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_OK);
    assert_int_equal(item.record.scheme, scheme);
    assert_int_equal(item.record.fingerprint.count != 0, scheme != DOPPEL_SCHEME_NONE);
    assert_string_equal(item.path, path);
    doppel_item_free(&item);
}

/* A fingerprint comes to them, and is never given up for them. None of the paths has a file. */
static void test_bytes_alone(void **state)
{
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_bytes(library, "/no/a", 1, DOPPEL_ADDED_NEW);
    assert_scheme(library, id, DOPPEL_SCHEME_NONE, "/no/a");
    assert_int_equal(add_bytes(library, "/no/a", 1, DOPPEL_ADDED_UNCHANGED), id);
    assert_int_equal(add_bytes(library, "/no/b", 1, DOPPEL_ADDED_MOVED), id);
    assert_int_equal(add_whole(library, "/no/b", 1, DOPPEL_ADDED_UPDATED), id);
    assert_scheme(library, id, DOPPEL_SCHEME_PHASH64, "/no/b");
    assert_int_equal(add_bytes(library, "/no/b", 1, DOPPEL_ADDED_UNCHANGED), id);
    assert_scheme(library, id, DOPPEL_SCHEME_PHASH64, "/no/b");
    uint64_t other = add_bytes(library, "/no/c", 1, DOPPEL_ADDED_NEW);
    assert_int_not_equal(other, id);
    assert_scheme(library, id, DOPPEL_SCHEME_PHASH64, "/no/b");
    assert_scheme(library, other, DOPPEL_SCHEME_NONE, "/no/c");
    uint64_t later = add_bytes(library, "/no/b", 2, DOPPEL_ADDED_UPDATED);
    assert_scheme(library, later, DOPPEL_SCHEME_NONE, "/no/b");
    commit(library);
    doppel_library_close(library);
}

static void test_bytes_alone_are_imported(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_item item = {.path = (char *)"/no/a", .record.digest = {{1}}};
    enum doppel_added added;
    uint64_t id, again;
    assert_int_equal(doppel_library_import(library, &item, NULL, &added, &id, NULL), DOPPEL_OK);
    assert_int_equal(added, DOPPEL_ADDED_NEW);
    assert_scheme(library, id, DOPPEL_SCHEME_NONE, "/no/a");
    assert_int_equal(doppel_library_import(library, &item, NULL, &added, &again, NULL), DOPPEL_OK);
    assert_int_equal(added, DOPPEL_ADDED_UNCHANGED);
    assert_int_equal(again, id);
    item.record.digest.bytes[0] = 2; /* the path is another's */
    assert_int_equal(doppel_library_import(library, &item, NULL, &added, &again, NULL),
                     DOPPEL_E_ARGUMENT);
    item.path = (char *)"";
    assert_int_equal(doppel_library_import(library, &item, NULL, &added, &again, NULL),
                     DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

static bool count_failure(void *context, const struct doppel_failure *failure)
{
    assert_string_equal(failure->error.message, "/b: why");
    ++*(int *)context;
    return true;
}

static void test_failures(void **state)
{
    struct doppel_library *library = open_library(*state);
    const struct doppel_file_stamp stamp = {.inode = 3, .size = 5};
    struct doppel_file_stamp other = stamp;
    struct doppel_failure failure = {.path = "/b", .stamp = &stamp, .limits = "seconds=5"};
    struct doppel_error error = {0};
    int count = 0;
    doppel_fail(&failure.error, DOPPEL_E_TIMEOUT, "/b: why");
    assert_int_equal(doppel_library_put_failure(library, &failure, NULL), DOPPEL_OK);
    commit(library);
    assert_int_equal(doppel_library_failure(library, "/b", &stamp, "seconds=5", &error), DOPPEL_OK);
    assert_int_equal(error.status, DOPPEL_E_TIMEOUT);
    assert_string_equal(error.message, "/b: why");
    assert_int_equal(doppel_library_failure(library, "/b", &stamp, "seconds=6", &error),
                     DOPPEL_E_NOT_FOUND);
    other.size = 6;
    assert_int_equal(doppel_library_failure(library, "/b", &other, "seconds=5", &error),
                     DOPPEL_E_NOT_FOUND);
    failure.limits = "";
    assert_int_equal(doppel_library_put_failure(library, &failure, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_failure(library, "/b", &stamp, "seconds=6", &error), DOPPEL_OK);
    assert_int_equal(doppel_library_each_failure(library, count_failure, &count, NULL), DOPPEL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(doppel_library_forget_failure(library, "/c", NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_forget_failure(library, "/b", NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_failure(library, "/b", &stamp, "", &error), DOPPEL_E_NOT_FOUND);
    other.mtime_ns = INT64_MAX / 2; /* it may change without its stamp showing it */
    failure.stamp = &other;
    assert_int_equal(doppel_library_put_failure(library, &failure, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_failure(library, "/b", &other, "", &error), DOPPEL_E_NOT_FOUND);
    failure.error.status = DOPPEL_OK;
    assert_int_equal(doppel_library_put_failure(library, &failure, NULL), DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_exact),
        IN_FOLDER(test_failures),
        IN_FOLDER(test_bytes_alone),
        IN_FOLDER(test_bytes_alone_are_imported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
