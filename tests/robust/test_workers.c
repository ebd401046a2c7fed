/* Workers that die, a scan that is interrupted, files that change under its hands. */
#include "command.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "core/sanitizer.h"
#include "fire.h"

static void killed_workers_cost_only_their_file(void **state)
{
    (void)state;
    struct fire all = {0};
    for (uint32_t seed = 1; seed <= 4; seed++) {
        struct fire fire = scan_under_fire(seed);
        all.kills += fire.kills;
        all.lost += fire.lost;
    }
    assert_true(all.kills >= 4);
    assert_true(all.lost >= 1); /* else nobody was hit at work, and this showed nothing */
}

/* Start a scan and send it a signal once it has begun to work. */
static struct ran interrupted_scan(int number, unsigned after_ms)
{
    struct running running = command_start(
        NULL, (const char *const[]){"scan", "--json", "-j1", "--cache", "cut.db", "pics", NULL});
    pid_t worker;
    while (workers_of(running.pid, &worker, 1) == 0 && now_seconds() - running.began < 10)
        pause_ms(1);
    pause_ms(after_ms);
    kill(running.pid, number);
    return command_end(&running);
}

/* Without a worker to ask, only the cache can know the first picture. */
static bool first_is_cached(void)
{
    const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};
    struct ran ran = doppel_with(&no_worker, "scan", "--cache", "cut.db", "pics/00-a.jpg");
    bool cached = ran.code == 0;
    ran_free(&ran);
    return cached;
}

static void an_interrupted_scan_goes_on_from_the_cache(void **state)
{
    (void)state;
    char *whole = doppel_prints(0, "scan", "--json", "--no-cache", "pics");
    bool begun = false;
    for (unsigned after_ms = 50; !begun; after_ms *= 2) {
        struct ran cut = interrupted_scan(SIGINT, after_ms);
        assert_code(&cut, 130);
        ran_free(&cut);
        begun = first_is_cached();
    }
    char *again = doppel_prints(0, "scan", "--json", "--cache", "cut.db", "pics");
    assert_string_equal(again, whole);
    free(again);
    free(whole);
}

static void sigterm_ends_it_too(void **state)
{
    (void)state;
    unlink("cut.db");
    struct ran cut = interrupted_scan(SIGTERM, 30);
    assert_code(&cut, 143);
    ran_free(&cut);
}

/* The parent gone, its workers go: they hold a socket that nobody reads. */
static void workers_die_with_their_parent(void **state)
{
    (void)state;
    struct running running =
        command_start(NULL, (const char *const[]){"scan", "--no-cache", "-j2", "pics", NULL});
    pid_t workers[2];
    size_t count = 0;
    while ((count = workers_of(running.pid, workers, 2)) < 2 && now_seconds() - running.began < 10)
        pause_ms(1);
    kill(running.pid, SIGKILL);
    struct ran ran = command_end(&running);
    assert_code(&ran, 128 + SIGKILL);
    ran_free(&ran);
    for (size_t i = 0; i < count; i++) {
        for (int wait = 0; wait < 2000 && kill(workers[i], 0) == 0; wait++)
            pause_ms(1);
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/exe", (int)workers[i]);
        assert_int_not_equal(access(path, R_OK), 0);
    }
}

static void a_closed_pipe_ends_it_quietly(void **state)
{
    (void)state;
    const struct setting closed = {.closed_pipe = true};
    struct ran ran = doppel_with(&closed, "scan", "--json", "pics");
    assert_string_equal(ran.err, "");
    assert_true(ran.code == 128 + SIGPIPE || ran.code == 0);
    ran_free(&ran);
}

static void a_missing_worker_is_said(void **state)
{
    (void)state;
    const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};
    struct ran ran = doppel_with(&no_worker, "scan", "--no-cache", "pics");
    assert_code(&ran, 2);
    assert_has(ran.err, "/nonexistent");
    ran_free(&ran);
    const struct setting wrong = {.environment = {"DOPPEL_WORKER=/bin/true"}};
    ran = doppel_with(&wrong, "scan", "--no-cache", "pics");
    assert_code(&ran, 2);
    ran_free(&ran);
}

/* ---- files that do not hold still ---- */

static void files_vanish(void **state)
{
    (void)state;
    make_folder("fleeting");
    for (unsigned i = 0; i < 40; i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "pics/%02u-a.jpg", i);
        snprintf(to, sizeof to, "fleeting/%02u.jpg", i);
        copy_file(from, to);
    }
    struct running running =
        command_start(NULL, (const char *const[]){"hash", "--json", "-j1", "fleeting", NULL});
    pid_t worker;
    while (workers_of(running.pid, &worker, 1) == 0 && now_seconds() - running.began < 10)
        pause_ms(1);
    for (unsigned i = 40; i-- > 0;) {
        char path[64];
        snprintf(path, sizeof path, "fleeting/%02u.jpg", i);
        unlink(path);
    }
    struct ran ran = command_end(&running);
    unsigned hashed = count_lines(ran.out, ""), lost = count_lines(ran.err, "fleeting/");
    assert_int_equal(hashed + lost, 40);
    assert_code(&ran, lost ? 3 : 0);
    ran_free(&ran);
}

static atomic_bool stop_writing;

