/* What the cache knows of files and contents. */
#include "tests/library/fixture.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    assert_int_equal(recall(cache, &unknown, DOPPEL_SCHEME_PHASH64, false, &record),
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

static void test_a_fresh_file_is_not_trusted(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    const struct doppel_digest digest = doppel_digest_bytes("one", 3);
    struct doppel_digest known;
    struct doppel_cache *cache = open_cache(*state, false);
    static const struct {
        int age;
        enum doppel_status expected;
    } cases[] = {{0, DOPPEL_E_NOT_FOUND},
                 {-1, DOPPEL_E_NOT_FOUND},
                 {60, DOPPEL_E_NOT_FOUND},
                 {-3, DOPPEL_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        folder_age(path, cases[i].age);
        const struct doppel_file_stamp stamp = stamp_of(path);
        assert_int_equal(doppel_cache_put_file(cache, path, &stamp, &digest, NULL), DOPPEL_OK);
        assert_int_equal(doppel_cache_file(cache, path, &stamp, &known), cases[i].expected);
    }
    doppel_cache_close(cache);
}

/* A renamed file is not known by its path, but by its bytes. */
static void test_a_renamed_file_is_known_by_its_bytes(void **state)
{
    const char *from = folder_path(*state, "one"), *to = folder_path(*state, "two\xff");
    folder_write(from, "one");
    struct doppel_file_stamp stamp = stamp_of(from);
    struct doppel_record record = record_make(7);
    struct doppel_digest known;
    struct doppel_cache *cache = open_cache(*state, false);
    assert_int_equal(doppel_cache_put_file(cache, from, &stamp, &record.digest, NULL), DOPPEL_OK);
    put_record(cache, 7);
    doppel_record_free(&record);
    assert_int_equal(rename(from, to), 0);
    stamp = stamp_of(to);
    assert_int_equal(doppel_cache_file(cache, to, &stamp, &known), DOPPEL_E_NOT_FOUND);
    assert_knows_record(cache, 7, true);
    doppel_cache_close(cache);
}

/* The same size and mtime, but another inode: by path it is not known. */
static void test_a_replaced_file_is_not_known(void **state)
{
    const char *path = folder_path(*state, "one"), *other = folder_path(*state, "other");
    folder_write(path, "one");
    folder_write(other, "two");
    struct timespec when = {.tv_sec = 1000000000};
    const struct timespec times[2] = {when, when};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, other, times, 0), 0);
    struct doppel_file_stamp stamp = stamp_of(path);
    const struct doppel_digest digest = doppel_digest_bytes("one", 3);
    struct doppel_digest known;
    struct doppel_cache *cache = open_cache(*state, false);
    assert_int_equal(doppel_cache_put_file(cache, path, &stamp, &digest, NULL), DOPPEL_OK);
    assert_int_equal(rename(other, path), 0);
    stamp = stamp_of(path);
    assert_int_equal(stamp.size, 3);
    assert_int_equal(doppel_cache_file(cache, path, &stamp, &known), DOPPEL_E_NOT_FOUND);
    doppel_cache_close(cache);
}

/* They lead the attachment, and are had without it. */
static void test_pixels(void **state)
{
    struct doppel_record known, record = record_make(3);
    record.attachment = realloc(record.attachment, DOPPEL_IMAGE_ATTACHMENT_MOST);
    record.attachment_size = DOPPEL_IMAGE_ATTACHMENT_MOST;
    memset(record.attachment, 9, DOPPEL_IMAGE_ATTACHMENT_MOST);
    memset(record.attachment, 7, sizeof known.pixels);
    struct doppel_cache *cache = open_cache(*state, false);
    assert_int_equal(doppel_cache_put_record(cache, &record, NULL), DOPPEL_OK);
    for (unsigned i = 0; i < 4; i++) {
        bool with_attachment = i % 2;
        assert_int_equal(recall(cache, &record, DOPPEL_SCHEME_PHASH64, with_attachment, &known),
                         DOPPEL_OK);
        assert_memory_equal(&known.pixels, record.attachment, sizeof known.pixels);
        assert_int_equal(known.attachment != NULL, with_attachment);
        doppel_record_free(&known);
        if (i == 1) {
            doppel_cache_close(cache);
            cache = open_cache(*state, false);
        }
    }
    doppel_cache_close(cache);
    doppel_record_free(&record);
}

