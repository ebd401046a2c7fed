/* The pool with a fake worker: each file comes back once, and only the file at work is lost. */
#include "helper.h"

#include <signal.h>

enum { MANY = 1000 };

static void test_good_file(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 5000);
    submit(pool, "ok 77", 5);
    assert_int_equal(doppel_pool_pending(pool), 1);
    struct doppel_outcome outcome = next(pool);
    assert_int_equal(outcome.tag, 5);
    expect_good(&outcome, 77);
    doppel_outcome_free(&outcome);
    assert_int_equal(doppel_pool_pending(pool), 0);
    assert_int_equal(doppel_pool_next(pool, 0, &outcome, NULL), DOPPEL_E_NOT_FOUND);
    doppel_pool_free(pool);
    assert_true(has_no_children());
}

static void test_many_files_two_workers(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 5000);
    bool seen[MANY] = {0};
    for (unsigned given = 0, taken = 0; taken < MANY; taken++) {
        for (; given < MANY && doppel_pool_room(pool); given++) {
            char command[32];
            snprintf(command, sizeof command, "ok %u", given);
            submit(pool, command, given);
        }
        struct doppel_outcome outcome = next(pool);
        expect_good(&outcome, outcome.tag);
        assert_true(outcome.tag < MANY && !seen[outcome.tag]);
        seen[outcome.tag] = true;
        doppel_outcome_free(&outcome);
    }
    doppel_pool_free(pool);
}

/* A file that misbehaves among good ones: it alone is lost, with this status and sentence. */
static void expect_one_lost(const char *command, enum doppel_status status, const char *sentence)
{
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 400);
    unsigned lost = 0, files = (unsigned)doppel_pool_room(pool);
    for (unsigned i = 0; i < files; i++)
        submit(pool, i == 3 ? command : "ok 9", i);
    for (unsigned i = 0; i < files; i++) {
        struct doppel_outcome outcome = next(pool);
        if (outcome.tag == 3) {
            assert_int_equal(outcome.error.status, status);
            assert_string_equal(outcome.error.message, sentence);
            assert_null(outcome.fingerprint.codes);
            lost++;
        } else {
            expect_good(&outcome, 9);
        }
        doppel_outcome_free(&outcome);
    }
    assert_int_equal(lost, 1);
    assert_int_equal(doppel_pool_pending(pool), 0);
    doppel_pool_free(pool);
    assert_true(has_no_children());
}

static void test_crash(void **state)
{
    (void)state;
    expect_one_lost("crash", DOPPEL_E_CRASH, "the decoder crashed (signal 11)");
    expect_one_lost("abort", DOPPEL_E_CRASH, "the decoder crashed (signal 6)");
    expect_one_lost("exit", DOPPEL_E_CRASH, "the decoder ended its process (exit code 7)");
}

static void test_unsealed_memory(void **state)
{
    (void)state;
    expect_one_lost("lend 1", DOPPEL_E_CRASH, "the decoder went astray: its answer makes no sense");
}

static void test_hang(void **state)
{
    (void)state;
    expect_one_lost("hang", DOPPEL_E_TIMEOUT, "took longer than 0.4 s (--timeout)");
}

/* Answers come in the order of the files: who leaves one out is not believed. */
static void test_left_out(void **state)
{
    (void)state;
    expect_one_lost("leave out", DOPPEL_E_CRASH,
                    "the decoder went astray: its answer makes no sense");
}

static void test_memory(void **state)
{
    (void)state;
    expect_one_lost("memory", DOPPEL_E_MEMORY, "no memory for 9 rows");
}

/* The system was short of memory, and is no more: nothing is lost. */
static void test_short_of_memory(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 5000);
    for (unsigned i = 0; i < 10; i++)
        submit(pool, i % 3 ? "ok 1" : "short", i);
    for (unsigned i = 0; i < 10; i++) {
        struct doppel_outcome outcome = next(pool);
        assert_int_equal(outcome.error.status, DOPPEL_OK);
        doppel_outcome_free(&outcome);
    }
    doppel_pool_free(pool);
}

