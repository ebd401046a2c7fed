/* Pictures drawn by formula: for the demo and for tests that need media of their own. */
#ifndef DOPPEL_DEMO_DRAW_H
#define DOPPEL_DEMO_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** RGB, 3 bytes a pixel, rows without gaps. */
struct picture {
    uint32_t width, height;
    uint8_t *pixels; /* given: picture_free; NULL when there was no memory */
};

enum { DRAW_SUBJECTS = 12 };

/** "mountains", "clock", …; a name for a file. */
const char *draw_name(unsigned subject);

/** Draw subject 0..11; another seed is another picture of the kind. Size does not change what is
 * shown. */
struct picture draw_picture(unsigned subject, uint32_t seed, uint32_t width, uint32_t height);

void picture_free(struct picture *picture);

/* ---- copies: all given (picture_free) ---- */

struct picture edit_shrink(const struct picture *from, uint32_t width, uint32_t height);
struct picture edit_crop(const struct picture *from, uint32_t left, uint32_t top, uint32_t width,
                         uint32_t height);
/** A frame of `size` pixels of one grey on every side. */
struct picture edit_border(const struct picture *from, uint32_t size, uint8_t grey);
struct picture edit_mirror(const struct picture *from);
/** A quarter turn clockwise. */
struct picture edit_turn(const struct picture *from);

/* ---- files: false when it could not be written ---- */

bool write_jpeg(const char *path, const struct picture *picture, int quality);
bool write_png(const char *path, const struct picture *picture);

#endif
