/* Pictures drawn by formula: for the demo and for tests that need media of their own. */
#ifndef DOPPEL_DEMO_DRAW_H
#define DOPPEL_DEMO_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** RGB, 3 bytes a pixel, rows without gaps. */
struct image {
    uint32_t width, height;
    uint8_t *pixels; /* given: image_free; NULL when there was no memory */
};

enum { DRAW_SUBJECTS = 12 };

/** "mountains", "clock", …; a name for a file. */
const char *draw_name(unsigned subject);

/** Draw subject 0..11; another seed is another picture of the kind. Size does not change what is
 * shown. */
struct image draw_image(unsigned subject, uint32_t seed, uint32_t width, uint32_t height);

void image_free(struct image *image);

/* ---- copies: all given (image_free) ---- */

struct image edit_shrink(const struct image *from, uint32_t width, uint32_t height);
struct image edit_crop(const struct image *from, uint32_t left, uint32_t top, uint32_t width,
                       uint32_t height);
/** A frame of `size` pixels of one grey on every side. */
struct image edit_border(const struct image *from, uint32_t size, uint8_t grey);
struct image edit_mirror(const struct image *from);
/** A quarter turn clockwise. */
struct image edit_turn(const struct image *from);

/* ---- files: false when it could not be written ---- */

bool write_jpeg_to(FILE *file, const struct image *image, int quality);
bool write_jpeg(const char *path, const struct image *image, int quality);
bool write_png(const char *path, const struct image *image);

#endif
