/* Draws a small collection of pictures with copies into a folder, and says what it does. */
#include "draw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 800, HEIGHT = 600, ORIGINALS = DRAW_SUBJECTS };

static void fail(const char *path)
{
    fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
    exit(2);
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        fail(path);
}

/* Write a copy and free it; a name that ends in .png is one. */
static void keep(struct image image, int quality, const char *name, const char *what)
{
    size_t length = strlen(name);
    bool png = length > 4 && strcmp(name + length - 4, ".png") == 0;
    if (!image.pixels || !(png ? write_png(name, &image) : write_jpeg(name, &image, quality)))
        fail(name);
    if (what)
        printf("  %-28s %s\n", name, what);
    image_free(&image);
}

static void copy_file(const char *from, const char *to, double share)
{
    static uint8_t bytes[4 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!in || !out)
        fail(to);
    size_t size = fread(bytes, 1, sizeof bytes, in);
    size_t part = (size_t)((double)size * share);
    if (fwrite(bytes, 1, part, out) != part || fclose(out) != 0)
        fail(to);
    fclose(in);
}

static void draw_originals(struct image *originals)
{
    make_folder("originals");
    for (unsigned i = 0; i < ORIGINALS; i++) {
        char name[64];
        snprintf(name, sizeof name, "originals/%s.jpg", draw_name(i));
        originals[i] = draw_image(i, 1, WIDTH, HEIGHT);
        if (!originals[i].pixels || !write_jpeg(name, &originals[i], 92))
            fail(name);
    }
    printf("  %-28s %d different pictures\n", "originals/", ORIGINALS);
}

static void make_copies(const struct image *original)
{
    make_folder("copies");
    keep(edit_shrink(&original[0], WIDTH, HEIGHT), 25, "copies/mountains-again.jpg",
         "the mountains, compressed hard");
    keep(edit_shrink(&original[0], 320, 240), 80, "copies/mountains-small.jpg",
         "the mountains, shrunk to a sixth");
    keep(edit_crop(&original[10], 40, 30, 720, 540), 85, "copies/sea-cropped.jpg",
         "the sea, a tenth cropped off");
    keep(edit_border(&original[7], 80, 0), 85, "copies/planet-framed.jpg",
         "the planet in a black frame");
    keep(edit_mirror(&original[9]), 85, "copies/tree-mirrored.jpg", "the tree, left to right");
    keep(edit_turn(&original[8]), 85, "copies/tiles-turned.jpg", "the tiles, a quarter turn");
    keep(edit_shrink(&original[3], 600, 450), 0, "copies/marble.png",
         "the marble as a smaller PNG");
    copy_file("originals/clock.jpg", "copies/clock (1).jpg", 1);
    printf("  %-28s %s\n", "copies/clock (1).jpg", "the clock, byte for byte");
    copy_file("originals/chart.jpg", "copies/broken.jpg", 0.02);
    printf("  %-28s %s\n", "copies/broken.jpg", "the first 2 % of a file: a broken download");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: doppel-demo FOLDER\n");
        return 2;
    }
    make_folder(argv[1]);
    if (chdir(argv[1]) != 0)
        fail(argv[1]);
    printf("A small collection, drawn into %s:\n", argv[1]);
    struct image originals[ORIGINALS];
    draw_originals(originals);
    make_copies(originals);
    for (unsigned i = 0; i < ORIGINALS; i++)
        image_free(&originals[i]);
    return 0;
}
