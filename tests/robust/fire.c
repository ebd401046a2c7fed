/* Kills workers in the middle of a scan, and counts what that cost. */
#include "fire.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "command.h"

static void picture_path(char *out, size_t size, unsigned pair, char copy)
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
        struct picture drawn = draw_picture(subject_of(pair), pair, 320, 240);
        struct picture large = edit_shrink(&drawn, 1280, 960);
        picture_free(&drawn);
        picture_path(path, sizeof path, pair, 'a');
        if (!large.pixels || !write_jpeg(path, &large, 92))
            return -1;
        picture_path(path, sizeof path, pair, 'b');
        keep_picture(path, large, 75);
    }
    return 0;
}

/* Kill a worker now and then until the scan has ended. @return kills */
static unsigned shoot(struct running *running, uint32_t seed, struct ran *out)
{
    uint32_t random = seed * 2654435761u + 1;
    unsigned kills = 0;
    while (!command_ended(running, out)) {
        pid_t workers[8];
        size_t count = workers_of(running->pid, workers, 8);
        if (count)
            kills += kill(workers[next_random(&random) % count], SIGKILL) == 0;
        pause_ms(10 + next_random(&random) % 80);
        if (now_seconds() - running->began > RUN_SECONDS)
            fail_msg("doppel hangs when its workers are killed");
    }
    return kills;
}

struct fire scan_under_fire(uint32_t seed)
{
    struct fire fire = {0};
    struct ran ran;
    struct running running = command_start(
        NULL, (const char *const[]){"scan", "--json", "--no-cache", "-j2", "pics", NULL});
    fire.kills = shoot(&running, seed, &ran);
    for (unsigned pair = 0; pair < FIRE_PAIRS; pair++) {
        char a[32], b[32];
        picture_path(a, sizeof a, pair, 'a');
        picture_path(b, sizeof b, pair, 'b');
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
