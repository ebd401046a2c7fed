/* A run that ends early, or loses its files under way, loses nothing that was finished: the next
 * one goes on, and what comes out is as if nothing had happened. */
#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "videos.h"
#include "audio.h"
#include "writer.h"

enum {
    IMAGES = 30,
    TEXTS = 20,
    AUDIO_FILES = 12,
    VIDEOS = 8,
    FILES = IMAGES + TEXTS + AUDIO_FILES + VIDEOS
};

static char paths[FILES][32];
static char *whole; /* what is printed by a scan that is not disturbed */

static void keep_large_image(const char *path, unsigned number)
{
    struct image drawn = draw_image(number / 2 % DRAW_SUBJECTS, number / 2, 320, 240);
    struct image large = edit_shrink(&drawn, 1600, 1200);
    image_free(&drawn);
    keep_image(path, large, number % 2 ? 60 : 92);
}

/* In every folder some of each kind, pairs of copies among them. */
static int leave(void **state)
{
    free(whole);
    return sandbox_leave(state);
}

static int enter(void **state)
{
    static const char *const endings[] = {"jpg", "txt", "wav", "mp4"};
    static const unsigned counts[] = {IMAGES, TEXTS, AUDIO_FILES, VIDEOS};
    unsigned at = 0;
    if (sandbox_enter(state))
        return -1;
    make_folder("none");
    make_folder("all");
    make_folder("all/0");
    make_folder("all/1");
    for (unsigned kind = 0; kind < 4; kind++)
        for (unsigned i = 0; i < counts[kind]; i++, at++) {
            char *path = paths[at];
            snprintf(path, sizeof paths[at], "all/%u/%02u.%s", i % 2, i, endings[kind]);
            if (kind == 0)
                keep_large_image(path, i);
            else if (kind == 1)
                keep_text(path, replace_words(write_words(i / 2, 3000), 40 + i));
            else if (kind == 2)
                keep_wav(path, audio_music(120, i / 2 + 1));
            else
                keep_video(path, (struct video_how){.view.seed = i / 2 + 1, .seconds = 20});
        }
    pause_ms(2100); /* until stamps are believed */
    whole = doppel_prints(0, "scan", "--json", "--no-cache", "all");
    return 0;
}

static const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};

/* Without a worker to ask, only the cache can know files: whether it knows all of a folder, or the
 * one of that path. */
static bool is_cached(const char *beginning)
{
    const char *words[FILES + 4] = {"scan", "--cache", "cut.db"};
    unsigned count = 3;
    for (unsigned i = 0; i < FILES; i++)
        if (strncmp(paths[i], beginning, strlen(beginning)) == 0)
            words[count++] = paths[i];
    struct running running = command_start(&no_worker, words);
    struct ran ran = command_end(&running);
    bool cached = ran.code == 0;
    ran_free(&ran);
    return cached;
}

enum known { NONE, SOME, ALL };

static enum known what_is_cached(void)
{
    if (is_cached("all/"))
        return ALL;
    for (unsigned i = 0; i < FILES; i++)
        if (is_cached(paths[i]))
            return SOME;
    return NONE;
}

static struct ran cut_short(const char *const *words, int number, unsigned after_ms)
{
    struct running running = command_start(NULL, words);
    pid_t worker;
    while (workers_of(running.pid, &worker, 1) == 0 && now_seconds() - running.began < 10)
        pause_ms(1);
    pause_ms(after_ms);
    kill(running.pid, number);
    return command_end(&running);
}

static off_t log_size(void)
{
    struct stat status;
    return stat("cut.db-wal", &status) ? 0 : status.st_size;
}

/* End it some time after the cache was written to, which is once a second: the worker is held up
 * for so long, with most files before it. */
static struct ran cut_after_a_write(const char *const *words, int number, unsigned after_ms)
{
    struct running running = command_start(NULL, words);
    pid_t worker;
    while (workers_of(running.pid, &worker, 1) == 0 && now_seconds() - running.began < 60)
        pause_ms(1);
    pause_ms(50);
    kill(worker, SIGSTOP);
    pause_ms(1100);
    off_t before = log_size();
    kill(worker, SIGCONT);
    while (log_size() <= before && workers_of(running.pid, &worker, 1) != 0)
        pause_ms(1);
    pause_ms(after_ms);
    kill(running.pid, number);
    return command_end(&running);
}

static void forget_cache(void)
{
    unlink("cut.db");
    unlink("cut.db-wal");
    unlink("cut.db-shm");
}

static void a_scan_goes_on_after(int number)
{
    static const char *const words[] = {"scan", "--json", "-j1", "--cache", "cut.db", "all", NULL};
    enum known cached = NONE;
    for (unsigned tries = 0; tries < 12 && cached != SOME; tries++) {
        forget_cache();
        free(doppel_prints(0, "scan", "--cache", "cut.db", "none")); /* the tables are there */
        struct ran cut = cut_after_a_write(words, number, tries % 4 * 30);
        assert_true(cut.code == (number == SIGKILL ? 128 + SIGKILL : 130) || cut.code == 0);
        ran_free(&cut);
        cached = what_is_cached();
    }
    assert_int_equal(cached, SOME);
    char *again = doppel_prints(0, "scan", "--json", "--cache", "cut.db", "all");
    assert_string_equal(again, whole);
    assert_int_equal(what_is_cached(), ALL);
    struct ran known = doppel_with(&no_worker, "scan", "--json", "--cache", "cut.db", "all");
    assert_code(&known, 0);
    assert_string_equal(known.out, whole);
    ran_free(&known);
    free(again);
}

