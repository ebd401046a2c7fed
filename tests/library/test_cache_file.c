/* A cache that is damaged, of another version, busy, shared, or somebody else's file. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void test_a_damaged_cache_is_set_aside(void **state)
{
    const char *path = folder_path(*state, "cache/cache.db");
    struct doppel_cache *cache = open_cache(*state, false);
    put_record(cache, 1);
    doppel_cache_close(cache);
    char rubbish[3000];
    memset(rubbish, 'x', sizeof rubbish - 1);
    rubbish[sizeof rubbish - 1] = '\0';
    folder_write(path, rubbish);
    cache = open_cache(*state, true);
    put_record(cache, 2);
    assert_knows_record(cache, 2, true);
    doppel_cache_close(cache);
    assert_int_equal(access(folder_path(*state, "cache/cache.db.damaged"), F_OK), 0);
    cache = open_cache(*state, false);
    assert_knows_record(cache, 2, true);
    doppel_cache_close(cache);
}

static void test_another_version_is_set_aside(void **state)
{
    doppel_cache_close(open_cache(*state, false));
    run_raw(folder_path(*state, "cache/cache.db"), "PRAGMA user_version = 77");
    doppel_cache_close(open_cache(*state, true));
    assert_int_equal(access(folder_path(*state, "cache/cache.db.old"), F_OK), 0);
    assert_int_equal(access(folder_path(*state, "cache/cache.db.damaged"), F_OK), -1);
}

/* What is somebody else's stays where it is. */
static void test_foreign_things_are_left_alone(void **state)
{
    struct doppel_cache *cache = NULL;
    struct doppel_error error;
    const char *path = folder_path(*state, "theirs.db");
    run_raw(path, "PRAGMA application_id = 5; CREATE TABLE theirs(a)");
    assert_int_equal(doppel_cache_open(path, &cache, NULL, &error), DOPPEL_E_FORMAT);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(doppel_cache_open(*state, &cache, NULL, &error), DOPPEL_E_FORMAT);
    assert_int_equal(access(*state, F_OK), 0);
    assert_null(cache);
}

/* The pages of a table are rubbish, the rest is fine: it shows only when they are read. */
static void test_damage_that_shows_late(void **state)
{
    const char *path = folder_path(*state, "cache/cache.db");
    struct doppel_cache *cache = open_cache(*state, false);
    for (uint64_t seed = 0; seed < 100; seed++)
        put_record(cache, seed);
    doppel_cache_close(cache);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fseek(file, 4096 * 9, SEEK_SET); /* the first pages hold the schema and the roots */
    for (long i = 4096 * 9; i < size; i++)
        fputc(0x5a, file);
    fclose(file);
    cache = open_cache(*state, false);
    size_t known = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct doppel_record expected = record_make(seed), record = {0};
        if (!recall(cache, &expected, expected.scheme, true, &record)) {
            record_assert_equal(&record, &expected);
            known++;
        }
        doppel_record_free(&record);
        doppel_record_free(&expected);
    }
    assert_true(known < 100);
    struct doppel_record more = record_make(1000);
    struct doppel_error error;
    if (doppel_cache_put_record(cache, &more, &error))
        fail_msg("%s", error.message);
    assert_int_equal(doppel_cache_flush(cache, &error), DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "damaged"));
    assert_knows_record(cache, 1000, true);
    doppel_record_free(&more);
    doppel_cache_close(cache);
    assert_int_equal(access(folder_path(*state, "cache/cache.db.damaged"), F_OK), 0);
    cache = open_cache(*state, false);
    put_record(cache, 1);
    assert_knows_record(cache, 1, true);
    doppel_cache_close(cache);
}

