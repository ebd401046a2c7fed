/* The processes of the pool: what it takes to start one, what it inherits, and how it ends. */
#include "helper.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "core/sanitizer.h"
#include "worker/handles.h"

static void test_free_with_work_in_flight(void **state)
{
    (void)state;
    int before = count_fds();
    for (unsigned round = 0; round < 5; round++) {
        struct doppel_pool *pool = new_pool(FAKE_WORKER, 3, 0);
        for (uint64_t i = 0; doppel_pool_room(pool); i++)
            submit(pool, round % 2 ? "hang" : "ok 1", i);
        doppel_pool_free(pool);
    }
    assert_int_equal(count_fds(), before);
    assert_true(has_no_children());
}

static void test_descriptors_stay_even(void **state)
{
    (void)state;
    static const char *const commands[] = {"ok 1", "crash", "error", "garbage 4", "memory"};
    int before = count_fds();
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 5000);
    for (unsigned i = 0; i < 60; i++) {
        submit(pool, commands[i % 5], i);
        struct doppel_outcome outcome = next(pool);
        doppel_outcome_free(&outcome);
        assert_true(count_fds() <= before + 4);
    }
    doppel_pool_free(pool);
    assert_int_equal(count_fds(), before);
    assert_true(has_no_children());
}

/* @return of how many processes the outcomes of as many files came */
static size_t count_processes(bool alone)
{
    enum { FILES = 7 };
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    char sentences[FILES][512];
    size_t count = 0;
    options.program = FAKE_WORKER;
    options.jobs = 2;
    options.alone = alone;
    assert_int_equal(doppel_pool_new(&options, &pool, NULL), DOPPEL_OK);
    for (unsigned i = 0; i < FILES; i++)
        submit(pool, "which", i);
    for (unsigned i = 0; i < FILES; i++) {
        struct doppel_outcome outcome = next(pool);
        size_t known = 0;
        while (known < count && strcmp(sentences[known], outcome.error.message) != 0)
            known++;
        if (known == count)
            snprintf(sentences[count++], sizeof *sentences, "%s", outcome.error.message);
        doppel_outcome_free(&outcome);
    }
    doppel_pool_free(pool);
    assert_true(has_no_children());
    return count;
}

static void test_each_file_alone(void **state)
{
    (void)state;
    assert_int_equal(count_processes(true), 7);
    assert_true(count_processes(false) <= 2);
}

static void test_program_missing(void **state)
{
    (void)state;
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    struct doppel_error error;
    int before = count_fds();
    options.program = "/nowhere/doppel-worker";
    assert_int_equal(doppel_pool_new(&options, &pool, &error), DOPPEL_E_NOT_FOUND);
    assert_string_equal(error.message, "the program /nowhere/doppel-worker cannot be started: No "
                                       "such file or directory");
    assert_null(pool);
    assert_int_equal(count_fds(), before);
    assert_true(has_no_children());
}

/* A worker that never gets ready is tried a few times; then there is one error, and no loop. */
static void expect_no_start(const char *how)
{
    const char *program = program_with(how, FAKE_WORKER);
    struct doppel_pool *pool = new_pool(program, 2, 5000);
    struct doppel_outcome outcome;
    struct doppel_error error = {0};
    submit(pool, "ok 1", 1);
    submit(pool, "ok 2", 2);
    assert_int_equal(doppel_pool_next(pool, 20000, &outcome, &error), DOPPEL_E_IO);
    assert_non_null(strstr(error.message, "before it was ready"));
    assert_int_equal(doppel_pool_next(pool, 20000, &outcome, &error), DOPPEL_E_IO);
    assert_int_equal(doppel_pool_pending(pool), 2);
    doppel_pool_free(pool);
    unlink(program);
    assert_true(has_no_children());
}

static void test_worker_cannot_start(void **state)
{
    (void)state;
    expect_no_start("FAKE_START=crash");
    expect_no_start("FAKE_START=exit");
    expect_no_start("FAKE_START=garbage");
}

/* Ctrl-C reaches the whole process group: workers leave it to their parent. */
static void test_workers_ignore_sigint(void **state)
{
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
    submit(pool, "slow 300", 1);
    usleep(100000);
    sigaction(SIGINT, &ignore, &old);
    kill(0, SIGINT);
    struct doppel_outcome outcome = next(pool);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    doppel_outcome_free(&outcome);
    sigaction(SIGINT, &old, NULL);
    doppel_pool_free(pool);
}

/* Whatever a decoder takes, the worker stays within --max-memory. */
static void test_memory_limit(void **state)
{
    (void)state;
#ifdef UNDER_SANITIZER
    skip();
#endif
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    options.program = FAKE_WORKER;
    options.jobs = 1;
    for (uint64_t mib = 128; mib <= 512; mib *= 2) {
        options.max_memory = mib << 20;
        assert_int_equal(doppel_pool_new(&options, &pool, NULL), DOPPEL_OK);
        submit(pool, "eat", 1);
        struct doppel_outcome outcome = next(pool);
        assert_int_equal(outcome.error.status, DOPPEL_E_MEMORY);
        long resident_kib = strtol(outcome.error.message, NULL, 10);
        assert_true(resident_kib > (long)(mib << 10) / 3);
        assert_true(resident_kib <= (long)(mib << 10));
        doppel_pool_free(pool);
    }
}

