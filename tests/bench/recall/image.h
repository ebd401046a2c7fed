/* A colour picture in memory: what the edits of image_recall work on. */
#ifndef BENCH_RECALL_IMAGE_H
#define BENCH_RECALL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairo.h>

#include "../random.h"

/** Pixels are 0x00RRGGBB, rows without gaps: cairo's RGB24. */
struct image {
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

struct image image_new(int width, int height);
void image_free(struct image *image);
struct image image_copy(const struct image *image);

/** Decode a JPEG, PNG or WebP file in colour, reduced so that no side is longer than `max_side`.
 * `pixels` is NULL when it cannot be read. */
struct image image_load(const char *path, int max_side);
struct bytes image_encode(const struct image *image, const struct encoding *encoding);
bool image_save_png(const struct image *image, const char *path);

/** The part at x, y. */
struct image image_crop(const struct image *image, int x, int y, int width, int height);
struct image image_resize(const struct image *image, int width, int height);

/** A cairo context that draws onto the picture; end with draw_end. */
cairo_t *draw_begin(struct image *image);
void draw_end(cairo_t *cr);
/** Paint `picture` into the rectangle. */
void draw_image(cairo_t *cr, const struct image *image, double x, double y, double width,
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