/* Somebody holds the lock: nothing that is put is lost, and only now and then is waited for it. */
static void test_a_busy_cache_is_no_hindrance(void **state)
{
    enum { RECORDS = 1500 };
    struct doppel_cache *cache = open_cache(*state, false), *reader;
    put_record(cache, 0);
    assert_int_equal(doppel_cache_flush(cache, NULL), DOPPEL_OK);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(folder_path(*state, "cache/cache.db"), &other), 0);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), 0);
    int busy = 0;
    for (uint64_t seed = 1; seed < RECORDS; seed++) {
        struct doppel_record record = record_make(seed);
        enum doppel_status status = doppel_cache_put_record(cache, &record, NULL);
        assert_true(status == DOPPEL_OK || status == DOPPEL_E_BUSY);
        busy += status == DOPPEL_E_BUSY;
        doppel_record_free(&record);
    }
    assert_in_range(busy, 1, 20); /* each waits for two seconds */
    for (uint64_t seed = 0; seed < RECORDS; seed++)
        assert_knows_record(cache, seed, true);
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), 0);
    sqlite3_close(other);
    assert_int_equal(doppel_cache_flush(cache, NULL), DOPPEL_OK);
    reader = open_cache(*state, false);
    for (uint64_t seed = 0; seed < RECORDS; seed++)
        assert_knows_record(reader, seed, true);
    doppel_cache_close(reader);
    doppel_cache_close(cache);
}

/* The file can be read but not written. */
static void test_a_read_only_cache_is_no_hindrance(void **state)
{
    struct doppel_cache *cache = open_cache(*state, false);
    put_record(cache, 1);
    doppel_cache_close(cache);
    chmod(folder_path(*state, "cache/cache.db"), 0444);
    chmod(*state, 0755);
    chmod(folder_path(*state, "cache"), 0777);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setegid(65534) || seteuid(65534)))
            _exit(1);
        cache = open_cache(*state, false);
        put_record(cache, 2);
        assert_knows_record(cache, 1, true);
        assert_knows_record(cache, 2, true);
        _exit(doppel_cache_flush(cache, NULL) == DOPPEL_E_IO ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    cache = open_cache(*state, false);
    assert_knows_record(cache, 1, true);
    doppel_cache_close(cache);
}

/* Tables that are not as they should be, though the version is. */
static void test_wrong_tables_are_set_aside(void **state)
{
    static const char *const changes[] = {
        "ALTER TABLE record RENAME COLUMN attachment TO other",
        "DROP TABLE file; CREATE VIEW file AS SELECT digest AS path FROM record",
    };
    const char *path = folder_path(*state, "cache/cache.db");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        doppel_cache_close(open_cache(*state, false));
        run_raw(path, changes[i]);
        struct doppel_cache *cache = open_cache(*state, true);
        put_record(cache, 1);
        doppel_cache_close(cache);
    }
}

/* What one has written, the other knows a second later at most, and both may write. */
static void test_two_share_a_cache(void **state)
{
    struct doppel_cache *one = open_cache(*state, false), *two = open_cache(*state, false);
    for (uint64_t seed = 0; seed < 40; seed += 2) {
        put_record(one, seed);
        assert_int_equal(doppel_cache_flush(one, NULL), DOPPEL_OK);
        put_record(two, seed + 1);
        assert_int_equal(doppel_cache_flush(two, NULL), DOPPEL_OK);
    }
    for (uint64_t seed = 0; seed < 40; seed++) {
        assert_knows_record(one, seed, false);
        assert_knows_record(two, seed, false);
    }
    doppel_cache_close(one);
    doppel_cache_close(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_a_damaged_cache_is_set_aside),
        IN_FOLDER(test_another_version_is_set_aside),
        IN_FOLDER(test_foreign_things_are_left_alone),
        IN_FOLDER(test_damage_that_shows_late),
        IN_FOLDER(test_a_busy_cache_is_no_hindrance),
        IN_FOLDER(test_a_read_only_cache_is_no_hindrance),
        IN_FOLDER(test_wrong_tables_are_set_aside),
        IN_FOLDER(test_two_share_a_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