static struct doppel_record failure_make(uint64_t seed, enum doppel_status status)
{
    struct doppel_record record = record_make(seed);
    free(record.attachment);
    record.attachment = NULL;
    record.attachment_size = 0;
    doppel_fingerprint_free(&record.fingerprint);
    doppel_fail(&record.error, status, "status %d", (int)status);
    return record;
}

static void test_failures(void **state)
{
    static const enum doppel_status lasting[] = {DOPPEL_E_EMPTY, DOPPEL_E_FORMAT, DOPPEL_E_CORRUPT,
                                                 DOPPEL_E_FLAT};
    struct doppel_cache *cache = open_cache(*state, false);
    for (int status = 1; status <= DOPPEL_E_KILLED; status++) {
        struct doppel_record failure = failure_make((uint64_t)status, (enum doppel_status)status);
        assert_int_equal(doppel_cache_put_record(cache, &failure, NULL), DOPPEL_OK);
        bool expected = false;
        for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
            expected |= (int)lasting[i] == status;
        struct doppel_record known = {0};
        enum doppel_status found = recall(cache, &failure, DOPPEL_SCHEME_PHASH64, true, &known);
        assert_int_equal(found, expected ? DOPPEL_OK : DOPPEL_E_NOT_FOUND);
        if (expected) {
            assert_int_equal(known.error.status, status);
            assert_string_equal(known.error.message, failure.error.message);
            assert_int_equal(known.fingerprint.count, 0);
            assert_null(known.attachment);
        }
        doppel_record_free(&known);
        doppel_record_free(&failure);
    }
    doppel_cache_close(cache);
}

static void assert_failure(struct doppel_cache *cache, enum doppel_status status, bool expected)
{
    struct doppel_record failure = failure_make((uint64_t)status, status), known = {0};
    assert_int_equal(recall(cache, &failure, DOPPEL_SCHEME_PHASH64, true, &known),
                     expected ? DOPPEL_OK : DOPPEL_E_NOT_FOUND);
    doppel_record_free(&known);
    doppel_record_free(&failure);
}

/* What other limits could mend is known under the same ones. */
static void test_failures_under_limits(void **state)
{
    static const enum doppel_status by_limits[] = {DOPPEL_E_MEMORY, DOPPEL_E_LIMIT,
                                                   DOPPEL_E_TIMEOUT, DOPPEL_E_CRASH};
    struct doppel_cache *cache = open_cache(*state, false);
    assert_int_equal(doppel_cache_set_limits(cache, "narrow", false), DOPPEL_OK);
    for (int status = 1; status <= DOPPEL_E_KILLED; status++) {
        struct doppel_record failure = failure_make((uint64_t)status, (enum doppel_status)status);
        assert_int_equal(doppel_cache_put_record(cache, &failure, NULL), DOPPEL_OK);
        doppel_record_free(&failure);
    }
    doppel_cache_close(cache);
    cache = open_cache(*state, false);
    for (int tried = 0; tried < 3; tried++) {
        static const char *const limits[] = {"wide", "narrow", "narrow"};
        assert_int_equal(doppel_cache_set_limits(cache, limits[tried], tried == 2), DOPPEL_OK);
        for (size_t i = 0; i < sizeof by_limits / sizeof *by_limits; i++)
            assert_failure(cache, by_limits[i], tried == 1);
        assert_failure(cache, DOPPEL_E_CORRUPT, tried != 2);
        assert_failure(cache, DOPPEL_E_UNSUPPORTED, false);
        assert_failure(cache, DOPPEL_E_KILLED, false);
        assert_failure(cache, DOPPEL_E_IO, false);
    }
    doppel_cache_close(cache);
}

