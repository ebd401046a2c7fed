/* What the cache knows of files, contents and pairs, and how it is begun anew. */
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
#include <unistd.h>

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

static struct doppel_cache *open_cache(const char *folder, bool renewed_expected)
{
    struct doppel_cache *cache = NULL;
    struct doppel_error error = {0};
    bool renewed = !renewed_expected;
    if (doppel_cache_open(folder_path(folder, "cache/cache.db"), &cache, &renewed, &error))
        fail_msg("%s", error.message);
    assert_int_equal(renewed, renewed_expected);
    return cache;
}

static void put_record(struct doppel_cache *cache, uint64_t seed)
{
    struct doppel_record record = record_make(seed);
    struct doppel_error error = {0};
    if (doppel_cache_put_record(cache, &record, &error))
        fail_msg("%s", error.message);
    doppel_record_free(&record);
}

static void assert_knows_record(struct doppel_cache *cache, uint64_t seed, bool with_attachment)
{
    struct doppel_record expected = record_make(seed), record;
    assert_int_equal(doppel_cache_record(cache, &expected.digest, DOPPEL_SCHEME_PHASH64,
                                         with_attachment, &record),
                     DOPPEL_OK);
    record_assert_equal(&record, &expected);
    assert_int_equal(record.attachment != NULL, with_attachment);
    doppel_record_free(&record);
    doppel_record_free(&expected);
}

static void test_records(void **state)
{
    struct doppel_cache *cache = open_cache(*state, false);
    for (uint64_t seed = 0; seed < 20; seed++)
        put_record(cache, seed);
    assert_knows_record(cache, 3, true);
    doppel_cache_close(cache);
    cache = open_cache(*state, false);
    for (uint64_t seed = 0; seed < 20; seed++)
        assert_knows_record(cache, seed, seed % 2);
    struct doppel_record unknown = record_make(20), record;
    assert_int_equal(
        doppel_cache_record(cache, &unknown.digest, DOPPEL_SCHEME_PHASH64, false, &record),
        DOPPEL_E_NOT_FOUND);
    doppel_record_free(&unknown);
    doppel_cache_close(cache);
}

static void test_files(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    const struct doppel_file_stamp stamp = stamp_of(path);
    const struct doppel_digest digest = doppel_digest_bytes("one", 3);
    struct doppel_cache *cache = open_cache(*state, false);
    struct doppel_digest known;
    assert_int_equal(doppel_cache_file(cache, path, &stamp, &known), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_cache_put_file(cache, path, &stamp, &digest, NULL), DOPPEL_OK);
    assert_int_equal(doppel_cache_file(cache, path, &stamp, &known), DOPPEL_OK);
    assert_memory_equal(known.bytes, digest.bytes, sizeof digest.bytes);
    doppel_cache_close(cache);

    cache = open_cache(*state, false);
    assert_int_equal(doppel_cache_file(cache, path, &stamp, &known), DOPPEL_OK);
    struct doppel_file_stamp other[4] = {stamp, stamp, stamp, stamp};
    other[0].device++;
    other[1].inode++;
    other[2].size++;
    other[3].mtime_ns++;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(doppel_cache_file(cache, path, &other[i], &known), DOPPEL_E_NOT_FOUND);
    doppel_cache_close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
