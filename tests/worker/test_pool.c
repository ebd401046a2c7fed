/* The pool with a fake worker: each file comes back once, and only the file at work is lost. */
#include "helper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "worker/sanitizer.h"

enum { MANY = 1000 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void expect_good(const struct doppel_outcome *outcome, uint64_t code)
{
    assert_int_equal(outcome->error.status, DOPPEL_OK);
    assert_int_equal(outcome->kind, DOPPEL_KIND_IMAGE);
    assert_int_equal(outcome->width, 3);
    assert_int_equal(outcome->height, 2);
    assert_int_equal(outcome->quality, 50);
    assert_int_equal(outcome->fingerprint.count, 2);
    assert_int_equal(outcome->fingerprint.codes[0].word[0], code);
    assert_int_equal(outcome->attachment_size, 100);
}

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

static void test_timeout_within_tolerance(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 500);
    submit(pool, "ok 1", 0); /* the start of the process does not count */
    struct doppel_outcome outcome = next(pool);
    doppel_outcome_free(&outcome);
    submit(pool, "slow 200", 1);
    submit(pool, "hang", 2);
    outcome = next(pool);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    doppel_outcome_free(&outcome);
    int64_t begun = now_ms();
    outcome = next(pool);
    int64_t took_ms = now_ms() - begun;
    assert_int_equal(outcome.error.status, DOPPEL_E_TIMEOUT);
    assert_true(took_ms >= 450 && took_ms < 1500);
    doppel_pool_free(pool);
}

static struct doppel_pool *pool_of(uint32_t jobs, uint32_t timeout_ms, bool whole_timeout)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    options.program = FAKE_WORKER;
    options.jobs = jobs;
    options.timeout_ms = timeout_ms;
    options.whole_timeout = whole_timeout;
    assert_int_equal(doppel_pool_new(&options, &pool, NULL), DOPPEL_OK);
    return pool;
}

/* What gets on may take longer than the timeout, unless that is of the whole file. */
static void test_getting_on(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct doppel_pool *pool = pool_of(1, 600, whole);
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

static void test_timeout_of_a_film_in_words(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "took longer than 0.3 s to get on by 10 s of it (--timeout)",
        "took longer than 0.3 s (--timeout)"};
    for (int whole = 0; whole < 2; whole++) {
        struct doppel_pool *pool = pool_of(1, 300, whole);
        int fd = file_of("hang", 4);
        assert_int_equal(submit_file(pool, fd, DOPPEL_SCHEME_FRAMES64, 1), DOPPEL_OK);
        struct doppel_outcome outcome = next(pool);
        assert_string_equal(outcome.error.message, wanted[whole]);
        doppel_outcome_free(&outcome);
        doppel_pool_free(pool);
    }
}

