/* Workers whose answers are wrong: a file is lost at most, and named; the next run, with honest
 * workers, the same cache and the same library, is as if nothing had been. With a number, so many
 * runs. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audio.h"
#include "collection.h"
#include "videos.h"
#include "writer.h"

static int runs = 100;

static const char *const names[] = {"a.wav", "b.wav", "c.txt", "d.txt", "e.jpg", "f.mp4", "g.png"};
enum { FILES = sizeof names / sizeof *names };

static int make_files(void **state)
{
    if (sandbox_enter(state))
        return -1;
    make_folder("all");
    keep_wav("all/a.wav", audio_music(12, 1));
    keep_wav("all/b.wav", audio_music(12, 1));
    keep_text("all/c.txt", write_words(1, 300));
    keep_text("all/d.txt", write_words(2, 300));
    keep_image("all/e.jpg", draw_image(1, 1, 320, 240), 90);
    keep_video_and_audio("all/f.mp4", (struct video_how){.view.seed = 1, .seconds = 5},
                         audio_music(5, 3));
    keep_image("all/g.png", draw_image(1, 1, 160, 120), 0);
    return 0;
}

/* Workers have none of our variables. */
static void write_worker(const char *worker, int seed)
{
    char program[512];
    snprintf(program, sizeof program, "#!/bin/sh\nBENT_SEED=%d exec %s\n", seed, worker);
    write_file("worker", program, strlen(program));
    assert_int_equal(chmod("worker", 0755), 0);
}

/* Words of each verb, but for the cache and '--retry'. */
static const char *const verbs[][6] = {
    {"scan", "--json", "all"},
    {"add", "-L", "library", "all"},
    {"ingest", "--json", "-L", "library", "all"},
    {"report", "-o", "page.html", "all"},
};
enum verb { SCAN, ADD, INGEST, REPORT, VERBS };

static struct ran run_verb(enum verb verb, bool again)
{
    static const struct setting setting = {.environment = {"DOPPEL_WORKER=./worker"}};
    const char *words[12] = {NULL};
    size_t count = 0;
    for (; verbs[verb][count]; count++)
        words[count] = verbs[verb][count];
    words[count++] = "--cache=bent.db";
    if (again)
        words[count] = "--retry";
    return command_run(&setting, words);
}

static bool is_named(const char *text, const char *name)
{
    char path[32];
    snprintf(path, sizeof path, "all/%s", name);
    return strstr(text, path) != NULL;
}

/* Each file is answered or named. */
static void expect_all_told(enum verb verb, const struct ran *ran)
{
    char *list = verb == ADD ? doppel_prints(0, "list", "--json", "-L", "library") : NULL;
    for (size_t i = 0; i < FILES; i++)
        if (verb == INGEST)
            assert_true(is_named(ran->out, names[i]));
        else if (verb == ADD && !is_named(list, names[i]) && !is_named(ran->err, names[i]))
            fail_msg("%s is neither added nor named: %s", names[i], ran->err);
    if (verb == INGEST)
        assert_int_equal(count_lines(ran->out, ""), FILES);
    if (verb == REPORT)
        assert_int_equal(access("page.html", R_OK), 0);
    free(list);
}

/* What honest workers make of what bent ones left. */
static void expect_clean(enum verb verb)
{
    write_worker(HONEST_WORKER, 0);
    struct ran honest = run_verb(verb, true);
    assert_code(&honest, 0);
    expect_all_told(verb, &honest);
    assert_lacks(honest.out, "unreadable");
    ran_free(&honest);
    if (verb == ADD || verb == INGEST)
        free(doppel_prints(0, "verify", "-L", "library"));
}

static void what_bent_workers_answer_is_forgotten(void **state)
{
    (void)state;
    int lost = 0;
    for (int i = 0; i < runs; i++) {
        enum verb verb = (enum verb)(i % VERBS);
        write_worker(BENT_WORKER, i);
        struct ran bent = run_verb(verb, false);
        if (bent.code != 0 && bent.code != 3)
            fail_msg("%s, seed %d: %d: %s", verbs[verb][0], i, bent.code, bent.err);
        expect_all_told(verb, &bent);
        lost += bent.code == 3;
        ran_free(&bent);
        expect_clean(verb);
        if (i / VERBS % 2) /* so the next begins with what these left, or with nothing */
            assert_int_equal(system("rm -rf bent.db* library page.html"), 0);
    }
    print_message("%d of %d runs lost a file\n", lost, runs);
    assert_true(lost > runs / 4);
}

/* A worker that one file took over has others thrown away, it says. What goes without a comparison
 * byte by byte is read again by workers that see nothing else. */
static void no_file_speaks_for_another(void **state)
{
    (void)state;
    static const struct setting lied_to = {.environment = {"DOPPEL_WORKER=./worker"}};
    make_folder("pics");
    keep_image("pics/1-hostile.jpg", draw_image(1, 1, 320, 240), 90);
    keep_image("pics/2.jpg", draw_image(2, 1, 320, 240), 90);
    keep_image("pics/3.jpg", draw_image(3, 1, 320, 240), 90);
    keep_image("pics/4-like-3.jpg", draw_image(3, 1, 320, 240), 60);
    write_worker(LIAR_WORKER, 0);
    struct ran ran = doppel_with(&lied_to, "scan", "-j1", "pics", "--reason", "near,same-content",
                                 "--action", "move-to", "--to", "away", "--yes", "--json");
    assert_code(&ran, 3);
    assert_int_equal(count_lines(ran.err, "read once more, it is no duplicate"), 3);
    assert_int_equal(access("away", F_OK), -1);
    ran_free(&ran);
    write_worker(HONEST_WORKER, 0); /* the cache has learned better */
    ran = doppel_with(&lied_to, "scan", "pics", "--reason", "near,same-content", "--action",
                      "move-to", "--to", "away", "--yes", "--json");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "\"done\":true"), 1);
    assert_has(ran.out, "4-like-3.jpg");
    ran_free(&ran);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_bent_workers_answer_is_forgotten, make_files,
                                        sandbox_leave),
        IN_SANDBOX(no_file_speaks_for_another),
    };
    if (argument_count > 1)
        runs = atoi(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
