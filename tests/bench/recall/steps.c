/* Edits of fixed strengths: crops in steps of one percent, turns in steps of a degree. */
#include "steps.h"

#include <math.h>

#include "edits.h"

static int share_of_side(int side, double share)
{
    int length = (int)lround(side * share);
    return length < 8 ? 8 : length;
}

/* ---- crops ---- */

/** Keep a share of each side, the cut places along the axes at `x`, `y`: 0 is left, 1 right. */
static struct image keep_part(const struct image *in, double across, double down, double x,
                              double y)
{
    int width = share_of_side(in->width, across), height = share_of_side(in->height, down);
    return image_crop(in, (int)lround(x * (in->width - width)),
                      (int)lround(y * (in->height - height)), width, height);
}

static struct image crop_corner(const struct image *in, double amount, struct random *random)
{
    double kept = 1 - amount / 100;
    int x = random_below(random, 2), y = random_below(random, 2);
    return keep_part(in, kept, kept, x, y);
}

static struct image crop_side(const struct image *in, double amount, struct random *random)
{
    double kept = 1 - amount / 100;
    int end = random_below(random, 2);
    return random_below(random, 2) ? keep_part(in, kept, 1, end, 0)
                                   : keep_part(in, 1, kept, 0, end);
}

static struct image crop_centre(const struct image *in, double amount, struct random *random)
{
    double kept = 1 - amount / 100;
    (void)random;
    return keep_part(in, kept, kept, .5, .5);
}

static struct image crop_anywhere(const struct image *in, double amount, struct random *random)
{
    double kept = 1 - amount / 100, x = random_between(random, 0, 1);
    return keep_part(in, kept, kept, x, random_between(random, 0, 1));
}

static struct image crop_mirrored(const struct image *in, double amount, struct random *random)
{
    struct image turned = mirror(in);
    struct image out = crop_anywhere(&turned, amount, random);
    image_free(&turned);
    return out;
}

/* ---- turns ---- */

static struct image turn_on_ground(const struct image *in, double degrees, double grey)
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

static struct image turn_black(const struct image *in, double amount, struct random *random)
{
    return turn_on_ground(in, random_below(random, 2) ? amount : -amount, 0);
}

static struct image turn_white(const struct image *in, double amount, struct random *random)
{
    return turn_on_ground(in, random_below(random, 2) ? amount : -amount, 1);
}

/** Seen from the side: the corners move inwards by up to `amount` percent, and what they frame
 * fills the picture. */
static struct image move_corners(const struct image *in, double amount, struct random *random)
{
    double x[4], y[4], most = amount / 100;
    for (int i = 0; i < 4; i++) {
        x[i] = random_between(random, 0, most);
        y[i] = random_between(random, 0, most);
        x[i] = i & 1 ? 1 - x[i] : x[i];
        y[i] = i & 2 ? 1 - y[i] : y[i];
    }
    struct image out = image_new(in->width, in->height);
    for (int row = 0; row < out.height; row++)
        for (int column = 0; column < out.width; column++) {
            double u = (column + .5) / out.width, v = (row + .5) / out.height;
            double across = (1 - v) * ((1 - u) * x[0] + u * x[1]) + v * ((1 - u) * x[2] + u * x[3]);
            double down = (1 - v) * ((1 - u) * y[0] + u * y[1]) + v * ((1 - u) * y[2] + u * y[3]);
            int from_x = (int)(across * in->width), from_y = (int)(down * in->height);
            from_x = from_x < in->width ? from_x : in->width - 1;
            from_y = from_y < in->height ? from_y : in->height - 1;
            out.pixels[row * out.width + column] = in->pixels[from_y * in->width + from_x];
        }
    return out;
}

/* ---- others ---- */

/** Apply an edit of image_recall: its amounts are its own. */
static struct image apply_edit(const struct image *in, edit_function *edit, struct random *random)
{
    struct encoding encoding = {ENCODE_JPEG, 90};
    return edit(in, random, &encoding);
}

/** `amount` stickers, each an eighth of the picture. */
static struct image put_stickers(const struct image *in, double amount, struct random *random)
{
    struct image out = image_copy(in);
    for (int i = 0; i < (int)amount; i++) {
        struct image next = apply_edit(&out, edit_sticker, random);
        image_free(&out);
        out = next;
    }
    return out;
}

static struct image take_phone_shot(const struct image *in, double amount, struct random *random)
{
    (void)amount;
    return apply_edit(in, edit_phone_shot, random);
}

/** A crop, brighter, with words on it, and shrunk. */
static struct image combine(const struct image *in, double amount, struct random *random)
{
    struct image cropped = crop_anywhere(in, amount, random);
    struct image bright = apply_edit(&cropped, edit_bright, random);
    struct image written = apply_edit(&bright, edit_text, random);
    struct image out = apply_edit(&written, edit_scale50, random);
    image_free(&cropped);
    image_free(&bright);
    image_free(&written);
    return out;
}

const struct step_edit step_edits[] = {
    {"corner crop, %", crop_corner, 1, 25, 1},
    {"one side, %", crop_side, 1, 25, 1},
    {"centre, %", crop_centre, 2, 30, 2},
    {"anywhere, %", crop_anywhere, 1, 25, 2},
    {"mirrored crop, %", crop_mirrored, 3, 12, 1},
    {"crop, text, tones, %", combine, 3, 12, 3},
    {"turned, black, degrees", turn_black, 1, 5, 1},
    {"turned, white, degrees", turn_white, 1, 5, 1},
    {"perspective, %", move_corners, 2, 10, 2},
    {"stickers", put_stickers, 1, 2, 1},
    {"phone screenshot", take_phone_shot, 1, 1, 1},
};

const int step_edit_count = sizeof step_edits / sizeof *step_edits;
