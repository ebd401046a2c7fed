/* power-cut FOLDER SHADOW SEED OUT: what a power cut leaves of a folder; with an odd seed, parts of
 * what was not synced, too. */
#include <stdbool.h>
#include <stdlib.h>

#include "tests/store/power_cut.h"

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    unsigned seed = (unsigned)atoi(argv[3]);
    srand(seed);
    power_cut(argv[1], argv[2], seed % 2, argv[4]);
    return 0;
}