static void scan_goes_on_after_kill(void **state)
{
    (void)state;
    a_scan_goes_on_after(SIGKILL);
}

static void scan_goes_on_after_interrupt(void **state)
{
    (void)state;
    a_scan_goes_on_after(SIGINT);
}

static unsigned count_items(void)
{
    struct ran ran = doppel("list", "-L", "library", "--json");
    unsigned count = ran.code == 0 ? count_lines(ran.out, "") : 0;
    ran_free(&ran);
    return count;
}

/* What was added is there, and is not read again: not even the cache is there any more. */
static void add_goes_on_after(int number)
{
    static const char *const words[] = {"add",     "-j1",    "-L",  "library",
                                        "--cache", "cut.db", "all", NULL};
    unsigned items = 0;
    forget_cache();
    assert_int_equal(system("rm -rf library"), 0);
    for (unsigned after_ms = 100; items == 0; after_ms += after_ms / 2) {
        struct ran cut = cut_short(words, number, after_ms);
        assert_code(&cut, number == SIGKILL ? 128 + SIGKILL : 130);
        if (number == SIGINT)
            assert_has(cut.err, "doppel: interrupted");
        if (number == SIGINT)
            assert_has(cut.err, "; what was done is kept\n");
        ran_free(&cut);
        items = count_items();
    }
    assert_true(items < FILES); /* it did not end before */
    char *rest = doppel_prints(0, "add", "-L", "library", "--no-cache", "--json", "all");
    assert_int_equal(count_lines(rest, "\"unchanged\""), items);
    assert_int_equal(count_lines(rest, "\"new\""), FILES - items);
    free(rest);
    assert_int_equal(count_items(), FILES);
    struct ran known =
        doppel_with(&no_worker, "add", "-L", "library", "--no-cache", "--json", "all");
    assert_code(&known, 0);
    ran_free(&known);
}

static void add_goes_on_after_kill(void **state)
{
    (void)state;
    add_goes_on_after(SIGKILL);
}

static void add_goes_on_after_interrupt(void **state)
{
    (void)state;
    add_goes_on_after(SIGINT);
}

/* A folder is not there any more in the middle of a scan: its files are told, the others are
 * finished, and when it is back the rest follows. */
static void a_lost_drive_costs_its_files(void **state)
{
    (void)state;
    static const char *const words[] = {"scan", "--json", "-j1", "--cache", "cut.db", "all", NULL};
    bool lost = false;
    for (unsigned after_ms = 400; !lost; after_ms /= 2) {
        assert_true(after_ms > 0);
        forget_cache();
        struct running running = command_start(NULL, words);
        pid_t worker;
        while (workers_of(running.pid, &worker, 1) == 0 && now_seconds() - running.began < 10)
            pause_ms(1);
        pause_ms(after_ms);
        assert_int_equal(rename("all/1", "away"), 0);
        struct ran ran = command_end(&running);
        lost = ran.code == 3;
        if (lost)
            assert_has(ran.err, "doppel: all/1");
        assert_lacks(ran.err, "doppel: all/0/");
        assert_int_equal(rename("away", "all/1"), 0);
        ran_free(&ran);
    }
    assert_true(is_cached("all/0/"));
    char *again = doppel_prints(0, "scan", "--json", "--cache", "cut.db", "all");
    assert_string_equal(again, whole);
    free(again);
}

/* Of whatever kind, by its bytes. */
static void renamed_and_copied_files_are_known(void **state)
{
    (void)state;
    forget_cache();
    assert_int_equal(system("rm -rf library other; cp -r all other"), 0);
    free(doppel_prints(0, "add", "-L", "library", "--cache", "cut.db", "other"));
    assert_int_equal(rename("other/0", "other/zero"), 0);
    copy_file("other/1/01.jpg", "other/copy.jpg");
    copy_file("other/1/01.txt", "other/copy.txt");
    copy_file("other/1/01.wav", "other/copy.wav");
    copy_file("other/1/01.mp4", "other/copy.mp4");
    struct ran ran =
        doppel_with(&no_worker, "add", "-L", "library", "--cache", "cut.db", "--json", "other");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "\"moved\""), FILES / 2);
    assert_int_equal(count_lines(ran.out, "\"new\""), 4);
    ran_free(&ran);
    ran = doppel_with(&no_worker, "scan", "--cache", "cut.db", "other");
    assert_code(&ran, 0);
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_goes_on_after_kill),
        cmocka_unit_test(scan_goes_on_after_interrupt),
        cmocka_unit_test(add_goes_on_after_kill),
        cmocka_unit_test(add_goes_on_after_interrupt),
        cmocka_unit_test(a_lost_drive_costs_its_files),
        cmocka_unit_test(renamed_and_copied_files_are_known),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
