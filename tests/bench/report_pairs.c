/*
 * Pictures for the page of `report`: unrelated items to each other, and of each a copy that is
 * smaller.
 *
 *     report_pairs PAIRS FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "noise.h"

enum { WIDTH = 256, HEIGHT = 192, FOLDER_PAIRS = 500 };

static bool write_pair(size_t number, uint64_t *state)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    struct image image = {WIDTH, HEIGHT, pixels};
    char path[64];
    snprintf(path, sizeof path, "%zu", number / FOLDER_PAIRS);
    if (number % FOLDER_PAIRS == 0 && mkdir(path, 0700) != 0)
        return false;
    noise_draw(&image, state);
    snprintf(path, sizeof path, "%zu/%zu.jpg", number / FOLDER_PAIRS, number);
    bool good = write_jpeg(path, &image, 80);
    struct image copy = edit_shrink(&image, WIDTH - 16, HEIGHT - 12);
    snprintf(path, sizeof path, "%zu/%zu-copy.jpg", number / FOLDER_PAIRS, number);
    good = good && copy.pixels && write_jpeg(path, &copy, 70);
    image_free(&copy);
    return good;
}

int main(int argc, char **argv)
{
    size_t pairs = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    uint64_t state = 88172645463325252u;
    if (!pairs || chdir(argv[2]) != 0)
        return 2;
    for (size_t i = 0; i < pairs; i++)
        if (!write_pair(i, &state))
            return 2;
    return 0;
}
