/* Draws a small collection of pictures with copies into a folder, and says what it does. */
#include "draw.h"
#include "media.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 800, HEIGHT = 600, ORIGINALS = DRAW_SUBJECTS };

void demo_fail(const char *path)
{
    fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
    exit(2);
}

FILE *demo_open(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file)
        demo_fail(path);
    return file;
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        demo_fail(path);
}

/* Write a copy and free it; a name that ends in .png is one. */
static void keep(struct image image, int quality, const char *name, const char *what)
{
    size_t length = strlen(name);
    bool png = length > 4 && strcmp(name + length - 4, ".png") == 0;
    if (!image.pixels || !(png ? write_png(name, &image) : write_jpeg(name, &image, quality)))
        demo_fail(name);
    if (what)
        printf("  %-28s %s\n", name, what);
    image_free(&image);
}

static void copy_file(const char *from, const char *to, double share)
{
    static uint8_t bytes[4 << 20];
    FILE *in = demo_open(from, "rb"), *out = demo_open(to, "wb");
    size_t size = fread(bytes, 1, sizeof bytes, in);
    size_t part = (size_t)((double)size * share);
    if (fwrite(bytes, 1, part, out) != part || fclose(out) != 0)
        demo_fail(to);
    (void)fclose(in);
}

static void draw_originals(struct image *originals)
{
    make_folder("originals");
    for (unsigned i = 0; i < ORIGINALS; i++) {
        char name[64];
        snprintf(name, sizeof name, "originals/%s.jpg", draw_name(i));
        originals[i] = draw_image(i, 1, WIDTH, HEIGHT);
        if (!originals[i].pixels || !write_jpeg(name, &originals[i], 92))
            demo_fail(name);
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

static void enter(const char *folder)
{
    make_folder(folder);
    if (chdir(folder) != 0)
        demo_fail(folder);
}

static void draw_pictures(const char *folder)
{
    printf("A small collection, drawn into %s:\n", folder);
    struct image originals[ORIGINALS];
    enter(folder);
    draw_originals(originals);
    make_copies(originals);
    for (unsigned i = 0; i < ORIGINALS; i++)
        image_free(&originals[i]);
}

static int usage(FILE *out, int code)
{
    fputs("usage: doppel-demo FOLDER             draw pictures with copies into FOLDER\n"
          "       doppel-demo --all FOLDER TEXT  also audio, videos, and texts made of TEXT\n",
          out);
    return code;
}

/* `--all FOLDER TEXT`: what README.md works with, texts from that one; else pictures alone. */
int main(int argc, char **argv)
{
    bool all = argc == 4 && strcmp(argv[1], "--all") == 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage(stdout, 0);
    if (all ? argv[2][0] == '-' : argc != 2 || argv[1][0] == '-')
        return usage(stderr, 2);
    if (!all) {
        draw_pictures(argv[1]);
        return 0;
    }
    char *text = realpath(argv[3], NULL);
    if (!text)
        demo_fail(argv[3]);
    enter(argv[2]);
    make_texts(text);
    make_articles();
    make_music();
    make_videos();
    printf("texts/, articles.jsonl, articles/, music/, heard.wav, broadcast.wav, diver.avi, "
           "trailer.avi; ");
    draw_pictures("pictures");
    free(text);
    return 0;
}