/* A worker has its socket, its bell, the pipe of its life, the page of its progress, /dev/null
 * twice and the file in hand, whatever is open here. */
static void test_nothing_is_inherited(void **state)
{
    (void)state;
    int open_here = open("/dev/null", O_RDONLY); /* not close-on-exec */
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 5000);
    for (unsigned i = 0; i < 20; i++) {
        submit(pool, i % 2 ? "count" : "ok 1", i);
        struct doppel_outcome outcome = next(pool);
        if (i % 2)
            assert_string_equal(outcome.error.message, "7");
        doppel_outcome_free(&outcome);
    }
    doppel_pool_free(pool);
    close(open_here);
}

static void expect_sentence(struct doppel_pool *pool, const char *command, const char *sentence)
{
    submit(pool, command, 1);
    struct doppel_outcome outcome = next(pool);
    assert_string_equal(outcome.error.message, sentence);
    doppel_outcome_free(&outcome);
}

/* No variables but the time zone, no folder of the user's, and of a file an opening of its own,
 * though ours can be written to, stands at its end, and comes to a second worker after the first
 * one read it. */
static void test_nothing_is_shared(void **state)
{
    (void)state;
#ifdef UNDER_SANITIZER
    skip(); /* which is told by variables what to do */
#endif
    setenv("SECRET", "token", 1);
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 5000);
    for (int i = 0; i < 3; i++)
        expect_sentence(pool, "look", "1 variables, in /, file read-only at 0");
    doppel_pool_free(pool);
    unsetenv("SECRET");
}

/* What took a worker over has it for so many files and no more. */
static void test_workers_are_replaced(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 20000);
    int first = first_child();
    for (unsigned given = 0, taken = 0; taken < FILES_PER_WORKER + WINDOW; taken++) {
        for (; given < FILES_PER_WORKER + WINDOW && doppel_pool_room(pool); given++)
            submit(pool, "ok 1", given);
        struct doppel_outcome outcome = next(pool);
        expect_good(&outcome, 1);
        doppel_outcome_free(&outcome);
        if (taken < FILES_PER_WORKER - 1)
            assert_int_equal(first_child(), first);
    }
    assert_int_not_equal(first_child(), first);
    doppel_pool_free(pool);
    assert_true(has_no_children());
}

static void *start_pool(void *context)
{
    (void)context;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 5000);
    submit(pool, "ok 1", 1);
    struct doppel_outcome outcome = next(pool);
    doppel_outcome_free(&outcome);
    return pool;
}

static void test_workers_outlive_the_thread_that_started_them(void **state)
{
    (void)state;
    pthread_t thread;
    void *pool;
    assert_int_equal(pthread_create(&thread, NULL, start_pool, NULL), 0);
    assert_int_equal(pthread_join(thread, &pool), 0);
    int worker = first_child();
    submit(pool, "ok 2", 2);
    struct doppel_outcome outcome = next(pool);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    assert_int_equal(first_child(), worker);
    doppel_outcome_free(&outcome);
    doppel_pool_free(pool);
}

/* A process that keeps a busy worker, and is killed. */
static void be_killed(int out)
{
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 0);
    submit(pool, "hang", 1);
    struct doppel_outcome outcome;
    doppel_pool_next(pool, 200, &outcome, NULL);
    int worker = first_child();
    if (write(out, &worker, sizeof worker) == sizeof worker)
        kill(getpid(), SIGKILL);
    _exit(1);
}

static void test_workers_die_with_their_parent(void **state)
{
    (void)state;
    int ends[2], worker = 0;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0)
        be_killed(ends[1]);
    assert_int_equal(read(ends[0], &worker, sizeof worker), sizeof worker);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    alarm(10); /* in place of a wait for ever */
    assert_int_equal(waitpid(worker, NULL, 0), worker);
    alarm(0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    setpgid(0, 0); /* Ctrl-C is of a group */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_with_work_in_flight),
        cmocka_unit_test(test_descriptors_stay_even),
        cmocka_unit_test(test_workers_outlive_the_thread_that_started_them),
        cmocka_unit_test(test_program_missing),
        cmocka_unit_test(test_each_file_alone),
        cmocka_unit_test(test_worker_cannot_start),
        cmocka_unit_test(test_workers_ignore_sigint),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_nothing_is_inherited),
        cmocka_unit_test(test_nothing_is_shared),
        cmocka_unit_test(test_workers_are_replaced),
        cmocka_unit_test(test_workers_die_with_their_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
