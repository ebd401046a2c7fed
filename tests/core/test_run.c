/* A run: what is counted, who is told, when it ends; from several threads, and two at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/run_kept.h"

enum { THREADS = 4, TIMES = 2000 };

struct listener {
    struct doppel_run *run;
    atomic_int inside;
    bool overlapped, stops, answers;
    uint64_t notices, details, failures, shown;
    char path[32], text[600];
    struct doppel_run_progress progress;
};

static void enter(struct listener *listener)
{
    listener->overlapped |= atomic_fetch_add(&listener->inside, 1) > 0;
}

static void leave(struct listener *listener)
{
    atomic_fetch_sub(&listener->inside, 1);
}

static void keep_text(struct listener *listener, const char *path, const char *text)
{
    snprintf(listener->path, sizeof listener->path, "%s", path ? path : "-");
    snprintf(listener->text, sizeof listener->text, "%s", text);
}

static void on_notice(void *context, enum doppel_notice level, const char *path, const char *text)
{
    struct listener *listener = context;
    enter(listener);
    listener->notices += level == DOPPEL_NOTICE;
    listener->details += level == DOPPEL_NOTICE_DETAIL;
    keep_text(listener, path, text);
    leave(listener);
}

static void on_failed(void *context, const char *path, const struct doppel_error *reason)
{
    struct listener *listener = context;
    enter(listener);
    listener->failures++;
    keep_text(listener, path, reason->message);
    leave(listener);
    if (listener->answers)
        doppel_run_notice(listener->run, "%s is left out", path);
}

static void on_progress(void *context, const struct doppel_run_progress *progress)
{
    struct listener *listener = context;
    enter(listener);
    listener->shown++;
    listener->progress = *progress;
    leave(listener);
}

static bool is_stopped(void *context)
{
    const struct listener *listener = context;
    return listener->stops;
}

static void listen_to(struct listener *listener)
{
    struct doppel_run_options options = doppel_run_options_default();
    *listener = (struct listener){0};
    options.cancelled = is_stopped;
    options.on_notice = on_notice;
    options.on_failed = on_failed;
    options.on_progress = on_progress;
    options.context = listener;
    assert_int_equal(doppel_run_new(&options, &listener->run, NULL), DOPPEL_OK);
}

static void a_run_needs_no_options(void **state)
{
    (void)state;
    struct doppel_run *run;
    assert_int_equal(doppel_run_new(NULL, &run, NULL), DOPPEL_OK);
    assert_int_equal(doppel_run_get_options(run)->limits.timeout_ms, 60000);
    assert_int_equal(doppel_run_jobs(run), sysconf(_SC_NPROCESSORS_ONLN));
    assert_false(doppel_run_cancelled(run));
    assert_false(doppel_run_shows_progress(run));
    doppel_run_fail_input(run, "x", "it is gone");
    doppel_run_notice(run, "nobody listens");
    doppel_run_begin(run, "files", 3);
    doppel_run_end(run);
    assert_int_equal(doppel_run_failures(run), 1);
    doppel_run_free(run);
    doppel_run_free(NULL);
}

static void options_are_copied(void **state)
{
    (void)state;
    char cache[] = "/a/cache", temporary[] = "/a/folder";
    struct doppel_run_options options = {.jobs = 7, .cache = cache, .temporary = temporary};
    struct doppel_run *run;
    assert_int_equal(doppel_run_new(&options, &run, NULL), DOPPEL_OK);
    memset(cache, 'x', sizeof cache - 1);
    memset(temporary, 'x', sizeof temporary - 1);
    assert_string_equal(doppel_run_get_options(run)->cache, "/a/cache");
    assert_string_equal(doppel_run_get_options(run)->temporary, "/a/folder");
    assert_int_equal(doppel_run_jobs(run), 7);
    doppel_run_free(run);
}

static void what_happens_is_told(void **state)
{
    (void)state;
    struct listener listener;
    listen_to(&listener);
    doppel_run_fail_input(listener.run, "a.jpg", "it is damaged");
    assert_string_equal(listener.path, "a.jpg");
    assert_string_equal(listener.text, "it is damaged");
    doppel_run_notice(listener.run, "%d of %d", 1, 2);
    assert_string_equal(listener.path, "-");
    assert_string_equal(listener.text, "1 of 2");
    doppel_run_detail(listener.run, "b.jpg", "skipped");
    assert_int_equal(listener.details, 0); /* they are not wanted */
    doppel_run_begin(listener.run, "pairs", 10);
    assert_true(listener.progress.begins);
    doppel_run_set_total(listener.run, 20);
    doppel_run_advance(listener.run, 5);
    assert_false(listener.progress.begins);
    assert_string_equal(listener.progress.unit, "pairs");
    assert_int_equal(listener.progress.done, 5);
    assert_int_equal(listener.progress.total, 20);
    doppel_run_end(listener.run);
    assert_true(listener.progress.ends);
    doppel_run_free(listener.run);
}

