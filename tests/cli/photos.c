/* A photographer's folders, for a test that walks through them: COUNT pictures, of which some have
 * a copy of the same bytes and a small one. `photos FOLDER COUNT` prints the groups that are to be
 * found, a line each: the paths, with tabs between. */
#include "draw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 256, HEIGHT = 192, PANES = 16, TILE = 4, BUMP = 64, SHOOTS = 8, COPIED = 5 };

static void give_up(const char *path)
{
    fprintf(stderr, "photos: %s: %s\n", path, strerror(errno));
    exit(2);
}

/* SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). */
static uint64_t next_number(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Panes of chance colours, which say which picture it is, of small tiles, which are its detail. */
static struct image draw_photo(unsigned number)
{
    struct image image = {WIDTH, HEIGHT, malloc(WIDTH * HEIGHT * 3)};
    uint8_t panes[PANES][PANES][3], tiles[HEIGHT / TILE][WIDTH / TILE];
    uint64_t state = number;
    for (size_t i = 0; i < sizeof panes; i++)
        ((uint8_t *)panes)[i] = (uint8_t)(next_number(&state) % (256 - BUMP));
    for (size_t i = 0; i < sizeof tiles; i++)
        ((uint8_t *)tiles)[i] = (uint8_t)(next_number(&state) % BUMP);
    for (uint32_t y = 0; image.pixels && y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH * 3; x++)
            image.pixels[y * WIDTH * 3 + x] =
                (uint8_t)(panes[y * PANES / HEIGHT][x / 3 * PANES / WIDTH][x % 3] +
                          tiles[y / TILE][x / 3 / TILE]);
    return image;
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        give_up(path);
}

static void write_photo(const char *path, const struct image *image, int quality)
{
    if (!image->pixels || !write_jpeg(path, image, quality))
        give_up(path);
}

/* @return how many pictures there are now */
static unsigned add_copies(const struct image *photo, const char *path, unsigned number)
{
    char same[64], small[64];
    snprintf(same, sizeof same, "backup/IMG_%04u.jpg", number);
    snprintf(small, sizeof small, "web/IMG_%04u-small.jpg", number);
    write_photo(same, photo, 92); /* the same bytes: the encoder does the same twice */
    struct image less = edit_shrink(photo, WIDTH * 3 / 4, HEIGHT * 3 / 4);
    write_photo(small, &less, 75);
    image_free(&less);
    printf("%s\t%s\t%s\n", path, same, small);
    return 2;
}

static unsigned add_photo(unsigned number)
{
    char path[64];
    unsigned count = 1;
    snprintf(path, sizeof path, "shoots/%u/IMG_%04u.jpg", number % SHOOTS, number);
    struct image photo = draw_photo(number);
    write_photo(path, &photo, 92);
    if (number % COPIED == 0)
        count += add_copies(&photo, path, number);
    image_free(&photo);
    return count;
}

int main(int argc, char **argv)
{
    char shoot[32];
    if (argc != 3 || chdir(argv[1]))
        give_up(argc == 3 ? argv[1] : "FOLDER COUNT");
    make_folder("shoots");
    make_folder("backup");
    make_folder("web");
    for (unsigned i = 0; i < SHOOTS; i++) {
        snprintf(shoot, sizeof shoot, "shoots/%u", i);
        make_folder(shoot);
    }
    unsigned wanted = (unsigned)strtoul(argv[2], NULL, 10);
    for (unsigned number = 1, count = 0; count < wanted; number++)
        count += add_photo(number);
    return 0;
}
