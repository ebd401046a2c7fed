/* PNG files, through libpng. */
#include "make.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "core/bytes.h"

static void write_data(png_structp png, png_bytep data, size_t size)
{
    file_append(png_get_io_ptr(png), data, size);
}

static void flush_data(png_structp png)
{
    (void)png;
}

/* 6×6×6 colours; of fewer bits a grey ramp. */
static int palette_make(int depth, png_color palette[256])
{
    int count = depth == 8 ? 216 : 1 << depth;
    for (int i = 0; i < count; i++) {
        png_byte grey = (png_byte)(i * 255 / (count - 1));
        palette[i] = depth == 8 ? (png_color){(png_byte)(i / 36 * 51), (png_byte)(i / 6 % 6 * 51),
                                              (png_byte)(i % 6 * 51)}
                                : (png_color){grey, grey, grey};
    }
    return count;
}

static void put_bits(uint8_t *row, uint32_t x, int depth, unsigned value)
{
    uint32_t bit = x * (uint32_t)depth;
    if (depth == 16) {
        row[2 * x] = (uint8_t)value;
        row[2 * x + 1] = (uint8_t)(value >> 3);
    } else {
        row[bit / 8] |= (uint8_t)(value << (8 - (uint32_t)depth - bit % 8));
    }
}

static void put_sample(uint8_t *row, uint32_t index, int depth, unsigned value)
{
    put_bits(row, index, depth, depth < 8 ? (value * ((1u << depth) - 1) + 127) / 255 : value);
}

static void fill_row(const struct scene *scene, const struct png_how *how, int depth, uint32_t y,
                     uint8_t *row)
{
    memset(row, 0, (size_t)scene->width * 8);
    for (uint32_t x = 0, at = 0; x < scene->width; x++) {
        const uint8_t *p = scene->rgba + ((size_t)y * scene->width + x) * 4;
        unsigned grey = (unsigned)(.299 * p[0] + .587 * p[1] + .114 * p[2] + .5);
        if (how->colour_type == PNG_COLOR_TYPE_PALETTE && depth == 8)
            put_bits(row, at++, 8,
                     (p[0] + 25u) / 51 * 36 + (p[1] + 25u) / 51 * 6 + (p[2] + 25u) / 51);
        else if (how->colour_type & PNG_COLOR_MASK_COLOR && depth >= 8)
            for (int i = 0; i < 3; i++)
                put_sample(row, at++, depth, p[i]);
        else
            put_sample(row, at++, depth, grey);
        if (how->colour_type & PNG_COLOR_MASK_ALPHA)
            put_sample(row, at++, depth, p[3]);
    }
}

static void write_header(png_structp png, png_infop info, const struct scene *scene,
                         const struct png_how *how, int depth)
{
    png_set_IHDR(png, info, scene->width, scene->height, depth, how->colour_type,
                 how->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_color palette[256];
    if (how->colour_type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, palette_make(depth, palette));
    if (how->transparent_colour) {
        png_color_16 black = {0};
        png_byte alpha = 0;
        png_set_tRNS(png, info, &alpha, how->colour_type == PNG_COLOR_TYPE_PALETTE, &black);
    }
    uint8_t exif[EXIF_BYTES];
    exif_make(how->orientation, true, exif);
    if (how->orientation)
        png_set_eXIf_1(png, info, sizeof exif, exif);
    png_write_info(png, info);
}

static struct file write_png(const struct scene *scene, const struct png_how *how, bool one_row)
{
    struct file file = {0};
    int depth = how->depth ? how->depth : 8;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    uint8_t *row = malloc((size_t)scene->width * 8);
    assert(png && info && row);
    png_set_write_fn(png, &file, write_data, flush_data);
    png_set_compression_level(png, 1);
    write_header(png, info, scene, how, depth);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < scene->height; y++) {
            if (!one_row || !y)
                fill_row(scene, how, depth, y, row);
            png_write_row(png, row);
        }
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(row);
    return file;
}

struct file make_png(const struct scene *scene, const struct png_how *how)
{
    return write_png(scene, how, false);
}

struct file make_png_of_rows(const struct scene *scene, uint32_t height, const struct png_how *how)
{
    struct scene tall = {scene->width, height, scene->rgba};
    return write_png(&tall, how, true);
}
