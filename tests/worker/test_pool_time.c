/* Time in the pool: timeouts, signs of life, and waiting, with a bell or without. */
#include "helper.h"

#include <pthread.h>
#include <signal.h>

static void test_timeout_within_tolerance(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 500);
    submit(pool, "ok 1", 0); /* the start of the process does not count */
    struct doppel_outcome outcome = next(pool);
    doppel_outcome_free(&outcome);
    int64_t begun = now_ms();
    submit(pool, "slow 200", 1);
    submit(pool, "hang", 2);
    outcome = next(pool);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    doppel_outcome_free(&outcome);
    outcome = next(pool);
    int64_t took_ms = now_ms() - begun;
    assert_int_equal(outcome.error.status, DOPPEL_E_TIMEOUT);
    assert_true(took_ms >= 650 && took_ms < 10000); /* of 700; a busy machine takes longer */
    doppel_pool_free(pool);
}

/* @param whole the timeout is of the whole file */
static struct doppel_pool *pool_of(uint32_t timeout_ms, bool whole)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    options.program = FAKE_WORKER;
    options.jobs = 1;
    options.timeout_ms = timeout_ms;
    options.whole_timeout = whole;
    assert_int_equal(doppel_pool_new(&options, &pool, NULL), DOPPEL_OK);
    return pool;
}

/* What gets on may take longer than the timeout, unless that is of the whole file. */
static void test_getting_on(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct doppel_pool *pool = pool_of(600, whole);
        submit(pool, "steps 15", 1);
        struct doppel_outcome outcome = next(pool);
        assert_int_equal(outcome.error.status, whole ? DOPPEL_E_TIMEOUT : DOPPEL_OK);
        doppel_outcome_free(&outcome);
        submit(pool, "hang", 2);
        outcome = next(pool);
        assert_int_equal(outcome.error.status, DOPPEL_E_TIMEOUT);
        doppel_outcome_free(&outcome);
        doppel_pool_free(pool);
    }
}

static void test_timeout_of_a_video_in_words(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "took longer than 0.3 s to get on by 10 s of it (--timeout)",
        "took longer than 0.3 s (--timeout)"};
    for (int whole = 0; whole < 2; whole++) {
        struct doppel_pool *pool = pool_of(300, whole);
        int fd = file_of("hang", 4);
        assert_int_equal(submit_file(pool, fd, DOPPEL_SCHEME_FRAMES64, 1), DOPPEL_OK);
        struct doppel_outcome outcome = next(pool);
        assert_string_equal(outcome.error.message, wanted[whole]);
        doppel_outcome_free(&outcome);
        doppel_pool_free(pool);
    }
}

static void start_both(struct doppel_pool *pool)
{
    submit(pool, "ok 1", 9);
    submit(pool, "ok 1", 9);
    for (int i = 0; i < 2; i++) {
        struct doppel_outcome outcome = next(pool);
        doppel_outcome_free(&outcome);
    }
}

static void test_progress_is_seen(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 0);
    struct doppel_outcome outcome;
    assert_int_equal(doppel_pool_progress(pool).expected_ms, 0);
    start_both(pool);
    submit(pool, "steps 8", 1);
    submit(pool, "steps 8", 2);
    uint64_t last_ms = 0, most_ms = 0;
    bool both = false;
    while (doppel_pool_next(pool, 20, &outcome, NULL) == DOPPEL_E_TIMEOUT) {
        struct doppel_progress progress = doppel_pool_progress(pool);
        assert_true(progress.done_ms >= last_ms && progress.done_ms <= progress.expected_ms);
        assert_true(progress.videos * UINT64_C(80000) == progress.expected_ms);
        both |= progress.videos == 2;
        last_ms = progress.done_ms;
        most_ms = progress.done_ms > most_ms ? progress.done_ms : most_ms;
    }
    assert_true(both && most_ms > 40000);
    doppel_outcome_free(&outcome);
    outcome = next(pool);
    doppel_outcome_free(&outcome);
    assert_int_equal(doppel_pool_progress(pool).expected_ms, 0);
    doppel_pool_free(pool);
}

/* Nothing in the page is believed, and it stays as large as it is. */
static void test_progress_of_a_liar(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
    struct doppel_outcome outcome;
    submit(pool, "lie", 1);
    while (doppel_pool_next(pool, 10, &outcome, NULL) == DOPPEL_E_TIMEOUT) {
        struct doppel_progress progress = doppel_pool_progress(pool);
        assert_true(progress.done_ms <= progress.expected_ms);
        assert_true(progress.expected_ms <= UINT32_MAX);
    }
    expect_good(&outcome, 0);
    doppel_outcome_free(&outcome);
    doppel_pool_free(pool);
}

/* A slow file is given alone: what comes after it is done by others meanwhile. */
static void test_nothing_waits_behind_a_slow_file(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 0);
    start_both(pool);
    for (uint64_t i = 0; i < 7; i++) {
        const char *command = i ? "slow 60" : "slow 1200";
        int fd = file_of(command, strlen(command) + 1);
        assert_int_equal(ftruncate(fd, 16 << 20), 0); /* large is slow */
        assert_int_equal(submit_file(pool, fd, DOPPEL_SCHEME_PHASH64, i), DOPPEL_OK);
    }
    for (uint64_t i = 1; i <= 7; i++) {
        struct doppel_outcome outcome = next(pool);
        assert_int_equal(outcome.tag, i % 7);
        doppel_outcome_free(&outcome);
    }
    doppel_pool_free(pool);
}

