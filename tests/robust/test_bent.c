/* Workers whose answers are well formed and wrong: a file is lost at most, and the next run, with
 * honest workers and the same cache, is as if nothing had been. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audio.h"
#include "collection.h"
#include "writer.h"
#include "videos.h"

enum { RUNS = 100 };

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
    return 0;
}

static struct ran scan(const char *worker, int seed, bool again)
{
    char program[512];
    snprintf(program, sizeof program, "#!/bin/sh\nBENT_SEED=%d exec %s\n", seed, worker);
    write_file("worker", program, strlen(program)); /* which has none of our variables */
    assert_int_equal(chmod("worker", 0755), 0);
    const struct setting setting = {.environment = {"DOPPEL_WORKER=./worker"}};
    const char *words[] = {"scan", "--json", "--cache", "bent.db", "all", again ? "--retry" : NULL,
                           NULL};
    struct running running = command_start(&setting, words);
    return command_end(&running);
}

static void what_bent_workers_answer_is_forgotten(void **state)
{
    (void)state;
    int lost = 0;
    for (int i = 0; i < RUNS; i++) {
        struct ran bent = scan(BENT_WORKER, i, false);
        assert_true(bent.code == 0 || bent.code == 3);
        lost += bent.code == 3;
        ran_free(&bent);
        struct ran honest = scan(HONEST_WORKER, i, true);
        assert_code(&honest, 0);
        ran_free(&honest);
        if (i % 2) /* so the next begins with what this one left, or with nothing */
            remove("bent.db");
    }
    assert_true(lost > RUNS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_bent_workers_answer_is_forgotten, make_files,
                                        sandbox_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