/* A failure that did not last gives way, and a failure replaces a record. */
static void test_a_record_is_replaced(void **state)
{
    struct doppel_cache *cache = open_cache(*state, false);
    struct doppel_record failure = failure_make(1, DOPPEL_E_CORRUPT), known;
    put_record(cache, 1);
    assert_int_equal(doppel_cache_put_record(cache, &failure, NULL), DOPPEL_OK);
    assert_int_equal(recall(cache, &failure, DOPPEL_SCHEME_PHASH64, true, &known), DOPPEL_OK);
    assert_int_equal(known.error.status, DOPPEL_E_CORRUPT);
    assert_null(known.attachment);
    doppel_record_free(&known);
    put_record(cache, 1);
    assert_knows_record(cache, 1, true);
    assert_int_equal(recall(cache, &failure, DOPPEL_SCHEME_PDQ, true, &known), DOPPEL_E_NOT_FOUND);
    doppel_record_free(&failure);
    doppel_cache_close(cache);
}

/* Failures of another doppel, fingerprints of another version of their scheme. */
static void test_other_versions_are_not_known(void **state)
{
    struct doppel_cache *cache = open_cache(*state, false);
    struct doppel_record one = record_make(1), two = failure_make(2, DOPPEL_E_CORRUPT), known;
    put_record(cache, 1);
    assert_int_equal(doppel_cache_put_record(cache, &two, NULL), DOPPEL_OK);
    doppel_cache_close(cache);
    assert_int_equal(one.version, 2);
    run_raw(folder_path(*state, "cache/cache.db"),
            "UPDATE record SET version = 3, fingerprint ="
            " CAST(substr(fingerprint, 1, 2) || x'0300' || substr(fingerprint, 5) AS BLOB)"
            " WHERE status = 0;"
            "UPDATE record SET program = '0.0.0'");
    seal_cache(folder_path(*state, "cache/cache.db"));
    cache = open_cache(*state, false);
    assert_int_equal(recall(cache, &one, one.scheme, true, &known), DOPPEL_E_NOT_FOUND);
    assert_int_equal(recall(cache, &two, two.scheme, true, &known), DOPPEL_E_NOT_FOUND);
    put_record(cache, 1);
    assert_knows_record(cache, 1, true);
    doppel_record_free(&one);
    doppel_record_free(&two);
    doppel_cache_close(cache);
}

/* ---- what was compared ---- */

static void assert_joined(struct doppel_cache *cache, const char *name, const char *expected)
{
    struct doppel_digest collection = doppel_digest_bytes(name, strlen(name));
    uint8_t *data = NULL;
    size_t size = 0;
    enum doppel_status status = doppel_cache_joined(cache, &collection, &data, &size);
    assert_int_equal(status, expected ? DOPPEL_OK : DOPPEL_E_NOT_FOUND);
    if (expected) {
        assert_int_equal(size, strlen(expected));
        assert_memory_equal(data, expected, size);
    }
    free(data);
}

static void put_joined(struct doppel_cache *cache, const char *name, const char *data)
{
    struct doppel_digest collection = doppel_digest_bytes(name, strlen(name));
    assert_int_equal(
        doppel_cache_put_joined(cache, &collection, (const uint8_t *)data, strlen(data), NULL),
        DOPPEL_OK);
}

static void test_joined(void **state)
{
    struct doppel_cache *cache = open_cache(*state, false);
    assert_joined(cache, "a", NULL);
    put_joined(cache, "a", "first");
    put_joined(cache, "b", "other");
    assert_joined(cache, "a", "first");
    put_joined(cache, "a", "second, longer");
    doppel_cache_close(cache);
    cache = open_cache(*state, false);
    assert_joined(cache, "a", "second, longer");
    assert_joined(cache, "b", "other");
    doppel_cache_close(cache);
    run_raw(folder_path(*state, "cache/cache.db"),
            "UPDATE joined SET data = CAST('x' || substr(data, 2) AS BLOB) WHERE length(data) = 5");
    cache = open_cache(*state, false);
    assert_joined(cache, "a", "second, longer");
    assert_joined(cache, "b", NULL);
    doppel_cache_close(cache);
}

