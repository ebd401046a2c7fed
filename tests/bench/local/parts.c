/* The edits of local_recall. */
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_SIDE = 1024, CELLS = 8 };

struct image part_recoded(const struct image *in, int quality)
{
    const struct encoding encoding = {ENCODE_JPEG, quality};
    struct bytes bytes = image_encode(in, &encoding);
    struct image out = {0};
    char path[64];
    int file = memfd_create("picture", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file >= 0 && write(file, bytes.data, bytes.size) == (ssize_t)bytes.size)
        out = image_load(path, 4 * MAX_SIDE);
    if (file >= 0)
        close(file);
    free(bytes.data);
    return out;
}

/* Highest less lowest luma of a cell. */
static int luma_range(const struct image *image, int column, int row)
{
    const int left = column * image->width / CELLS, right = (column + 1) * image->width / CELLS;
    const int top = row * image->height / CELLS, bottom = (row + 1) * image->height / CELLS;
    int least = 255, most = 0;
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            const int luma =
                clamp_byte(pixel_luma(image->pixels[(size_t)y * (size_t)image->width + (size_t)x]));
            least = luma < least ? luma : least;
            most = luma > most ? luma : most;
        }
    return most - least;
}

bool part_shows_something(const struct image *image)
{
    int varied = 0;
    for (int i = 0; i < CELLS * CELLS; i++)
        varied += luma_range(image, i % CELLS, i / CELLS) >= 16;
    return varied >= CELLS;
}

static struct image recoded_at(struct image image, struct random *random)
{
    struct image out = part_recoded(&image, 60 + (int)random_below(random, 31));
    image_free(&image);
    return out;
}

static struct image crop_shares(const struct image *in, double x, double y, double width,
                                double height)
{
    int w = (int)(in->width * width), h = (int)(in->height * height);
    return image_crop(in, (int)(x * (in->width - w)), (int)(y * (in->height - h)), w > 0 ? w : 1,
                      h > 0 ? h : 1);
}

/* ---- parts ---- */

static struct image edit_half(const struct image *in, const struct image *others,
                              struct random *random)
{
    (void)others;
    bool wide = random_below(random, 2) == 1, last = random_below(random, 2) == 1;
    return recoded_at(
        crop_shares(in, wide ? last : 0, wide ? 0 : last, wide ? .5 : 1, wide ? 1 : .5), random);
}

static struct image edit_corner(const struct image *in, const struct image *others,
                                struct random *random)
{
    (void)others;
    double share = random_between(random, .4, .6);
    return recoded_at(
        crop_shares(in, random_below(random, 2), random_below(random, 2), share, share), random);
}

static struct image edit_scaled_part(const struct image *in, const struct image *others,
                                     struct random *random)
{
    (void)others;
    struct image part =
        crop_shares(in, random_between(random, 0, 1), random_between(random, 0, 1), .6, .6);
    double scale = random_between(random, .5, 1.4);
    struct image out =
        image_resize(&part, (int)(part.width * scale) + 1, (int)(part.height * scale) + 1);
    image_free(&part);
    return recoded_at(out, random);
}

/* ---- pictures with others ---- */

/* Four in a square, one of them the original, each cut to fill its place. */
static struct image collage_of(const struct image *in, const struct image *others, bool mirrored,
                               struct random *random)
{
    struct image out = image_new(MAX_SIDE, MAX_SIDE);
    const int own = random_below(random, 4);
    cairo_t *cr = draw_begin(&out);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    for (int i = 0, other = 0; i < 4; i++) {
        const struct image *picture = i == own ? in : &others[other++];
        double gap = 6, side = MAX_SIDE / 2 - 1.5 * gap;
        double x = gap + (i % 2) * (side + gap), y = gap + i / 2 * (side + gap);
        double scale = side / (picture->width < picture->height ? picture->width : picture->height);
        cairo_save(cr);
        cairo_rectangle(cr, x, y, side, side);
        cairo_clip(cr);
        if (mirrored) {
            cairo_translate(cr, 2 * x + side, 0);
            cairo_scale(cr, -1, 1);
        }
        draw_image(cr, picture, x + (side - picture->width * scale) / 2,
                   y + (side - picture->height * scale) / 2, picture->width * scale,
                   picture->height * scale);
        cairo_restore(cr);
    }
    draw_end(cr);
    return recoded_at(out, random);
}

static struct image edit_collage(const struct image *in, const struct image *others,
                                 struct random *random)
{
    return collage_of(in, others, false, random);
}

static struct image edit_mirrored_collage(const struct image *in, const struct image *others,
                                          struct random *random)
{
    return collage_of(in, others, true, random);
}

static struct image overlay_of(const struct image *in, const struct image *below, double turn,
                               struct random *random)
{
    struct image out = image_copy(below);
    double longer = in->width > in->height ? in->width : in->height;
    double room = out.width > out.height ? out.width : out.height;
    double scale = random_between(random, .4, .6) * room / longer;
    double width = in->width * scale, height = in->height * scale;
    cairo_t *cr = draw_begin(&out);
    cairo_translate(cr, width / 2 + random_between(random, 0, 1) * fmax(out.width - width, 0),
                    height / 2 + random_between(random, 0, 1) * fmax(out.height - height, 0));
    cairo_rotate(cr, turn);
    draw_image(cr, in, -width / 2, -height / 2, width, height);
    draw_end(cr);
    return recoded_at(out, random);
}

static struct image edit_overlay(const struct image *in, const struct image *others,
                                 struct random *random)
{
    return overlay_of(in, &others[0], 0, random);
}