/* While the caller is elsewhere, answers wait; nothing is overdue because of it. */
static void test_caller_elsewhere(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 300);
    for (unsigned i = 0; i < 4; i++)
        submit(pool, "slow 50", i);
    struct doppel_outcome outcome = next(pool);
    doppel_outcome_free(&outcome);
    usleep(1000000);
    for (unsigned i = 1; i < 4; i++) {
        outcome = next(pool);
        assert_int_equal(outcome.error.status, DOPPEL_OK);
        doppel_outcome_free(&outcome);
    }
    doppel_pool_free(pool);
}

static void test_wait_is_bounded(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
    struct doppel_outcome outcome;
    submit(pool, "hang", 1);
    int64_t begun = now_ms();
    assert_int_equal(doppel_pool_next(pool, 0, &outcome, NULL), DOPPEL_E_TIMEOUT);
    assert_int_equal(doppel_pool_next(pool, 50, &outcome, NULL), DOPPEL_E_TIMEOUT);
    assert_true(now_ms() - begun >= 49);
    doppel_pool_free(pool);
}

/* Answers that the worker did not ring for, as it went on to a long file, do not wait for that. */
static void test_heard_without_bell(void **state)
{
    (void)state;
    static const char *const commands[] = {"ok 0", "ok 1", "ok 2", "hang"};
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
    for (unsigned i = 0; i < 4; i++)
        submit(pool, commands[i], i);
    int64_t begun = now_ms();
    for (unsigned i = 0; i < 3; i++) {
        struct doppel_outcome outcome = next(pool);
        expect_good(&outcome, i);
        doppel_outcome_free(&outcome);
    }
    assert_true(now_ms() - begun < 20000); /* "hang" is for minutes */
    doppel_pool_free(pool);
}

/* A worker that has closed its bell is heard all the same, and keeps nobody awake. */
static void test_mute(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
    struct doppel_outcome outcome;
    submit(pool, "mute 5", 0);
    submit(pool, "slow 600", 1);
    outcome = next(pool);
    expect_good(&outcome, 5);
    doppel_outcome_free(&outcome);
    clock_t begun = clock();
    outcome = next(pool);
    expect_good(&outcome, 600);
    doppel_outcome_free(&outcome);
    assert_true(clock() - begun < CLOCKS_PER_SEC / 10);
    doppel_pool_free(pool);
}

static void on_alarm(int signal)
{
    (void)signal;
}

static void test_signal_ends_the_wait(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_alarm}, old;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
    struct doppel_outcome outcome;
    submit(pool, "hang", 1);
    doppel_pool_next(pool, 300, &outcome, NULL);
    sigaction(SIGALRM, &action, &old);
    ualarm(100000, 0);
    assert_int_equal(doppel_pool_next(pool, -1, &outcome, NULL), DOPPEL_E_CANCELLED);
    sigaction(SIGALRM, &old, NULL);
    doppel_pool_free(pool);
}

static void *cancel_soon(void *run)
{
    const struct timespec soon = {.tv_nsec = 200 * 1000000L};
    nanosleep(&soon, NULL);
    doppel_run_cancel(run);
    return NULL;
}

/* However long a worker takes: what is there already is given all the same. */
static void test_cancelled_run_ends_the_wait(void **state)
{
    struct doppel_pool *pool;
    struct doppel_run *run;
    struct doppel_outcome outcome;
    pthread_t thread;
    (void)state;
    assert_int_equal(setenv("DOPPEL_WORKER", FAKE_WORKER, 1), 0);
    assert_int_equal(doppel_run_new(NULL, &run, NULL), DOPPEL_OK);
    assert_int_equal(doppel_pool_for_run(run, &pool, NULL), DOPPEL_OK);
    submit(pool, "ok 1", 1);
    submit(pool, "hang", 2);
    outcome = next(pool);
    assert_int_equal(outcome.tag, 1);
    doppel_outcome_free(&outcome);
    int64_t begun = now_ms();
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, run), 0);
    assert_int_equal(doppel_pool_next(pool, -1, &outcome, NULL), DOPPEL_E_CANCELLED);
    assert_true(now_ms() - begun < 5000);
    pthread_join(thread, NULL);
    doppel_pool_free(pool);
    doppel_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeout_within_tolerance),
        cmocka_unit_test(test_getting_on),
        cmocka_unit_test(test_timeout_of_a_video_in_words),
        cmocka_unit_test(test_progress_is_seen),
        cmocka_unit_test(test_progress_of_a_liar),
        cmocka_unit_test(test_nothing_waits_behind_a_slow_file),
        cmocka_unit_test(test_caller_elsewhere),
        cmocka_unit_test(test_wait_is_bounded),
        cmocka_unit_test(test_heard_without_bell),
        cmocka_unit_test(test_mute),
        cmocka_unit_test(test_signal_ends_the_wait),
        cmocka_unit_test(test_cancelled_run_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
