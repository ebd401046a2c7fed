/* The flag that signals set, as another thread sees it (`verify` has one that watches). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "tools/signals.h"

static void *watch(void *context)
{
    (void)context;
    while (!signals_stopped())
        sched_yield();
    return NULL;
}

static void test_another_thread_sees_it(void **state)
{
    (void)state;
    pthread_t thread;
    signals_install();
    assert_int_equal(signals_exit_code(), 0);
    assert_int_equal(pthread_create(&thread, NULL, watch, NULL), 0);
    raise(SIGTERM);
    assert_int_equal(pthread_join(thread, NULL), 0);
    signals_closed_pipe(); /* comes too late */
    assert_true(signals_interrupted());
    assert_int_equal(signals_exit_code(), 128 + SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_another_thread_sees_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
