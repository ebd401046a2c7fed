/* Several processes and one database: making it, writing, reading, and places that refuse. */
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/store/folder.h"

enum { NOBODY = 65534 };

static const struct doppel_store_options options = {
    .application_id = 0x7465737f,
    .schema_version = 1,
    .schema = "CREATE TABLE thing(id INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT",
    .create = true,
    .busy_timeout_ms = 10000,
};

static const char insert_sql[] = "INSERT INTO thing(value) VALUES(zeroblob(?1))";

static struct doppel_store *open_store(const char *path, const struct doppel_store_options *how)
{
    struct doppel_store *store = NULL;
    struct doppel_error error = {0};
    if (doppel_store_open(path, how, &store, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return NULL;
    }
    return store;
}

static enum doppel_status insert(struct doppel_store *store, int bytes, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(store, insert_sql, &statement, error);
    if (status)
        return status;
    sqlite3_bind_int(statement, 1, bytes);
    return doppel_store_step(store, statement, &row, error);
}

static int count(struct doppel_store *store)
{
    sqlite3_stmt *statement;
    bool row;
    if (doppel_store_statement(store, "SELECT count(*) FROM thing", &statement, NULL) ||
        doppel_store_step(store, statement, &row, NULL) || !row)
        return -1;
    int value = sqlite3_column_int(statement, 0);
    sqlite3_reset(statement);
    return value;
}

static void wait_for(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_made_by_all_at_once(void **state)
{
    enum { ROUNDS = 10, PROCESSES = 6 };
    for (int round = 0; round < ROUNDS; round++) {
        char name[32];
        snprintf(name, sizeof name, "%d.db", round);
        const char *path = folder_path(*state, name);
        pid_t children[PROCESSES];
        for (int i = 0; i < PROCESSES; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                struct doppel_store *store = open_store(path, &options);
                bool failed = !store || insert(store, 1, NULL);
                doppel_store_close(store);
                _exit(failed);
            }
        }
        for (int i = 0; i < PROCESSES; i++)
            wait_for(children[i]);
        struct doppel_store *store = open_store(path, &options);
        assert_int_equal(count(store), PROCESSES);
        doppel_store_close(store);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_second_writer_waits_then_gives_up(void **state)
{
    const char *path = folder_path(*state, "a.db");
    struct doppel_store_options hasty = options;
    hasty.busy_timeout_ms = 300;
    struct doppel_store *first = open_store(path, &options), *second = open_store(path, &hasty);
    assert_int_equal(doppel_store_begin(first, NULL), DOPPEL_OK);
    struct doppel_error error;
    double begun = seconds();
    assert_int_equal(doppel_store_begin(second, &error), DOPPEL_E_BUSY);
    assert_true(seconds() - begun > 0.2);
    assert_non_null(strstr(error.message, "another process"));
    assert_int_equal(doppel_store_commit(first, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_begin(second, NULL), DOPPEL_OK);
    doppel_store_close(second);
    doppel_store_close(first);
}

static void test_second_writer_waits_and_gets_its_turn(void **state)
{
    const char *path = folder_path(*state, "a.db");
    struct doppel_store *store = open_store(path, &options);
    int ready[2], go_on[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go_on), 0);
    pid_t child = fork();
    if (child == 0) {
        struct doppel_store *other = open_store(path, &options);
        const struct timespec pause = {.tv_nsec = 300000000};
        if (!other || doppel_store_begin(other, NULL) || insert(other, 1, NULL))
            _exit(1);
        char go;
        if (write(ready[1], "x", 1) != 1 || read(go_on[0], &go, 1) != 1)
            _exit(1);
        nanosleep(&pause, NULL);
        _exit(doppel_store_commit(other, NULL) != DOPPEL_OK);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(count(store), 0); /* a reader does not wait, and does not see it yet */
    assert_int_equal(write(go_on[1], "x", 1), 1);
    close(ready[0]), close(ready[1]), close(go_on[0]), close(go_on[1]);
    assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
    assert_int_equal(count(store), 1);
    assert_int_equal(insert(store, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_commit(store, NULL), DOPPEL_OK);
    wait_for(child);
    doppel_store_close(store);
}

static void test_a_reader_keeps_its_view(void **state)
{
    const char *path = folder_path(*state, "a.db");
    struct doppel_store *writer = open_store(path, &options);
    for (int i = 0; i < 10; i++)
        assert_int_equal(insert(writer, 1, NULL), DOPPEL_OK);
    struct doppel_store_options reading = options;
    reading.read_only = true;
    struct doppel_store *reader = open_store(path, &reading);
    sqlite3_stmt *statement;
    assert_int_equal(doppel_store_statement(reader, "SELECT id FROM thing", &statement, NULL),
                     DOPPEL_OK);
    int rows = 0;
    bool row;
    while (!doppel_store_step(reader, statement, &row, NULL) && row) {
        rows++;
        assert_int_equal(insert(writer, 1, NULL), DOPPEL_OK);
    }
    assert_int_equal(rows, 10);
    assert_int_equal(count(reader), 20);
    doppel_store_close(reader);
    doppel_store_close(writer);
}

/* In a child, since a limit cannot be lifted again. */
static int fill_until_refused(const char *path)
{
    struct doppel_store *store = open_store(path, &options);
    const struct rlimit limit = {1 << 20, 1 << 20};
    struct doppel_error error = {0};
    if (!store || insert(store, 1000, NULL))
        return 1;
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit))
        return 2;
    enum doppel_status status = doppel_store_begin(store, &error);
    for (int i = 0; i < 10000 && !status; i++)
        status = insert(store, 1000, &error);
    if (status != DOPPEL_E_IO || !strstr(error.message, "limit"))
        return 3;
    doppel_store_rollback(store);
    if (count(store) != 1)
        return 4;
    doppel_store_close(store);
    return 0;
}

static void test_no_room_leaves_all_as_it_was(void **state)
{
    const char *path = folder_path(*state, "a.db");
    pid_t child = fork();
    if (child == 0)
        _exit(fill_until_refused(path));
    wait_for(child);
    struct doppel_store *store = open_store(path, &options);
    assert_int_equal(count(store), 1);
    assert_int_equal(insert(store, 1000, NULL), DOPPEL_OK);
    doppel_store_close(store);
}

/* As a user who may write nothing there. */
static int read_as_nobody(const char *path)
{
    if (geteuid() == 0 && (setegid(NOBODY) || seteuid(NOBODY)))
        return 1;
    struct doppel_store *store;
    struct doppel_error error;
    struct doppel_store_options reading = options;
    reading.read_only = true;
    if (doppel_store_open(path, &reading, &store, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    if (count(store) != 1)
        return 3;
    doppel_store_close(store);
    enum doppel_status status = doppel_store_open(path, &options, &store, &error);
    if (!status) {
        status = insert(store, 1, &error);
        doppel_store_close(store);
    }
    return status == DOPPEL_E_IO && strstr(error.message, "read-only") ? 0 : 4;
}

static void test_read_where_nothing_can_be_written(void **state)
{
    const char *path = folder_path(*state, "odd%41?#.db");
    struct doppel_store *store = open_store(path, &options);
    assert_int_equal(insert(store, 1, NULL), DOPPEL_OK);
    doppel_store_close(store);
    chmod(path, 0444);
    chmod(*state, 0555);
    pid_t child = fork();
    if (child == 0)
        _exit(read_as_nobody(path));
    wait_for(child);
    chmod(*state, 0700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_made_by_all_at_once),
        IN_FOLDER(test_second_writer_waits_then_gives_up),
        IN_FOLDER(test_second_writer_waits_and_gets_its_turn),
        IN_FOLDER(test_a_reader_keeps_its_view),
        IN_FOLDER(test_no_room_leaves_all_as_it_was),
        IN_FOLDER(test_read_where_nothing_can_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
