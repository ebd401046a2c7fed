/* Edits that move the frame: scaling, cropping, borders, turning. */
#include "edits.h"

#include <math.h>

static int at_least(int low, double value)
{
    return value < low ? low : (int)lround(value);
}

/* ---- scaling ---- */

static struct image scaled(const struct image *in, double x, double y)
{
    return image_resize(in, at_least(8, in->width * x), at_least(8, in->height * y));
}

struct image edit_scale50(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    double scale = random_between(random, .45, .6);
    return scaled(in, scale, scale);
}

struct image edit_scale25(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    double scale = random_between(random, .2, .3);
    return scaled(in, scale, scale);
}

struct image edit_squash(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    int side = at_least(64, fmin(in->width, in->height) * random_between(random, .7, 1));
    return image_resize(in, side, side);
}

/* ---- cropping ---- */

/** Take `share` off the width and off the height, split between the two ends at random. */
struct image crop_share(const struct image *in, struct random *random, double share)
{
    int width = at_least(8, in->width * (1 - share)),
        height = at_least(8, in->height * (1 - share));
    int x = random_below(random, in->width - width + 1);
    int y = random_below(random, in->height - height + 1);
    return image_crop(in, x, y, width, height);
}

struct image edit_crop2(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return crop_share(in, random, random_between(random, .015, .025));
}

struct image edit_crop5(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return crop_share(in, random, random_between(random, .04, .06));
}

struct image edit_crop10(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return crop_share(in, random, random_between(random, .085, .115));
}

struct image edit_crop20(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return crop_share(in, random, random_between(random, .18, .22));
}

struct image edit_crop30(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return crop_share(in, random, random_between(random, .27, .33));
}

/** A fifth off at two sides that meet in a corner. */
struct image edit_corner_crop(const struct image *in, struct random *random,
                              struct encoding *encoding)
{
    (void)encoding;
    int width = at_least(8, in->width * (1 - random_between(random, .16, .24)));
    int height = at_least(8, in->height * (1 - random_between(random, .16, .24)));
    int x = random_below(random, 2) ? in->width - width : 0;
    int y = random_below(random, 2) ? in->height - height : 0;
    return image_crop(in, x, y, width, height);
}

/* ---- borders ---- */

static struct image framed(const struct image *in, double x, double y, uint32_t colour)
{
    int left = (int)lround(x), top = (int)lround(y);
    struct image out = image_new(in->width + 2 * left, in->height + 2 * top);
    cairo_t *cr = draw_begin(&out);
    cairo_set_source_rgb(cr, pixel_red(colour) / 255., pixel_green(colour) / 255.,
                         pixel_blue(colour) / 255.);
    cairo_paint(cr);
    draw_image(cr, in, left, top, in->width, in->height);
    draw_end(cr);
    return out;
}

struct image edit_border_black(const struct image *in, struct random *random,
                               struct encoding *encoding)
{
    (void)encoding;
    double width = random_between(random, .035, .065) * in->width;
    return framed(in, width, width, 0x000000);
}

struct image edit_border_white(const struct image *in, struct random *random,
                               struct encoding *encoding)
{
    (void)encoding;
    double share = random_between(random, .08, .12);
    return framed(in, share * in->width, share * in->height, 0xffffff);
}

struct image edit_border_colour(const struct image *in, struct random *random,
                                struct encoding *encoding)
{
    (void)encoding;
    double width = random_between(random, .03, .12) * in->width;
    return framed(in, width, width, (uint32_t)random_next(random) & 0xffffff);
}

struct image edit_letterbox(const struct image *in, struct random *random,
                            struct encoding *encoding)
{
    (void)encoding;
    return framed(in, 0, random_between(random, .08, .2) * in->height, 0x000000);
}

struct image edit_pillarbox(const struct image *in, struct random *random,
                            struct encoding *encoding)
{
    (void)encoding;
    return framed(in, random_between(random, .08, .25) * in->width, 0, 0x000000);
}

/* ---- turning ---- */

/** Turn about the middle; the frame keeps its size and its corners are filled: programs leave them
 * black, or the page's white. */
static struct image rotated(const struct image *in, double degrees, double grey)
{
    struct image out = image_new(in->width, in->height);
    cairo_t *cr = draw_begin(&out);
    cairo_set_source_rgb(cr, grey, grey, grey);
    cairo_paint(cr);
    cairo_translate(cr, in->width / 2., in->height / 2.);
    cairo_rotate(cr, degrees * M_PI / 180);
    draw_image(cr, in, -in->width / 2., -in->height / 2., in->width, in->height);
    draw_end(cr);
    return out;
}

static double either_way(struct random *random, double low, double high)
{
    double amount = random_between(random, low, high);
    return random_below(random, 2) ? amount : -amount;
}

struct image edit_rotate1(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    double degrees = either_way(random, .7, 1.3);
    return rotated(in, degrees, random_below(random, 3) == 0);
}

struct image edit_rotate5(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    double degrees = either_way(random, 4.5, 5.5);
    return rotated(in, degrees, random_below(random, 3) == 0);
}

/** A straightened horizon: turned by a few degrees, then cut to the largest frame without corners.
 */
struct image edit_rotate_crop(const struct image *in, struct random *random,
                              struct encoding *encoding)
{
    (void)encoding;
    double degrees = either_way(random, 1.5, 3.5), angle = fabs(degrees) * M_PI / 180;
    struct image turned = rotated(in, degrees, 0);
    double width = in->width, height = in->height;
    double scale = fmin(width / (width * cos(angle) + height * sin(angle)),
                        height / (width * sin(angle) + height * cos(angle)));
    int w = at_least(8, floor(width * scale) - 1), h = at_least(8, floor(height * scale) - 1);
    struct image out = image_crop(&turned, (in->width - w) / 2, (in->height - h) / 2, w, h);
    image_free(&turned);
    return out;
}

struct image mirror(const struct image *in)
{
    struct image out = image_new(in->width, in->height);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            out.pixels[y * in->width + x] = in->pixels[y * in->width + in->width - 1 - x];
    return out;
}

struct image edit_mirror(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)random, (void)encoding;
    return mirror(in);
}

struct image edit_turn90(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    bool left = random_below(random, 2);
    struct image out = image_new(in->height, in->width);
    for (int y = 0; y < out.height; y++)
        for (int x = 0; x < out.width; x++) {
            int from_y = left ? x : in->height - 1 - x, from_x = left ? in->width - 1 - y : y;
            out.pixels[y * out.width + x] = in->pixels[from_y * in->width + from_x];
        }
    return out;
}

struct image edit_turn180(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)random, (void)encoding;
    size_t count = (size_t)in->width * (size_t)in->height;
    struct image out = image_new(in->width, in->height);
    for (size_t i = 0; i < count; i++)
        out.pixels[i] = in->pixels[count - 1 - i];
    return out;
}

/* ---- two at once ---- */

struct image edit_mirror_crop(const struct image *in, struct random *random,
                              struct encoding *encoding)
{
    struct image cropped = edit_crop5(in, random, encoding);
    struct image out = mirror(&cropped);
    image_free(&cropped);
    return out;
}

/** What an upload to a social network leaves: a sliver cut off, shrunk, compressed again. */
struct image edit_social(const struct image *in, struct random *random, struct encoding *encoding)
{
    struct image cropped = crop_share(in, random, random_between(random, .01, .04));
    double scale = random_between(random, 320, 600) / fmax(in->width, in->height);
    struct image out = scaled(&cropped, fmin(scale, 1), fmin(scale, 1));
    image_free(&cropped);
    encoding->quality = (int)random_between(random, 55, 75);
    return out;
}
