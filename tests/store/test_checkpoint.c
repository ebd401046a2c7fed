/* A log that a thread puts in its place: it stays short, and nothing of it is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/store.h>
#include <sqlite3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/store/folder.h"

/* A row dirties some 3 pages; the log may have three times the limit, and a transaction. */
enum { LIMIT_PAGES = 16, ROW_BYTES = 1000, MOST_LOG_BYTES = 32 + (3 * LIMIT_PAGES + 16) * 4120 };

static const struct doppel_store_options options = {
    .application_id = 0x7465737f,
    .schema_version = 1,
    .schema = "CREATE TABLE thing(id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE) STRICT",
    .create = true,
    .busy_timeout_ms = 20000,
    .log_pages = LIMIT_PAGES,
};

/* ---- helpers ---- */

static struct doppel_store *open_store(const char *path)
{
    struct doppel_store *store = NULL;
    struct doppel_error error = {0};
    if (doppel_store_open(path, &options, &store, &error))
        fprintf(stderr, "%s\n", error.message);
    return store;
}

/* Rows with names in no order, each in a transaction. */
static bool insert(struct doppel_store *store)
{
    sqlite3_stmt *statement;
    bool row;
    return !doppel_store_begin(store, NULL) &&
           !doppel_store_statement(store, "INSERT INTO thing(name) VALUES(randomblob(?1))",
                                   &statement, NULL) &&
           !sqlite3_bind_int(statement, 1, ROW_BYTES) &&
           !doppel_store_step(store, statement, &row, NULL) && !doppel_store_commit(store, NULL);
}

static int64_t number_of(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* As another program reads it. @return how many rows there are */
static int64_t count_audio_rows(const char *path)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(number_of(database, "SELECT integrity_check = 'ok' FROM "
                                         "pragma_integrity_check"),
                     1);
    int64_t count = number_of(database, "SELECT count(*) FROM thing");
    sqlite3_close(database);
    return count;
}

static long log_bytes(const char *path)
{
    char name[4096];
    struct stat status;
    snprintf(name, sizeof name, "%s-wal", path);
    return stat(name, &status) ? -1 : (long)status.st_size;
}

/* ---- tests ---- */

static void test_the_log_stays_short(void **state)
{
    enum { ROWS = 1000 };
    const char *path = folder_path(*state, "a.db");
    struct doppel_store *store = open_store(path);
    assert_non_null(store);
    for (int i = 0; i < ROWS; i++) {
        assert_true(insert(store));
        assert_in_range(log_bytes(path), 0, MOST_LOG_BYTES);
    }
    assert_int_equal(count_audio_rows(path), ROWS);
    doppel_store_empty_log(store);
    assert_int_equal(log_bytes(path), 0);
    assert_true(insert(store));
    doppel_store_close(store);
    assert_int_equal(log_bytes(path), -1);
    assert_int_equal(count_audio_rows(path), ROWS + 1);
}

static void test_a_reader_keeps_its_view(void **state)
{
    enum { ROWS = 200 };
    const char *path = folder_path(*state, "a.db");
    struct doppel_store *store = open_store(path);
    assert_non_null(store);
    assert_true(insert(store));
    sqlite3 *reader;
    assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(number_of(reader, "SELECT count(*) FROM thing"), 1);
    for (int i = 0; i < ROWS; i++)
        assert_true(insert(store));
    assert_true(log_bytes(path) > MOST_LOG_BYTES);
    assert_int_equal(number_of(reader, "SELECT count(*) FROM thing"), 1);
    assert_int_equal(number_of(reader, "SELECT sum(length(name)) FROM thing"), ROW_BYTES);
    sqlite3_close(reader);
    for (int i = 0; i < ROWS; i++)
        assert_true(insert(store));
    doppel_store_empty_log(store);
    assert_int_equal(log_bytes(path), 0);
    assert_int_equal(count_audio_rows(path), 1 + 2 * ROWS);
    doppel_store_close(store);
}

static pid_t start_writer(const char *path, int rows, int answers)
{
    pid_t child = fork();
    if (child)
        return child;
    struct doppel_store *store = open_store(path);
    for (int i = 0; i < rows; i++)
        if (!store || !insert(store) || write(answers, "+", 1) != 1)
            _exit(1);
    doppel_store_close(store);
    _exit(0);
}

static void test_killed(void **state)
{
    enum { RUNS = 30, ROWS = 1000000 };
    const char *path = folder_path(*state, "a.db");
    int64_t answered = 0;
    for (int run = 0; run < RUNS; run++) {
        int answers[2], wanted = 1 + run * 37 % 100;
        char answer;
        assert_int_equal(pipe(answers), 0);
        pid_t child = start_writer(path, ROWS, answers[1]);
        close(answers[1]);
        for (int i = 0; i < wanted; i++)
            assert_int_equal(read(answers[0], &answer, 1), 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        answered += wanted;
        while (read(answers[0], &answer, 1) == 1)
            answered++;
        close(answers[0]);
        int64_t kept = count_audio_rows(path);
        assert_in_range(kept, answered, answered + 1); /* one was not answered yet */
        answered = kept;
    }
}

static void test_two_writers(void **state)
{
    enum { ROWS = 300 };
    const char *path = folder_path(*state, "a.db");
    int status, answers[2];
    assert_int_equal(pipe(answers), 0);
    pid_t children[] = {start_writer(path, ROWS, answers[1]), start_writer(path, ROWS, answers[1])};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    close(answers[0]);
    close(answers[1]);
    assert_int_equal(count_audio_rows(path), 2 * ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_the_log_stays_short),
        IN_FOLDER(test_a_reader_keeps_its_view),
        IN_FOLDER(test_killed),
        IN_FOLDER(test_two_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
