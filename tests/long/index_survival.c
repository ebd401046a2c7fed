/* Hundreds of writers of an index that are killed, and disks that lose power:
 * index_survival [KILLS [CUTS [SEED]]]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "tests/store/folder.h"
#include "tests/store/ordeal.h"

enum { KILLS_EACH = 25 }; /* of one index: checking it whole takes longer as it grows */

static unsigned kills = 500, cuts = 300, seed = 1;

static void test_kills(void **state)
{
    (void)state;
    time_t begun = time(NULL);
    uint64_t there = 0;
    for (unsigned done = 0; done < kills; done += KILLS_EACH) {
        char *folder = folder_make();
        there += ordeal_of_kills(folder, KILLS_EACH);
        folder_remove(folder);
    }
    print_message("| writers killed | transactions | lost | seconds |\n|---|---|---|---|\n"
                  "| %u | %llu | 0 | %ld |\n",
                  kills, (unsigned long long)there, (long)(time(NULL) - begun));
}

static void test_cuts(void **state)
{
    (void)state;
    time_t begun = time(NULL);
    uint64_t acknowledged = 0;
    for (unsigned i = 0; i < cuts; i++) {
        char *folder = folder_make();
        acknowledged += ordeal_of_power(folder, i % 2);
        folder_remove(folder);
    }
    print_message("| power cuts | transactions | lost | seconds |\n|---|---|---|---|\n"
                  "| %u | %llu | 0 | %ld |\n",
                  cuts, (unsigned long long)acknowledged, (long)(time(NULL) - begun));
}

int main(int argc, char **argv)
{
    unsigned *const numbers[] = {&kills, &cuts, &seed};
    for (int i = 1; i < argc && i <= 3; i++)
        *numbers[i - 1] = (unsigned)atoi(argv[i]);
    srand(seed);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kills), cmocka_unit_test(test_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