static void test_progress_is_seen(void **state)
{
    (void)state;
    struct doppel_pool *pool = pool_of(2, 0, false);
    struct doppel_outcome outcome;
    assert_int_equal(doppel_pool_progress(pool).expected_ms, 0);
    submit(pool, "steps 8", 1);
    submit(pool, "steps 8", 2);
    uint64_t last_ms = 0, most_ms = 0;
    bool both = false;
    while (doppel_pool_next(pool, 20, &outcome, NULL) == DOPPEL_E_TIMEOUT) {
        struct doppel_progress progress = doppel_pool_progress(pool);
        assert_true(progress.done_ms >= last_ms && progress.done_ms <= progress.expected_ms);
        assert_true(progress.films * UINT64_C(80000) == progress.expected_ms);
        both |= progress.films == 2;
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
    struct doppel_pool *pool = pool_of(1, 0, false);
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
    struct doppel_pool *pool = pool_of(2, 0, false);
    submit(pool, "ok 1", 9); /* both workers live */
    submit(pool, "ok 1", 9);
    for (int i = 0; i < 2; i++) {
        struct doppel_outcome outcome = next(pool);
        doppel_outcome_free(&outcome);
    }
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
    submit(pool, "slow 600", 1);
    int64_t begun = now_ms();
    assert_int_equal(doppel_pool_next(pool, 0, &outcome, NULL), DOPPEL_E_TIMEOUT);
    assert_int_equal(doppel_pool_next(pool, 50, &outcome, NULL), DOPPEL_E_TIMEOUT);
    assert_true(now_ms() - begun >= 49 && now_ms() - begun < 500);
    outcome = next(pool);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    doppel_outcome_free(&outcome);
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
    assert_true(now_ms() - begun < 2000);
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
            assert_int_equal(outcome.error.status, DOPPEL_E_CRASH);
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
    setenv("FAKE_START", how, 1);
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 2, 5000);
    struct doppel_outcome outcome;
    struct doppel_error error = {0};
    submit(pool, "ok 1", 1);
    submit(pool, "ok 2", 2);
    assert_int_equal(doppel_pool_next(pool, 20000, &outcome, &error), DOPPEL_E_IO);
    assert_non_null(strstr(error.message, "before it was ready"));
    assert_int_equal(doppel_pool_next(pool, 20000, &outcome, &error), DOPPEL_E_IO);
    assert_int_equal(doppel_pool_pending(pool), 2);
    doppel_pool_free(pool);
    unsetenv("FAKE_START");
    assert_true(has_no_children());
}

static void test_worker_cannot_start(void **state)
{
    (void)state;
    expect_no_start("crash");
    expect_no_start("exit");
    expect_no_start("garbage");
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

static void test_idle_worker_dies(void **state)
{
    (void)state;
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 5000);
    for (unsigned i = 0; i < 4; i++) {
        submit(pool, "close", i); /* unanswered: its socket ends */
        struct doppel_outcome outcome = next(pool);
        assert_int_equal(outcome.error.status, DOPPEL_E_CRASH);
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

/* Whatever a decoder takes, the worker stays within --max-memory. */
static void test_memory_limit(void **state)
{
    (void)state;
#ifdef ADDRESS_SANITIZER
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

/* A worker has its socket, its bell, the page of its progress, /dev/null twice and the file in
 * hand, whatever is open here. */
static void test_nothing_is_inherited(void **state)
{
    (void)state;
    int open_here = open("/dev/null", O_RDONLY); /* not close-on-exec */
    struct doppel_pool *pool = new_pool(FAKE_WORKER, 1, 5000);
    for (unsigned i = 0; i < 20; i++) {
        submit(pool, i % 2 ? "count" : "ok 1", i);
        struct doppel_outcome outcome = next(pool);
        if (i % 2)
            assert_string_equal(outcome.error.message, "6");
        doppel_outcome_free(&outcome);
    }
    doppel_pool_free(pool);
    close(open_here);
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
    setpgid(0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_file),
        cmocka_unit_test(test_many_files_two_workers),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_getting_on),
        cmocka_unit_test(test_timeout_of_a_film_in_words),
        cmocka_unit_test(test_progress_is_seen),
        cmocka_unit_test(test_progress_of_a_liar),
        cmocka_unit_test(test_nothing_waits_behind_a_slow_file),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_error_sentence),
        cmocka_unit_test(test_all_crash),
        cmocka_unit_test(test_timeout_within_tolerance),
        cmocka_unit_test(test_caller_elsewhere),
        cmocka_unit_test(test_wait_is_bounded),
        cmocka_unit_test(test_heard_without_bell),
        cmocka_unit_test(test_mute),
        cmocka_unit_test(test_answers_outlive_their_worker),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_kill_at_random),
        cmocka_unit_test(test_free_with_work_in_flight),
        cmocka_unit_test(test_descriptors_stay_even),
        cmocka_unit_test(test_program_missing),
        cmocka_unit_test(test_worker_cannot_start),
        cmocka_unit_test(test_signal_ends_the_wait),
        cmocka_unit_test(test_workers_ignore_sigint),
        cmocka_unit_test(test_idle_worker_dies),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_nothing_is_inherited),
        cmocka_unit_test(test_workers_die_with_their_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
