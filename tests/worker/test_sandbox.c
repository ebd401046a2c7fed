/* Least privilege: whatever a decoder that was taken over tries, it does not get through; what it
 * may is enough to decode, and the pool says what ended it. */
#include "helper.h"

#include "captive.h"
#include "core/sanitizer.h"

static const char *const names[] = {
#define QUOTED(name) #name,
    CAPTIVE_ATTEMPTS(QUOTED)
#undef QUOTED
};
enum { ATTEMPTS = sizeof names / sizeof *names };

static struct doppel_pool *captive_pool(enum doppel_sandbox sandbox)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    struct doppel_error error = {0};
    options.program = CAPTIVE;
    options.jobs = 1;
    options.sandbox = sandbox;
    if (doppel_pool_new(&options, &pool, &error))
        fail_msg("%s", error.message);
    return pool;
}

static struct doppel_confinement held_by(const char *program, enum doppel_sandbox sandbox)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_confinement held = {0};
    struct doppel_error error = {0};
    options.program = program;
    options.sandbox = sandbox;
    if (doppel_worker_examine(&options, &held, &error))
        fail_msg("%s", error.message);
    return held;
}

/* Whether this kernel, and this build, have all that stops the attempts. */
static bool can_hold(void)
{
#ifdef UNDER_SANITIZER
    print_message("a sanitizer's workers are held less: its reports need files and processes\n");
    return false;
#else
    struct doppel_confinement held = held_by(CAPTIVE, DOPPEL_SANDBOX_AUTO);
    if (!held.calls || !held.files)
        print_message("not tested: this kernel has no %s\n", held.calls ? "Landlock" : "seccomp");
    return held.calls && held.files;
#endif
}

static struct doppel_outcome try_number(struct doppel_pool *pool, size_t number)
{
    char word[32];
    snprintf(word, sizeof word, "%zu", number);
    submit(pool, word, number);
    return next(pool);
}

static void test_nothing_gets_through(void **state)
{
    (void)state;
    size_t ended = 0, refused = 0;
    if (!can_hold())
        skip();
    struct doppel_pool *pool = captive_pool(DOPPEL_SANDBOX_AUTO);
    for (size_t i = 0; i < ATTEMPTS; i++) {
        struct doppel_outcome outcome = try_number(pool, i);
        bool by_signal = outcome.error.status == DOPPEL_E_CRASH;
        if (by_signal && !strstr(outcome.error.message, "was stopped: it asked for"))
            fail_msg("%s: %s", names[i], outcome.error.message);
        if (!by_signal && outcome.error.status != DOPPEL_E_UNSUPPORTED)
            fail_msg("%s: %s", names[i], outcome.error.message);
        ended += by_signal;
        refused += !by_signal;
        print_message("%-20s %s\n", names[i], outcome.error.message);
        doppel_outcome_free(&outcome);
    }
    print_message("%d attempts: %zu ended the worker, %zu were refused, none got through\n",
                  ATTEMPTS, ended, refused);
    assert_true(ended >= 60);
    doppel_pool_free(pool);
}

/* The attempts are real: held by nothing, many get through. */
static void test_without_it_they_would(void **state)
{
    (void)state;
    static const char *const harmless[] = {"open", "stat", "fork", "socket_unix", "map_code"};
    size_t through = 0;
#ifndef __x86_64__
    skip();
#endif
    struct doppel_pool *pool = captive_pool(DOPPEL_SANDBOX_NONE);
    for (size_t i = 0; i < ATTEMPTS; i++)
        for (size_t j = 0; j < sizeof harmless / sizeof *harmless; j++)
            if (strcmp(names[i], harmless[j]) == 0) {
                struct doppel_outcome outcome = try_number(pool, i);
                assert_int_equal(outcome.error.status, DOPPEL_E_CORRUPT);
                assert_non_null(strstr(outcome.error.message, "got through"));
                through++;
                doppel_outcome_free(&outcome);
            }
    assert_int_equal(through, sizeof harmless / sizeof *harmless);
    doppel_pool_free(pool);
}

static void test_a_call_is_named(void **state)
{
    (void)state;
    if (!can_hold())
        skip();
    struct doppel_pool *pool = captive_pool(DOPPEL_SANDBOX_AUTO);
    for (size_t i = 0; i < ATTEMPTS; i++)
        if (strcmp(names[i], "socket_tcp") == 0) {
            struct doppel_outcome outcome = try_number(pool, i);
            assert_int_equal(outcome.error.status, DOPPEL_E_CRASH);
            assert_string_equal(outcome.error.message,
                                "the decoder was stopped: it asked for the system call 'socket', "
                                "which decoding does not need (signal 31)");
            doppel_outcome_free(&outcome);
        }
    doppel_pool_free(pool);
}

/* The true program is held as the captive is, and says so; and by nothing where that is wanted. */
static void test_the_worker_says_what_holds_it(void **state)
{
    (void)state;
    struct doppel_confinement captive = held_by(CAPTIVE, DOPPEL_SANDBOX_AUTO);
    struct doppel_confinement worker = held_by(WORKER, DOPPEL_SANDBOX_AUTO);
    assert_int_equal(worker.landlock_abi, captive.landlock_abi);
    assert_true(worker.no_new_privileges);
    assert_int_equal(worker.files, worker.landlock_abi >= 1);
    assert_int_equal(worker.network, worker.landlock_abi >= 4);
    assert_int_equal(worker.scopes, worker.landlock_abi >= 6);
    assert_int_equal(worker.calls, captive.calls);
    assert_non_null(strstr(worker.libraries, "libpng 1."));
    worker = held_by(WORKER, DOPPEL_SANDBOX_NONE);
    assert_false(worker.no_new_privileges || worker.files || worker.network || worker.scopes ||
                 worker.calls);
}

/* As the kernel tells of a worker that waits. */
static void test_the_kernel_agrees(void **state)
{
    (void)state;
    struct doppel_confinement held = held_by(WORKER, DOPPEL_SANDBOX_AUTO);
    struct doppel_pool *pool = true_pool(0);
    struct doppel_outcome outcome;
    submit(pool, "no picture", 1);
    outcome = next(pool);
    doppel_outcome_free(&outcome);
    assert_int_equal(status_of(first_child(), "NoNewPrivs:"), 1);
    assert_int_equal(status_of(first_child(), "Seccomp:"), held.calls ? 2 : 0);
    doppel_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_gets_through),
        cmocka_unit_test(test_without_it_they_would),
        cmocka_unit_test(test_a_call_is_named),
        cmocka_unit_test(test_the_worker_says_what_holds_it),
        cmocka_unit_test(test_the_kernel_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