static struct image edit_turned_overlay(const struct image *in, const struct image *others,
                                        struct random *random)
{
    return overlay_of(in, &others[0], random_between(random, -.6, .6), random);
}

/* ---- the whole picture ---- */

static struct image edit_rotated(const struct image *in, const struct image *others,
                                 struct random *random)
{
    (void)others;
    struct image out = image_new(in->width, in->height);
    cairo_t *cr = draw_begin(&out);
    double grey = (double)random_below(random, 2);
    cairo_set_source_rgb(cr, grey, grey, grey);
    cairo_paint(cr);
    cairo_translate(cr, in->width / 2., in->height / 2.);
    cairo_rotate(cr, random_between(random, 5, 60) * 3.14159265 / 180);
    draw_image(cr, in, -in->width / 2., -in->height / 2., in->width, in->height);
    draw_end(cr);
    return recoded_at(out, random);
}

/* A projection, as eight numbers: (a x + b y + c, d x + e y + f) / (g x + h y + 1). */
static uint32_t sample_linear(const struct image *in, double x, double y)
{
    if (x < 0 || y < 0 || x > in->width - 1 || y > in->height - 1)
        return 0x303438;
    int left = (int)x, top = (int)y;
    int right = left + 1 < in->width ? left + 1 : left, low = top + 1 < in->height ? top + 1 : top;
    double u = x - left, v = y - top, sums[3];
    uint32_t corners[4] = {in->pixels[(size_t)top * (size_t)in->width + (size_t)left],
                           in->pixels[(size_t)top * (size_t)in->width + (size_t)right],
                           in->pixels[(size_t)low * (size_t)in->width + (size_t)left],
                           in->pixels[(size_t)low * (size_t)in->width + (size_t)right]};
    for (int i = 0; i < 3; i++) {
        double above = (corners[0] >> 8 * i & 255) * (1 - u) + (corners[1] >> 8 * i & 255) * u;
        double below = (corners[2] >> 8 * i & 255) * (1 - u) + (corners[3] >> 8 * i & 255) * u;
        sums[i] = above * (1 - v) + below * v;
    }
    return pixel_rgb(sums[2], sums[1], sums[0]);
}

/* A photograph of a screen: perspective, a dark room around it, light that falls off, noise. */
static struct image edit_phone(const struct image *in, const struct image *others,
                               struct random *random)
{
    (void)others;
    struct image out = image_new(in->width, in->height);
    double g = random_between(random, -.25, .25), h = random_between(random, -.25, .25);
    double angle = random_between(random, -.09, .09), zoom = random_between(random, 1.1, 1.4);
    double light = random_between(random, .6, 1.1), slope = random_between(random, -.3, .3);
    for (int row = 0; row < out.height; row++)
        for (int column = 0; column < out.width; column++) {
            double u = (column + .5) / out.width - .5, v = (row + .5) / out.height - .5;
            double depth = 1 + g * u + h * v;
            double x = zoom * (u * cos(angle) - v * sin(angle)) / depth;
            double y = zoom * (u * sin(angle) + v * cos(angle)) / depth;
            uint32_t pixel = sample_linear(in, (x + .5) * in->width, (y + .5) * in->height);
            double gain = light * (1 + slope * u),
                   noise = 8 * (random_between(random, 0, 1) - .5) * 2;
            out.pixels[(size_t)row * (size_t)out.width + (size_t)column] = pixel_rgb(
                pixel_red(pixel) * gain + noise + 8, pixel_green(pixel) * gain + noise + 8,
                pixel_blue(pixel) * gain + noise + 12);
        }
    return recoded_at(out, random);
}

/* A part, turned a little, another picture over a corner of it, words below, small. */
static struct image edit_combined(const struct image *in, const struct image *others,
                                  struct random *random)
{
    struct image part =
        crop_shares(in, random_between(random, 0, 1), random_between(random, 0, 1), .75, .75);
    double scale = random_between(random, .6, 1);
    struct image out =
        image_new((int)(part.width * scale) + 1, (int)(part.height * scale * 1.2) + 1);
    cairo_t *cr = draw_begin(&out);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_save(cr);
    cairo_rotate(cr, random_between(random, -.05, .05));
    draw_image(cr, &part, 0, 0, part.width * scale, part.height * scale);
    cairo_restore(cr);
    draw_image(cr, &others[1], 0, 0, part.width * scale * .3, part.height * scale * .3);
    cairo_set_source_rgb(cr, 0, 0, 0);
    cairo_set_font_size(cr, part.height * scale * .1);
    cairo_move_to(cr, 10, part.height * scale * 1.13);
    cairo_show_text(cr, "seen today, of all places");
    draw_end(cr);
    image_free(&part);
    return recoded_at(out, random);
}

const struct part_edit part_edits[] = {
    {"half", edit_half, 95, true},
    {"corner, 40 to 60 %", edit_corner, 95, true},
    {"part of 60 %, scaled", edit_scaled_part, 0, true},
    {"collage of four", edit_collage, 90, false},
    {"mirrored collage", edit_mirrored_collage, 0, false},
    {"on another, 40 to 60 %", edit_overlay, 80, false},
    {"the same, turned", edit_turned_overlay, 0, false},
    {"rotated 5 to 60 degrees", edit_rotated, 0, false},
    {"phone shot", edit_phone, 88, false},
    {"combined", edit_combined, 90, false},
};
const int part_edit_count = sizeof part_edits / sizeof *part_edits;