/* What a terminal would obey, and what is not UTF-8, is replaced. */
static void test_error_sentence(void **state)
{
    (void)state;
    expect_one_lost("error", DOPPEL_E_CORRUPT, "a ?[31mred? sentence \xc3\x97 ?");
}

static void test_all_crash(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 5000);
    for (unsigned given = 0, taken = 0; taken < 40; taken++) {
        for (; given < 40 && doppel_pool_room(pool); given++)
            submit(pool, "crash", given);
        struct doppel_outcome outcome = next(pool);
        assert_int_equal(outcome.error.status, DOPPEL_E_CRASH);
    }
    doppel_pool_free(pool);
}

/* Whatever number of answers waits unheard when a worker dies, only the file at work is lost. */
static void test_answers_outlive_their_worker(void **state)
{
    (void)state;
    for (unsigned crash = 0; crash < 12; crash++) {
        struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
        for (unsigned i = 0; i < 12; i++)
            submit(pool, i == crash ? "crash" : "ok 4", i);
        usleep(20000);
        for (unsigned i = 0; i < 12; i++) {
            struct doppel_outcome outcome = next(pool);
            assert_int_equal(outcome.tag, i);
            assert_int_equal(outcome.error.status, i == crash ? DOPPEL_E_CRASH : DOPPEL_OK);
            doppel_outcome_free(&outcome);
        }
        doppel_pool_free(pool);
    }
}

static void test_no_room(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
    size_t room = doppel_pool_room(pool);
    assert_true(room >= 2 && room < 100);
    for (size_t i = 0; i < room; i++)
        submit(pool, "hang", i);
    assert_int_equal(doppel_pool_room(pool), 0);
    int fd = file_of("ok", 2);
    assert_int_equal(submit_file(pool, fd, DOPPEL_SCHEME_PHASH64, 9), DOPPEL_E_BUSY);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* taken also on failure */
    doppel_pool_free(pool);
}

/* Every tag comes back exactly once, whatever befalls the workers. */
static void test_kill_at_random(void **state)
{
    (void)state;
    enum { FILES = 200, KILLS = 20 };
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 10000);
    unsigned seen[FILES] = {0}, lost = 0, kills = 0;
    srand(7);
    for (unsigned given = 0, taken = 0; taken < FILES; taken++) {
        for (; given < FILES && doppel_pool_room(pool); given++)
            submit(pool, "slow 2", given);
        if (kills < KILLS && rand() % 5 == 0)
            kills += first_child() && kill(first_child(), SIGKILL) == 0;
        struct doppel_outcome outcome = next(pool);
        assert_true(outcome.tag < FILES);
        seen[outcome.tag]++;
        if (outcome.error.status) {
            assert_int_equal(outcome.error.status, DOPPEL_E_KILLED);
            assert_string_equal(outcome.error.message, "the decoder was killed (signal 9)");
            lost++;
        }
        doppel_outcome_free(&outcome);
    }
    for (unsigned i = 0; i < FILES; i++)
        assert_int_equal(seen[i], 1);
    assert_true(kills > 5);
    assert_true(lost <= kills);
    doppel_pool_free(pool);
    assert_true(has_no_children());
}

static void test_idle_worker_dies(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 5000);
    for (unsigned i = 0; i < 4; i++) {
        submit(pool, "close", i); /* unanswered: its socket ends */
        struct doppel_outcome outcome = next(pool);
        assert_true(outcome.error.status == DOPPEL_E_KILLED ||
                    outcome.error.status == DOPPEL_E_CRASH);
        submit(pool, "twice", i); /* the second answer is to nothing */
        outcome = next(pool);
        assert_int_equal(outcome.error.status, DOPPEL_OK);
        doppel_outcome_free(&outcome);
        usleep(20000);
        submit(pool, "ok 3", i);
        outcome = next(pool);
        doppel_outcome_free(&outcome);
    }
    doppel_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_file),
        cmocka_unit_test(test_many_files_two_workers),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_unsealed_memory),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_short_of_memory),
        cmocka_unit_test(test_error_sentence),
        cmocka_unit_test(test_all_crash),
        cmocka_unit_test(test_answers_outlive_their_worker),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_kill_at_random),
        cmocka_unit_test(test_idle_worker_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
