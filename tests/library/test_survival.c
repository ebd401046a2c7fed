/* Killed at any moment, out of room, or late: what was committed stays. */
#include "tests/library/fixture.h"
#include "tests/library/killed.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLS = 20, MAX_ITEMS = 100, MAX_RECORDS = 1500, BATCH = 7 };

static const struct doppel_library_options create = {.create = true};

static void assert_intact(const char *path)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    sqlite3_close(database);
}

static enum doppel_status add(struct doppel_library *library, uint64_t number,
                              struct doppel_error *error)
{
    return add_numbered(library, number, record_make(number), error);
}

/* Number of items that are there and whole; they are 1, 2, 3 … in order of id. */
static bool count_item(void *context, const struct doppel_item *item)
{
    uint64_t *count = context;
    struct doppel_record expected = record_make(*count + 1);
    assert_int_equal(item->record.error.status, DOPPEL_OK);
    record_assert_equal(&item->record, &expected);
    doppel_record_free(&expected);
    ++*count;
    return true;
}

static uint64_t count_items(const char *directory)
{
    const struct doppel_library_options plain = {0};
    struct doppel_library *library;
    uint64_t count = 0;
    assert_int_equal(doppel_library_open(directory, &plain, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each(library, count_item, &count, NULL), DOPPEL_OK);
    doppel_library_close(library);
    return count;
}

static int write_library(const char *directory, atomic_ullong *acknowledged)
{
    struct doppel_library *library;
    if (doppel_library_open(directory, &create, &library, NULL))
        return 1;
    for (uint64_t number = atomic_load(acknowledged) + 1;; number++) {
        if (add(library, number, NULL))
            return 2;
        if (number % BATCH)
            continue;
        if (doppel_library_commit(library, NULL))
            return 3;
        atomic_store(acknowledged, number);
    }
}

static void test_a_killed_writer_loses_nothing_committed(void **state)
{
    const char *directory = folder_path(*state, "library");
    const char *catalogue = folder_path(*state, "library/catalogue.db");
    struct doppel_library *library;
    assert_int_equal(doppel_library_open(directory, &create, &library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    uint64_t there = 0;
    for (int kill = 0; kill < KILLS; kill++) {
        uint64_t acknowledged = run_and_kill(write_library, directory, there, MAX_ITEMS);
        there = count_items(directory);
        assert_true(there >= acknowledged);
        assert_int_equal(there % BATCH, 0); /* whole commits only */
        assert_intact(catalogue);
    }
    assert_true(there > 0);
}

static int write_cache(const char *path, atomic_ullong *acknowledged)
{
    struct doppel_cache *cache;
    if (doppel_cache_open(path, &cache, NULL, NULL))
        return 1;
    for (uint64_t number = atomic_load(acknowledged) + 1;; number++) {
        struct doppel_record record = record_make(number);
        const struct doppel_file_stamp stamp = {.inode = number};
        if (doppel_cache_put_file(cache, "/one", &stamp, &record.digest, NULL) ||
            doppel_cache_put_record(cache, &record, NULL))
            return 2;
        doppel_record_free(&record);
        atomic_store(acknowledged, number);
    }
}

/* Records are there up to which number, when those to `count` are? */
static uint64_t count_records(struct doppel_cache *cache, uint64_t count)
{
    for (;; count++) {
        struct doppel_record expected = record_make(count + 1), record = {0};
        enum doppel_status status = recall(cache, &expected, expected.scheme, true, &record);
        if (!status)
            record_assert_equal(&record, &expected);
        doppel_record_free(&record);
        doppel_record_free(&expected);
        if (status)
            return count;
    }
}

/* Of a killed scan at most 500 puts are lost. */
static void test_a_killed_scan_loses_little(void **state)
{
    const char *path = folder_path(*state, "cache.db");
    uint64_t there = 0;
    for (int kill = 0; kill < KILLS; kill++) {
        uint64_t acknowledged = run_and_kill(write_cache, path, there, MAX_RECORDS);
        struct doppel_cache *cache;
        bool renewed;
        assert_int_equal(doppel_cache_open(path, &cache, &renewed, NULL), DOPPEL_OK);
        assert_false(renewed);
        there = count_records(cache, there);
        doppel_cache_close(cache);
        assert_true(there + 500 >= acknowledged);
        assert_intact(path);
    }
    assert_true(there > 0);
}

/* A second without 500 puts: a look-up writes what is pending. */
static void test_a_slow_scan_loses_little(void **state)
{
    const char *path = folder_path(*state, "cache.db");
    struct doppel_cache *slow, *other;
    struct doppel_record record = record_make(1), known;
    assert_int_equal(doppel_cache_open(path, &slow, NULL, NULL), DOPPEL_OK);
    assert_int_equal(doppel_cache_open(path, &other, NULL, NULL), DOPPEL_OK);
    assert_int_equal(doppel_cache_put_record(slow, &record, NULL), DOPPEL_OK);
    assert_int_equal(recall(other, &record, record.scheme, false, &known), DOPPEL_E_NOT_FOUND);
    sleep_us(1100000);
    assert_int_equal(recall(slow, &record, record.scheme, false, &known), DOPPEL_OK);
    doppel_record_free(&known);
    assert_int_equal(recall(other, &record, record.scheme, false, &known), DOPPEL_OK);
    doppel_record_free(&known);
    doppel_record_free(&record);
    doppel_cache_close(slow);
    doppel_cache_close(other);
}

/* ---- no room ---- */

enum { LIMIT_BYTES = 480 * 1024, COMMITTED = 10 };

static int fill_library(const char *directory)
{
    struct doppel_library *library;
    struct doppel_error error = {0};
    const struct rlimit limit = {LIMIT_BYTES, LIMIT_BYTES};
    if (doppel_library_open(directory, &create, &library, NULL))
        return 1;
    for (uint64_t number = 1; number <= COMMITTED; number++)
        if (add(library, number, NULL))
            return 2;
    signal(SIGXFSZ, SIG_IGN);
    if (doppel_library_commit(library, NULL) || setrlimit(RLIMIT_FSIZE, &limit))
        return 3;
    enum doppel_status status = DOPPEL_OK;
    for (uint64_t number = COMMITTED + 1; number < 1000 && !status; number++)
        status = add(library, number, &error);
    if (!status)
        status = doppel_library_commit(library, &error);
    if (status != DOPPEL_E_IO || !strstr(error.message, "limit"))
        return 4;
    /* What was not committed is gone, and what fits still goes in. */
    if (add(library, COMMITTED + 1, &error) || doppel_library_commit(library, &error))
        return 5;
    doppel_library_close(library);
    return 0;
}

static int fill_cache(const char *path)
{
    struct doppel_cache *cache;
    struct doppel_error error = {0};
    if (doppel_cache_open(path, &cache, NULL, NULL))
        return 1;
    for (uint64_t number = 1; number <= 2 * COMMITTED; number++) {
        struct doppel_record record = record_make(number);
        enum doppel_status status = doppel_cache_put_record(cache, &record, &error);
        doppel_record_free(&record);
        if (status)
            return 3;
        if (number == COMMITTED && doppel_cache_flush(cache, &error))
            return 4;
    }
    const struct rlimit limit = {1000, 1000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit))
        return 2;
    if (doppel_cache_flush(cache, &error) != DOPPEL_E_IO || !strstr(error.message, "limit"))
        return 5;
    uint64_t there = count_records(cache, 0);
    doppel_cache_close(cache);
    return there == 2 * COMMITTED ? 0 : 6;
}

static void assert_child_succeeds(int child_main(const char *), const char *path)
{
    pid_t child = fork();
    if (child == 0)
        _exit(child_main(path));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_no_room_in_a_library(void **state)
{
    const char *directory = folder_path(*state, "library");
    assert_child_succeeds(fill_library, directory);
    assert_int_equal(count_items(directory), COMMITTED + 1);
    assert_intact(folder_path(*state, "library/catalogue.db"));
}

static void test_no_room_in_a_cache(void **state)
{
    const char *path = folder_path(*state, "cache.db");
    assert_child_succeeds(fill_cache, path);
    struct doppel_cache *cache;
    bool renewed;
    assert_int_equal(doppel_cache_open(path, &cache, &renewed, NULL), DOPPEL_OK);
    assert_false(renewed);
    assert_int_equal(count_records(cache, 0), COMMITTED); /* the rest had no room */
    doppel_cache_close(cache);
    assert_intact(path);
}

/* ---- two at once ---- */

static int add_many(const char *directory)
{
    struct doppel_library *library;
    if (doppel_library_open(directory, &create, &library, NULL))
        return 1;
    for (uint64_t number = 0; number < 200; number++)
        if (add(library, (uint64_t)getpid() * 1000 + number, NULL) ||
            (number % 10 == 9 && doppel_library_commit(library, NULL)))
            return 2;
    doppel_library_close(library);
    return 0;
}

static bool count_any(void *context, const struct doppel_item *item)
{
    assert_int_equal(item->record.error.status, DOPPEL_OK);
    ++*(uint64_t *)context;
    return true;
}

static void test_two_writers_and_a_reader(void **state)
{
    const char *directory = folder_path(*state, "library");
    struct doppel_library *library;
    assert_int_equal(doppel_library_open(directory, &create, &library, NULL), DOPPEL_OK);
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(add_many(directory));
    }
    uint64_t last = 0;
    for (int i = 0; i < 20; i++) {
        uint64_t count = 0;
        assert_int_equal(doppel_library_each(library, count_any, &count, NULL), DOPPEL_OK);
        assert_int_equal(count % 10, 0);
        assert_true(count >= last);
        last = count;
        sleep_us(2000);
    }
    for (int i = 0; i < 2; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    uint64_t count = 0;
    assert_int_equal(doppel_library_each(library, count_any, &count, NULL), DOPPEL_OK);
    assert_int_equal(count, 400);
    doppel_library_close(library);
}

int main(void)
{
    srand(20240229);
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_a_killed_writer_loses_nothing_committed),
        IN_FOLDER(test_a_killed_scan_loses_little),
        IN_FOLDER(test_a_slow_scan_loses_little),
        IN_FOLDER(test_no_room_in_a_library),
        IN_FOLDER(test_no_room_in_a_cache),
        IN_FOLDER(test_two_writers_and_a_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
