/* Hundreds of scans whose workers are killed at random: kills [SCANS [SEED]]. */
#include "command.h"

#include <stdlib.h>

#include "fire.h"

static unsigned scans = 200, seed = 1;

static void kills(void **state)
{
    (void)state;
    struct fire all = {0};
    double began = now_seconds();
    for (unsigned i = 0; i < scans; i++) {
        struct fire fire = scan_under_fire(seed + i);
        all.kills += fire.kills;
        all.lost += fire.lost;
    }
    print_message("| scans | files each | workers killed | files lost | seconds |\n"
                  "|---|---|---|---|---|\n| %u | %d | %u | %u | %.0f |\n",
                  scans, FIRE_FILES, all.kills, all.lost, now_seconds() - began);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        scans = (unsigned)atoi(argv[1]);
    if (argc > 2)
        seed = (unsigned)atoi(argv[2]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(kills)};
    return cmocka_run_group_tests(tests, fire_enter, sandbox_leave);
}
