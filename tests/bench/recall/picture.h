/* A colour picture in memory: what the edits of image_recall work on. */
#ifndef BENCH_RECALL_PICTURE_H
#define BENCH_RECALL_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairo.h>

#include "../random.h"

/** Pixels are 0x00RRGGBB, rows without gaps: cairo's RGB24. */
struct picture {
    int width, height;
    uint32_t *pixels; /**< owned by whoever holds the picture; NULL = none */
};

/** How an edited picture is written before it is read again. */
struct encoding {
    enum { ENCODE_JPEG, ENCODE_WEBP } kind;
    int quality;
};

struct bytes {
    uint8_t *data;
    size_t size;
};

struct picture picture_new(int width, int height);
void picture_free(struct picture *picture);
struct picture picture_copy(const struct picture *picture);

/** Decode a JPEG, PNG or WebP file in colour, reduced so that no side is longer than `max_side`.
 * `pixels` is NULL when it cannot be read. */
struct picture picture_load(const char *path, int max_side);
struct bytes picture_encode(const struct picture *picture, const struct encoding *encoding);
bool picture_save_png(const struct picture *picture, const char *path);

/** The part at x, y. */
struct picture picture_crop(const struct picture *picture, int x, int y, int width, int height);
struct picture picture_resize(const struct picture *picture, int width, int height);

/** A cairo context that draws onto the picture; end with draw_end. */
cairo_t *draw_begin(struct picture *picture);
void draw_end(cairo_t *cr);
/** Paint `picture` into the rectangle. */
void draw_picture(cairo_t *cr, const struct picture *picture, double x, double y, double width,
                  double height);

static inline uint8_t pixel_red(uint32_t pixel)
{
    return (uint8_t)(pixel >> 16);
}

static inline uint8_t pixel_green(uint32_t pixel)
{
    return (uint8_t)(pixel >> 8);
}

static inline uint8_t pixel_blue(uint32_t pixel)
{
    return (uint8_t)pixel;
}

static inline uint8_t clamp_byte(double value)
{
    return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + .5);
}

static inline uint32_t pixel_rgb(double red, double green, double blue)
{
    return (uint32_t)clamp_byte(red) << 16 | (uint32_t)clamp_byte(green) << 8 | clamp_byte(blue);
}

static inline double pixel_luma(uint32_t pixel)
{
    return .299 * pixel_red(pixel) + .587 * pixel_green(pixel) + .114 * pixel_blue(pixel);
}

#endif