static void a_run_is_cancelled_by_either(void **state)
{
    (void)state;
    struct listener listener;
    listen_to(&listener);
    assert_false(doppel_run_cancelled(listener.run));
    listener.stops = true;
    assert_true(doppel_run_cancelled(listener.run));
    listener.stops = false;
    assert_false(doppel_run_cancelled(listener.run));
    doppel_run_cancel(listener.run);
    assert_true(doppel_run_cancelled(listener.run));
    doppel_run_free(listener.run);
}

static void a_callback_may_use_its_run(void **state)
{
    (void)state;
    struct listener listener;
    listen_to(&listener);
    listener.answers = true;
    doppel_run_fail_input(listener.run, "a.jpg", "it is damaged");
    assert_int_equal(listener.notices, 1);
    assert_string_equal(listener.text, "a.jpg is left out");
    doppel_run_free(listener.run);
}

static void *use_much(void *context)
{
    struct doppel_run *run = context;
    for (int i = 0; i < TIMES; i++) {
        doppel_run_fail_input(run, "x", "it is gone");
        doppel_run_notice(run, "%d", i);
        doppel_run_set_total(run, TIMES);
        doppel_run_advance(run, (uint64_t)i);
    }
    return NULL;
}

/* Half of the threads have one run, half the other. */
static void runs_are_strangers_and_callbacks_wait(void **state)
{
    (void)state;
    struct listener listeners[2];
    pthread_t threads[THREADS];
    for (int i = 0; i < 2; i++)
        listen_to(&listeners[i]);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_much, listeners[i % 2].run), 0);
    doppel_run_cancel(listeners[0].run);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(doppel_run_cancelled(listeners[0].run));
    assert_false(doppel_run_cancelled(listeners[1].run));
    for (int i = 0; i < 2; i++) {
        assert_false(listeners[i].overlapped);
        assert_int_equal(listeners[i].failures, THREADS / 2 * TIMES);
        assert_int_equal(listeners[i].notices, THREADS / 2 * TIMES);
        assert_int_equal(listeners[i].shown, THREADS / 2 * TIMES);
        assert_int_equal(doppel_run_failures(listeners[i].run), THREADS / 2 * TIMES);
        doppel_run_free(listeners[i].run);
    }
}

static void count_end(void *thing)
{
    ++*(int *)thing;
}

/* What is left with a run is one caller's at a time, and ends once: with the run, or at once where
 * there is enough of it. */
static void what_is_kept_is_taken_or_ends(void **state)
{
    (void)state;
    enum { THINGS = 20 };
    int ends[THINGS] = {0}, other = 0;
    struct doppel_run *run;
    assert_int_equal(doppel_run_new(NULL, &run, NULL), DOPPEL_OK);
    assert_null(run_take_kept(run, RUN_POOL));
    run_keep(run, RUN_CACHE, &other, count_end);
    assert_null(run_take_kept(run, RUN_POOL));
    run_keep(run, RUN_POOL, &ends[0], count_end);
    assert_ptr_equal(run_take_kept(run, RUN_POOL), &ends[0]);
    assert_null(run_take_kept(run, RUN_POOL));
    int ended = 0;
    for (int i = 0; i < THINGS; i++)
        run_keep(run, RUN_POOL, &ends[i], count_end);
    for (int i = 0; i < THINGS; i++)
        ended += ends[i];
    assert_in_range(ended, 1, THINGS - 1);
    doppel_run_free(run);
    for (int i = 0; i < THINGS; i++)
        assert_int_equal(ends[i], 1);
    assert_int_equal(other, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_needs_no_options),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(what_happens_is_told),
        cmocka_unit_test(a_run_is_cancelled_by_either),
        cmocka_unit_test(a_callback_may_use_its_run),
        cmocka_unit_test(runs_are_strangers_and_callbacks_wait),
        cmocka_unit_test(what_is_kept_is_taken_or_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