static void test_the_latest_collections_are_joined(void **state)
{
    struct doppel_cache *cache = open_cache(*state, false);
    char name[16];
    for (int i = 0; i < 34; i++) {
        snprintf(name, sizeof name, "%d", i);
        put_joined(cache, name, name);
    }
    doppel_cache_close(cache);
    cache = open_cache(*state, false);
    assert_joined(cache, "0", NULL);
    assert_joined(cache, "1", NULL);
    assert_joined(cache, "2", "2");
    assert_joined(cache, "33", "33");
    doppel_cache_close(cache);
}

/* A cache of an older version lacks a table, and is as good. Of pictures it did not know the
 * pixels, of texts not the SimHash and the reading, of recordings no tags, and of videos not all
 * bars: these are read again. */
static void test_an_older_cache_goes_on(void **state)
{
    struct doppel_cache *cache = open_cache(*state, false);
    struct doppel_record known, image = record_make(1), other = failure_make(2, DOPPEL_E_CORRUPT),
                                text = failure_make(3, DOPPEL_E_CORRUPT),
                                recording = failure_make(4, DOPPEL_E_CORRUPT);
    other.kind = DOPPEL_KIND_VIDEO;
    recording.kind = DOPPEL_KIND_AUDIO;
    text.kind = DOPPEL_KIND_TEXT;
    assert_int_equal(doppel_cache_put_record(cache, &image, NULL), DOPPEL_OK);
    assert_int_equal(doppel_cache_put_record(cache, &text, NULL), DOPPEL_OK);
    assert_int_equal(doppel_cache_put_record(cache, &recording, NULL), DOPPEL_OK);
    assert_int_equal(doppel_cache_put_record(cache, &other, NULL), DOPPEL_OK);
    doppel_cache_close(cache);
    run_raw(folder_path(*state, "cache/cache.db"),
            "DROP TABLE joined; CREATE TABLE pair(a); PRAGMA user_version = 3");
    cache = open_cache(*state, false);
    assert_int_equal(recall(cache, &image, DOPPEL_SCHEME_PHASH64, true, &known),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(recall(cache, &text, DOPPEL_SCHEME_PHASH64, true, &known), DOPPEL_E_NOT_FOUND);
    assert_int_equal(recall(cache, &recording, DOPPEL_SCHEME_PHASH64, true, &known),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(recall(cache, &other, DOPPEL_SCHEME_PHASH64, true, &known),
                     DOPPEL_E_NOT_FOUND);
    doppel_record_free(&image);
    put_joined(cache, "a", "first");
    assert_joined(cache, "a", "first");
    doppel_cache_close(cache);
}

/* What the last version knew stays, but for outcomes of pixel checks. */
static void test_the_last_cache_goes_on(void **state)
{
    struct doppel_cache *cache = open_cache(*state, false);
    struct doppel_record known, image = record_make(1);
    assert_int_equal(doppel_cache_put_record(cache, &image, NULL), DOPPEL_OK);
    doppel_cache_close(cache);
    run_raw(folder_path(*state, "cache/cache.db"),
            "CREATE TABLE pair(a); PRAGMA user_version = 13");
    cache = open_cache(*state, false);
    assert_int_equal(recall(cache, &image, DOPPEL_SCHEME_PHASH64, true, &known), DOPPEL_OK);
    doppel_record_free(&known);
    doppel_record_free(&image);
    doppel_cache_close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_records),
        IN_FOLDER(test_files),
        IN_FOLDER(test_a_fresh_file_is_not_trusted),
        IN_FOLDER(test_a_renamed_file_is_known_by_its_bytes),
        IN_FOLDER(test_a_replaced_file_is_not_known),
        IN_FOLDER(test_pixels),
        IN_FOLDER(test_failures),
        IN_FOLDER(test_failures_under_limits),
        IN_FOLDER(test_a_record_is_replaced),
        IN_FOLDER(test_other_versions_are_not_known),
        IN_FOLDER(test_joined),
        IN_FOLDER(test_the_latest_collections_are_joined),
        IN_FOLDER(test_an_older_cache_goes_on),
        IN_FOLDER(test_the_last_cache_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
