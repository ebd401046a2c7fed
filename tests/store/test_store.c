/* Opening, identity, statements, transactions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <doppel/store.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/store/folder.h"

static const struct doppel_store_options options = {
    .application_id = 0x7465737f,
    .schema_version = 3,
    .schema = "CREATE TABLE thing(id INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT;"
              "CREATE TABLE part(thing INTEGER REFERENCES thing ON DELETE CASCADE) STRICT",
    .create = true,
    .busy_timeout_ms = 100,
};

static int reads_until_failure; /* 0: all succeed */

/* In place of the system's, for SQLite too: one read fails as of a device that cannot read. */
ssize_t pread64(int fd, void *out, size_t size, off64_t at)
{
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pread64");
    if (reads_until_failure && --reads_until_failure == 0) {
        errno = EIO;
        return -1;
    }
    return real(fd, out, size, at);
}

static struct doppel_store *open_store(const char *path, const struct doppel_store_options *how)
{
    struct doppel_store *store = NULL;
    struct doppel_error error = {0};
    if (doppel_store_open(path, how, &store, &error))
        fail_msg("%s", error.message);
    return store;
}

/* Run SQL on a file as another program would. */
static void run_raw(const char *path, const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void run(struct doppel_store *store, const char *sql)
{
    sqlite3_stmt *statement;
    bool row;
    assert_int_equal(doppel_store_statement(store, sql, &statement, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_step(store, statement, &row, NULL), DOPPEL_OK);
    sqlite3_reset(statement);
}

static int64_t count(struct doppel_store *store, const char *sql)
{
    sqlite3_stmt *statement;
    bool row;
    assert_int_equal(doppel_store_statement(store, sql, &statement, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_step(store, statement, &row, NULL), DOPPEL_OK);
    assert_true(row);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return value;
}

static void assert_refused(const char *path, enum doppel_status expected, const char *sentence)
{
    struct doppel_store_options plain = options;
    plain.create = false;
    struct doppel_store *store = NULL;
    struct doppel_error error = {0};
    assert_int_equal(doppel_store_open(path, &plain, &store, &error), expected);
    assert_null(store);
    assert_int_equal(error.status, expected);
    assert_non_null(strstr(error.message, path));
    if (!strstr(error.message, sentence))
        fail_msg("\"%s\" does not say \"%s\"", error.message, sentence);
}

static void test_made_and_opened_again(void **state)
{
    const char *path = folder_path(*state, "a.db");
    struct doppel_store *store = open_store(path, &options);
    assert_string_equal(doppel_store_path(store), path);
    run(store, "INSERT INTO thing(value) VALUES(x'00')");
    assert_int_equal(count(store, "PRAGMA foreign_keys"), 1);
    assert_int_equal(count(store, "PRAGMA trusted_schema"), 0);
    assert_int_equal(count(store, "PRAGMA cell_size_check"), 1);
    assert_int_equal(count(store, "PRAGMA synchronous"), 1);
    doppel_store_close(store);

    struct doppel_store_options durable = options;
    durable.create = false;
    durable.durable = true;
    store = open_store(path, &durable);
    assert_int_equal(count(store, "SELECT count(*) FROM thing"), 1);
    assert_int_equal(count(store, "PRAGMA user_version"), 3);
    assert_int_equal(count(store, "PRAGMA application_id"), 0x7465737f);
    assert_int_equal(count(store, "PRAGMA synchronous"), 2);
    doppel_store_close(store);
}

static void test_path_of_odd_bytes(void **state)
{
    const char *path = folder_path(*state, "a%20?b#c\n\xff\xfe.db");
    struct doppel_store *store = open_store(path, &options);
    run(store, "INSERT INTO thing(value) VALUES(x'00')");
    doppel_store_close(store);
    assert_int_equal(access(path, R_OK), 0);
    struct doppel_store_options reader = options;
    reader.read_only = true;
    store = open_store(path, &reader);
    assert_int_equal(count(store, "SELECT count(*) FROM thing"), 1);
    doppel_store_close(store);
}

static void test_what_is_not_ours(void **state)
{
    const char *path = folder_path(*state, "a.db");
    assert_refused(path, DOPPEL_E_NOT_FOUND, "no such file");
    folder_write(path, "");
    assert_refused(path, DOPPEL_E_NOT_FOUND, "holds nothing: its making was interrupted");
    folder_write(path, "short");
    assert_refused(path, DOPPEL_E_CORRUPT, "not a doppel database");
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    folder_write(path, text);
    assert_refused(path, DOPPEL_E_CORRUPT, "not a doppel database");
    unlink(path);
    run_raw(path, "PRAGMA application_id=99; CREATE TABLE other(a)");
    assert_refused(path, DOPPEL_E_FORMAT, "another program's");
    unlink(path);
    run_raw(path, "CREATE TABLE other(a)");
    assert_refused(path, DOPPEL_E_FORMAT, "another program's");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(path, DOPPEL_E_FORMAT, "not a file");
    rmdir(path);
    assert_int_equal(mkfifo(path, 0700), 0);
    assert_refused(path, DOPPEL_E_FORMAT, "not a file");
}

static void test_other_versions(void **state)
{
    const char *path = folder_path(*state, "a.db");
    doppel_store_close(open_store(path, &options));
    run_raw(path, "PRAGMA user_version=4");
    assert_refused(path, DOPPEL_E_VERSION, "newer");
    run_raw(path, "PRAGMA user_version=2");
    assert_refused(path, DOPPEL_E_VERSION, "older");
}

/* From the oldest version on, step by step; not from a still older one. */
static void test_upgrades(void **state)
{
    const char *const steps[] = {"CREATE TABLE four(a)", "CREATE TABLE five AS SELECT * FROM four"};
    const char *path = folder_path(*state, "a.db");
    struct doppel_store_options newer = options, reader;
    struct doppel_store *store;
    newer.schema_version = 5;
    newer.upgrades = steps;
    newer.upgrade_count = 2;
    reader = newer;
    reader.read_only = true;
    doppel_store_close(open_store(path, &options));
    run_raw(path, "PRAGMA user_version=2");
    assert_int_equal(doppel_store_open(path, &newer, &store, NULL), DOPPEL_E_VERSION);
    run_raw(path, "PRAGMA user_version=3");
    assert_int_equal(doppel_store_open(path, &reader, &store, NULL), DOPPEL_E_VERSION);
    for (int round = 0; round < 2; round++) {
        store = open_store(path, &newer);
        assert_int_equal(count(store, "PRAGMA user_version"), 5);
        assert_int_equal(count(store, "SELECT count(*) FROM five"), 0);
        doppel_store_close(store);
    }
    run_raw(path, "DROP TABLE five;PRAGMA user_version=4");
    store = open_store(path, &newer);
    assert_int_equal(count(store, "SELECT count(*) FROM five"), 0);
    doppel_store_close(store);
    doppel_store_close(open_store(path, &reader));
}

static void test_blank_file_becomes_a_store(void **state)
{
    const char *path = folder_path(*state, "a.db");
    folder_write(path, "");
    doppel_store_close(open_store(path, &options));
    struct doppel_store_options plain = options;
    plain.create = false;
    doppel_store_close(open_store(path, &plain));
}

static void test_statements_are_prepared_once(void **state)
{
    struct doppel_store *store = open_store(folder_path(*state, "a.db"), &options);
    char copy[] = "SELECT ?1 IS NULL";
    sqlite3_stmt *first, *second, *other;
    assert_int_equal(doppel_store_statement(store, "SELECT ?1 IS NULL", &first, NULL), DOPPEL_OK);
    sqlite3_bind_int(first, 1, 5);
    bool row;
    assert_int_equal(doppel_store_step(store, first, &row, NULL), DOPPEL_OK);
    assert_true(row);
    assert_int_equal(sqlite3_column_int(first, 0), 0);
    assert_int_equal(doppel_store_statement(store, copy, &second, NULL), DOPPEL_OK);
    assert_ptr_equal(first, second);
    assert_false(sqlite3_stmt_busy(second));
    assert_int_equal(doppel_store_step(store, second, &row, NULL), DOPPEL_OK);
    assert_int_equal(sqlite3_column_int(second, 0), 1); /* the binding is gone */
    assert_int_equal(doppel_store_step(store, second, &row, NULL), DOPPEL_OK);
    assert_false(row);
    assert_false(sqlite3_stmt_busy(second));
    assert_int_equal(doppel_store_statement(store, "SELECT 2", &other, NULL), DOPPEL_OK);
    assert_ptr_not_equal(first, other);
    doppel_store_close(store);
}

static void test_transactions(void **state)
{
    struct doppel_store *store = open_store(folder_path(*state, "a.db"), &options);
    assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
    run(store, "INSERT INTO thing(value) VALUES(x'00')");
    doppel_store_rollback(store);
    assert_int_equal(count(store, "SELECT count(*) FROM thing"), 0);
    assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
    run(store, "INSERT INTO thing(value) VALUES(x'00')");
    assert_int_equal(doppel_store_commit(store, NULL), DOPPEL_OK);
    doppel_store_rollback(store); /* without a transaction: nothing */
    assert_int_equal(count(store, "SELECT count(*) FROM thing"), 1);
    doppel_store_close(store);
}

static void test_foreign_triggers_do_not_run(void **state)
{
    const char *path = folder_path(*state, "a.db");
    struct doppel_store *store = open_store(path, &options);
    run(store, "INSERT INTO thing(id, value) VALUES(1, x'00')");
    run(store, "INSERT INTO thing(id, value) VALUES(2, x'00')");
    run(store, "INSERT INTO part(thing) VALUES(1)");
    run(store, "INSERT INTO part(thing) VALUES(2)");
    doppel_store_close(store);
    run_raw(path, "CREATE TRIGGER evil AFTER DELETE ON thing BEGIN DELETE FROM thing; END");
    store = open_store(path, &options);
    run(store, "DELETE FROM thing WHERE id = 1");
    assert_int_equal(count(store, "SELECT count(*) FROM thing"), 1);
    assert_int_equal(count(store, "SELECT count(*) FROM part"), 1); /* the cascade still works */
    doppel_store_close(store);
}

static void test_a_huge_row_is_not_read(void **state)
{
    const char *path = folder_path(*state, "a.db");
    doppel_store_close(open_store(path, &options));
    run_raw(path, "INSERT INTO thing(id, value) VALUES(1, zeroblob(100000000))");
    struct doppel_store *store = open_store(path, &options);
    sqlite3_stmt *statement;
    struct doppel_error error;
    bool row;
    assert_int_equal(doppel_store_statement(store, "SELECT value FROM thing", &statement, &error),
                     DOPPEL_OK);
    assert_int_equal(doppel_store_step(store, statement, &row, &error), DOPPEL_E_CORRUPT);
    sqlite3_reset(statement);
    doppel_store_close(store);
}

static void test_read_only(void **state)
{
    const char *path = folder_path(*state, "a.db");
    doppel_store_close(open_store(path, &options));
    struct doppel_store_options reader = options;
    reader.read_only = true;
    struct doppel_store *store = open_store(path, &reader);
    sqlite3_stmt *statement;
    bool row;
    struct doppel_error error;
    assert_int_equal(
        doppel_store_statement(store, "INSERT INTO thing(value) VALUES(x'00')", &statement, NULL),
        DOPPEL_OK);
    assert_int_equal(doppel_store_step(store, statement, &row, &error), DOPPEL_E_IO);
    assert_non_null(strstr(error.message, "read-only"));
    doppel_store_close(store);
    assert_int_equal(doppel_store_open(folder_path(*state, "none.db"), &reader, &store, &error),
                     DOPPEL_E_NOT_FOUND);
}

/* The tables are other ones than the version promises. */
static void test_wrong_tables_are_damage(void **state)
{
    const char *path = folder_path(*state, "a.db");
    doppel_store_close(open_store(path, &options));
    run_raw(path, "DROP TABLE part; DROP TABLE thing; CREATE TABLE thing(x)");
    struct doppel_store *store = open_store(path, &options);
    sqlite3_stmt *statement;
    struct doppel_error error;
    assert_int_equal(doppel_store_statement(store, "SELECT value FROM thing", &statement, &error),
                     DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "damaged"));
    doppel_store_close(store);
}

/* What the device could not read is no damage, for which one would put a copy in its place. */
static void test_a_device_that_cannot_read(void **state)
{
    const char *path = folder_path(*state, "a.db");
    struct doppel_store_options reader = options;
    struct doppel_store *store = open_store(path, &options);
    run(store, "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
               " INSERT INTO thing(value) SELECT zeroblob(300) FROM n");
    doppel_store_close(store);
    reader.read_only = true;
    int failures = 0, at = 1;
    for (bool failed = true; failed; at++) {
        struct doppel_error error = {0};
        sqlite3_stmt *statement;
        bool row;
        reads_until_failure = at;
        enum doppel_status status = doppel_store_open(path, &reader, &store, &error);
        if (!status) {
            status = doppel_store_statement(store, "SELECT sum(length(value)) FROM thing",
                                            &statement, &error);
            if (!status)
                status = doppel_store_step(store, statement, &row, &error);
            doppel_store_close(store);
        }
        failed = reads_until_failure == 0;
        reads_until_failure = 0;
        failures += status != DOPPEL_OK;
        if (status) {
            assert_int_equal(status, DOPPEL_E_IO);
            assert_non_null(strstr(error.message, "Input/output error"));
        }
    }
    assert_true(failures > 10);
}

static void test_a_store_that_is_moved(void **state)
{
    const char *path = folder_path(*state, "a.db");
    struct doppel_store *store = open_store(path, &options);
    assert_false(doppel_store_is_moved(store));
    char *elsewhere = strdup(folder_path(*state, "b.db"));
    assert_int_equal(rename(folder_path(*state, "a.db"), elsewhere), 0);
    assert_true(doppel_store_is_moved(store));
    folder_write(folder_path(*state, "a.db"), "another one");
    assert_true(doppel_store_is_moved(store));
    doppel_store_close(store);
    free(elsewhere);
}

static void close_one_that_may_go(const char *path, const char *sql, bool stays)
{
    struct doppel_store_options how = options;
    how.drop_but = "'part'";
    struct doppel_store *store = open_store(path, &how);
    assert_int_equal(doppel_store_execute(store, sql, NULL), DOPPEL_OK);
    doppel_store_close(store);
    assert_int_equal(access(path, F_OK), stays ? 0 : -1);
}

static void test_a_store_without_rows_goes(void **state)
{
    struct doppel_store_options how = options;
    char *path = strdup(folder_path(*state, "a.db"));
    how.drop_but = "'part'";
    close_one_that_may_go(path, "", false);
    close_one_that_may_go(path, "INSERT INTO part VALUES(NULL)", false);
    struct doppel_store *store = open_store(path, &how), *other = open_store(path, &options);
    doppel_store_close(store); /* the other has it open */
    assert_int_equal(doppel_store_execute(other, "INSERT INTO part VALUES(NULL)", NULL), DOPPEL_OK);
    assert_false(doppel_store_is_moved(other));
    doppel_store_close(other);
    close_one_that_may_go(path, "", true); /* it was there */
    assert_int_equal(unlink(path), 0);
    close_one_that_may_go(path, "INSERT INTO thing VALUES(1, x'00')", true);
    close_one_that_may_go(path, "DELETE FROM thing", true);
    free(path);
}

/* ---- whether others have written ---- */

/* What SQLite itself says, past what the store remembers. */
static int64_t asked_version(struct doppel_store *store)
{
    return count(store, "SELECT data_version FROM pragma_data_version");
}

/* Whether it is another number than before, by each. */
static void compare_versions(struct doppel_store *store, int64_t last[2])
{
    int64_t told = 0;
    assert_int_equal(doppel_store_data_version(store, &told, NULL), DOPPEL_OK);
    const int64_t asked = asked_version(store);
    assert_int_equal(told != last[0], asked != last[1]);
    last[0] = told;
    last[1] = asked;
}

static void test_what_others_write_is_noticed(void **state)
{
    struct doppel_store_options reading = options;
    char *path = strdup(folder_path(*state, "a.db"));
    struct doppel_store *store = open_store(path, &options), *other = open_store(path, &options);
    reading.read_only = true;
    struct doppel_store *reader = open_store(path, &reading);
    int64_t last[2][2] = {0};
    bool begun = false;
    srand(7);
    for (int i = 0; i < 1000; i++) {
        switch (rand() % 8) {
        case 0:
            run(other, "INSERT INTO thing(value) VALUES(x'00')");
            break;
        case 1:
            run(store, "INSERT INTO thing(value) VALUES(x'01')");
            break;
        case 2:
            if (rand() % 8 == 0)
                run_raw(path, "DELETE FROM thing; PRAGMA wal_checkpoint(TRUNCATE)");
            break;
        case 3:
            if (!begun)
                begun = doppel_store_begin_reading(reader);
            break;
        case 4:
            doppel_store_end_reading(reader, begun);
            begun = false;
            break;
        case 5:
            if (rand() % 8 == 0)
                doppel_store_empty_log(other);
            break;
        default:
            break;
        }
        compare_versions(store, last[0]);
        compare_versions(reader, last[1]);
    }
    doppel_store_end_reading(reader, begun);
    doppel_store_close(reader);
    doppel_store_close(other);
    doppel_store_close(store);
    free(path);
}

/* A store that nobody writes to is not locked by the question. */
static void test_the_question_takes_no_lock(void **state)
{
    char *path = strdup(folder_path(*state, "a.db"));
    struct doppel_store *store = open_store(path, &options);
    int64_t first = 0, again = 0;
    for (int i = 0; i < 3; i++) /* SQLite counts what it reads at first as another's */
        assert_int_equal(doppel_store_data_version(store, &first, NULL), DOPPEL_OK);
    sqlite3_stmt *statement;
    assert_int_equal(doppel_store_statement(store, "PRAGMA data_version", &statement, NULL),
                     DOPPEL_OK);
    const int steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(doppel_store_data_version(store, &again, NULL), DOPPEL_OK);
    assert_int_equal(again, first);
    assert_int_equal(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0), steps);
    run_raw(path, "INSERT INTO thing(value) VALUES(x'00')");
    assert_int_equal(doppel_store_data_version(store, &again, NULL), DOPPEL_OK);
    assert_int_not_equal(again, first);
    doppel_store_close(store);
    free(path);
}

struct interrupting {
    struct doppel_store *store;
    atomic_bool done;
};

static void *interrupt(void *context)
{
    struct interrupting *interrupting = context;
    while (!atomic_load(&interrupting->done))
        doppel_store_interrupt(interrupting->store);
    return NULL;
}

/* What could not be taken back would be a transaction around the next one. */
static void test_reading_ends_whoever_interrupts(void **state)
{
    pthread_t thread;
    struct interrupting interrupting = {.store = open_store(folder_path(*state, "a.db"), &options)};
    struct doppel_error error = {0};
    assert_int_equal(pthread_create(&thread, NULL, interrupt, &interrupting), 0);
    for (int i = 0; i < 20000; i++) {
        sqlite3_stmt *statement;
        bool row, begun = doppel_store_begin_reading(interrupting.store);
        assert_true(begun);
        if (!doppel_store_statement(interrupting.store, "SELECT count(*) FROM thing", &statement,
                                    NULL)) {
            (void)doppel_store_step(interrupting.store, statement, &row, NULL);
            sqlite3_reset(statement);
        }
        doppel_store_end_reading(interrupting.store, begun);
        const enum doppel_status status = doppel_store_begin(interrupting.store, &error);
        if (status && status != DOPPEL_E_CANCELLED)
            fail_msg("%d: %s", i, error.message);
        doppel_store_rollback(interrupting.store);
    }
    atomic_store(&interrupting.done, true);
    pthread_join(thread, NULL);
    doppel_store_close(interrupting.store);
}

static void test_memory_is_not_counted(void **state)
{
    const char *path = folder_path(*state, "a.db");
    assert_int_equal(sqlite3_shutdown(), SQLITE_OK); /* as at the start of a program */
    assert_true(doppel_store_skip_memory_count());
    struct doppel_store *store = open_store(path, &options);
    run(store, "INSERT INTO thing(value) VALUES(x'00')");
    assert_int_equal(sqlite3_memory_used(), 0);
    assert_false(doppel_store_skip_memory_count());
    doppel_store_close(store);
    assert_int_equal(sqlite3_shutdown(), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1), SQLITE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_made_and_opened_again),
        IN_FOLDER(test_path_of_odd_bytes),
        IN_FOLDER(test_what_is_not_ours),
        IN_FOLDER(test_other_versions),
        IN_FOLDER(test_upgrades),
        IN_FOLDER(test_blank_file_becomes_a_store),
        IN_FOLDER(test_statements_are_prepared_once),
        IN_FOLDER(test_transactions),
        IN_FOLDER(test_foreign_triggers_do_not_run),
        IN_FOLDER(test_a_huge_row_is_not_read),
        IN_FOLDER(test_read_only),
        IN_FOLDER(test_wrong_tables_are_damage),
        IN_FOLDER(test_a_device_that_cannot_read),
        IN_FOLDER(test_a_store_that_is_moved),
        IN_FOLDER(test_a_store_without_rows_goes),
        IN_FOLDER(test_what_others_write_is_noticed),
        IN_FOLDER(test_the_question_takes_no_lock),
        IN_FOLDER(test_reading_ends_whoever_interrupts),
        IN_FOLDER(test_memory_is_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