/* Writes one picture or half of another over a file, again and again. */
static void *rewrite(void *path)
{
    size_t sizes[2];
    char *images[2] = {read_file("pics/00-a.jpg", &sizes[0]),
                       read_file("pics/01-a.jpg", &sizes[1])};
    for (unsigned turn = 0; !atomic_load(&stop_writing); turn++)
        write_file(path, images[turn % 2], turn % 3 ? sizes[turn % 2] : sizes[turn % 2] / 2);
    free(images[0]);
    free(images[1]);
    return NULL;
}

/* What is read in the middle of a change is reported or hashed; the others are not touched by it.
 */
static void files_change(void **state)
{
    (void)state;
    make_folder("moving");
    copy_file("pics/00-a.jpg", "moving/a.jpg");
    copy_file("pics/01-a.jpg", "moving/b.jpg");
    copy_file("pics/02-a.jpg", "moving/still.jpg");
    pthread_t writers[2];
    atomic_store(&stop_writing, false);
    assert_int_equal(pthread_create(&writers[0], NULL, rewrite, "moving/a.jpg"), 0);
    assert_int_equal(pthread_create(&writers[1], NULL, rewrite, "moving/b.jpg"), 0);
    unsigned answered = 0, still = 0;
    for (int turn = 0; turn < 10; turn++) {
        struct ran ran = doppel("hash", "--json", "moving");
        answered += count_lines(ran.out, "moving/") + count_lines(ran.err, "doppel: moving/");
        still += count_lines(ran.out, "moving/still.jpg");
        ran_free(&ran);
    }
    atomic_store(&stop_writing, true);
    pthread_join(writers[0], NULL);
    pthread_join(writers[1], NULL);
    assert_int_equal(answered, 30);
    assert_int_equal(still, 10);
}

/* A worker that begins when there is a file named "go". */
static void make_late_worker(const char *path)
{
    char script[1024], here[512];
    snprintf(script, sizeof script,
             "#!/bin/sh\nwhile [ ! -e %s/go ]; do sleep 0.01; done\nexec %s-worker\n",
             getcwd(here, sizeof here), DOPPEL_PROGRAM);
    write_file(path, script, strlen(script));
    assert_int_equal(chmod(path, 0755), 0);
}

/* Bytes that came after the digest are not what the digest stands for: neither in the cache nor for
 * a duplicate of the file. */
static void what_changed_is_not_remembered(void **state)
{
    (void)state;
    const struct setting late = {.environment = {"DOPPEL_WORKER=./doppel-worker"}};
    make_late_worker("doppel-worker");
    make_folder("swap");
    copy_file("pics/00-a.jpg", "swap/a.jpg");
    copy_file("pics/00-a.jpg", "swap/b.jpg");
    struct running running = command_start(
        &late, (const char *const[]){"hash", "--json", "-j1", "--cache", "swap.db", "swap", NULL});
    pid_t worker;
    while (workers_of(running.pid, &worker, 1) == 0 && now_seconds() - running.began < 10)
        pause_ms(1);
    pause_ms(100);
    copy_file("pics/01-a.jpg", "swap/a.jpg");
    write_file("go", "", 0);
    struct ran ran = command_end(&running);
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "swap/a.jpg"));
    copy_file("pics/00-a.jpg", "swap/b.jpg");
    char *fresh = doppel_prints(0, "hash", "--json", "--no-cache", "swap/b.jpg");
    char *cached = doppel_prints(0, "hash", "--json", "--cache", "swap.db", "swap/b.jpg");
    assert_string_equal(ran.out, fresh);
    assert_string_equal(cached, fresh);
    free(fresh);
    free(cached);
    ran_free(&ran);
}

/* A worker that tries to write where its parent lies, and says what came of it. */
static void make_prying_worker(const char *path)
{
    char script[1024], here[512];
    snprintf(script, sizeof script,
             "#!/bin/sh\nif (: 3<>/proc/$PPID/mem) 2>/dev/null; then echo open; else echo refused; "
             "fi >%s/seen\nexec %s-worker\n",
             getcwd(here, sizeof here), DOPPEL_PROGRAM);
    write_file(path, script, strlen(script));
    assert_int_equal(chmod(path, 0755), 0);
}

/* Root may do anything, but not without capabilities; whoever runs this gives them up for good. */
static void workers_cannot_write_where_doppel_lies(void **state)
{
    (void)state;
    for (int capability = 0; capability < 64; capability++)
        prctl(PR_CAPBSET_DROP, capability);
    make_prying_worker("prying");
    const struct setting prying = {.environment = {"DOPPEL_WORKER=./prying"}};
    struct ran ran = doppel_with(&prying, "hash", "--no-cache", "pics/00-a.jpg");
    assert_code(&ran, 0);
    ran_free(&ran);
    size_t size;
    char *seen = read_file("seen", &size);
    assert_string_equal(seen, "refused\n");
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_workers_cost_only_their_file),
        cmocka_unit_test(an_interrupted_scan_goes_on_from_the_cache),
        cmocka_unit_test(sigterm_ends_it_too),
        cmocka_unit_test(workers_die_with_their_parent),
        cmocka_unit_test(a_closed_pipe_ends_it_quietly),
        cmocka_unit_test(a_missing_worker_is_said),
        cmocka_unit_test(files_vanish),
        cmocka_unit_test(files_change),
        cmocka_unit_test(what_changed_is_not_remembered),
#ifndef UNDER_SANITIZER /* which looks into its own process */
        cmocka_unit_test(workers_cannot_write_where_doppel_lies),
#endif
    };
    return cmocka_run_group_tests(tests, fire_enter, sandbox_leave);
}
