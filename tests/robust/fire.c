/* Kills workers in the middle of a scan, and counts what that cost. */
#include "fire.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "command.h"

static void image_path(char *out, size_t size, unsigned pair, char copy)
{
    snprintf(out, size, "pics/%02u-%c.jpg", pair, copy);
}

/* All but the sixth, of which some seeds are too dark to be told from others. */
static unsigned subject_of(unsigned pair)
{
    unsigned subject = pair % (DRAW_SUBJECTS - 1);
    return subject < 6 ? subject : subject + 1;
}

int fire_enter(void **state)
{
    if (sandbox_enter(state))
        return -1;
    make_folder("pics");
    for (unsigned pair = 0; pair < FIRE_PAIRS; pair++) {
        char path[32];
        struct image drawn = draw_image(subject_of(pair), pair, 320, 240);
        struct image large = edit_shrink(&drawn, 1280, 960);
        image_free(&drawn);
        image_path(path, sizeof path, pair, 'a');
        if (!large.pixels || !write_jpeg(path, &large, 92))
            return -1;
        image_path(path, sizeof path, pair, 'b');
        keep_image(path, large, 75);
    }
    return 0;
}

/* How long it takes here and now to start a worker and have one file from it. */
static double starting_seconds(void)
{
    struct ran ran = doppel("scan", "--no-cache", "-j1", "pics/00-a.jpg");
    assert_code(&ran, 0);
    double seconds = ran.seconds;
    ran_free(&ran);
    return seconds;
}

enum { MAX_TARGETS = 4096 };

/* Workers that were seen, and when each is to die. */
struct targets {
    pid_t pids[MAX_TARGETS];
    double ends[MAX_TARGETS];
    size_t count;
};

/* Of a worker that is new to us, `life` from now. */
static double *end_of(struct targets *targets, pid_t pid, double life)
{
    for (size_t i = 0; i < targets->count; i++)
        if (targets->pids[i] == pid)
            return &targets->ends[i];
    assert_true(targets->count < MAX_TARGETS);
    targets->pids[targets->count] = pid;
    targets->ends[targets->count] = now_seconds() + life;
    return &targets->ends[targets->count++];
}

/* Every worker gets a random time to live, from half to three times what starting takes: some die
 * before they are ready, most at work. The times grow, so that a machine that gets busier does not
 * kill them all too early. @return kills */
static unsigned shoot(uint32_t seed, struct ran *out)
{
    static struct targets targets;
    uint32_t random = seed * 2654435761u + 1;
    double start = starting_seconds();
    unsigned kills = 0;
    targets.count = 0;
    struct running running =
        command_start(NULL, (const char *const[]){"scan", "--json", "--no-cache", "--check=none",
                                                  "-j2", "pics", NULL});
    while (!command_ended(&running, out)) {
        pid_t workers[8];
        size_t count = workers_of(running.pid, workers, 8);
        for (size_t i = 0; i < count; i++) {
            double life = start * (0.5 + next_random(&random) % 1000 / 400.0);
            double *end = end_of(&targets, workers[i], life);
            if (now_seconds() >= *end && kill(workers[i], SIGKILL) == 0) {
                *end = HUGE_VAL; /* once */
                start *= 1.1;
                kills++;
            }
        }
        pause_ms(2);
        if (now_seconds() - running.began > RUN_SECONDS)
            fail_msg("doppel hangs when its workers are killed");
    }
    return kills;
}

struct fire scan_under_fire(uint32_t seed)
{
    struct fire fire = {0};
    struct ran ran;
    fire.kills = shoot(seed, &ran);
    for (unsigned pair = 0; pair < FIRE_PAIRS; pair++) {
        char a[32], b[32];
        image_path(a, sizeof a, pair, 'a');
        image_path(b, sizeof b, pair, 'b');
        unsigned lost = reported(ran.err, a) + reported(ran.err, b);
        fire.lost += lost;
        if (!lost != (strstr(ran.out, a) && strstr(ran.out, b)))
            fail_msg("pair %u: %u reported, %s\n%s", pair, lost,
                     strstr(ran.out, a) ? "found" : "not found", ran.err);
    }
    assert_code(&ran, fire.lost ? 3 : 0);
    assert_true(fire.lost <= fire.kills);
    ran_free(&ran);
    return fire;
}
