/* Edits that put the picture into a page: memes with captions, screenshots of phones and desktops.
 */
#include "edits.h"

#include <math.h>
#include <stdio.h>

/* ---- memes ---- */

static void paint_bar(cairo_t *cr, struct random *random, const double box[4], bool dark)
{
    double height = box[3];
    cairo_rectangle(cr, box[0], box[1], box[2], height);
    cairo_set_source_rgb(cr, !dark, !dark, !dark);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, dark, dark, dark);
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    int lines = height > .16 * box[2] ? 2 : 1;
    double size = fmin(height * .7 / lines / 1.25, box[2] / 14);
    for (int i = 0; i < lines; i++) {
        cairo_move_to(cr, box[0] + .04 * box[2],
                      box[1] + height / 2 + (i - lines / 2. + .8) * size * 1.25);
        draw_random_text(cr, random, size, 4 + random_below(random, 4));
    }
}

static struct image captioned(const struct image *in, struct random *random, double top,
                              double bottom)
{
    double above = top * in->height, below = bottom * in->height;
    struct image out = image_new(in->width, (int)lround(in->height + above + below));
    bool dark = random_below(random, 3) == 0;
    cairo_t *cr = draw_begin(&out);
    draw_image(cr, in, 0, round(above), in->width, in->height);
    if (above > 0)
        paint_bar(cr, random, (double[]){0, 0, in->width, round(above)}, dark);
    if (below > 0)
        paint_bar(cr, random, (double[]){0, in->height + round(above), in->width, below + 1}, dark);
    draw_end(cr);
    return out;
}

struct image edit_meme_bar(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    double share = random_between(random, .16, .26);
    return random_below(random, 4) ? captioned(in, random, share, 0)
                                   : captioned(in, random, 0, share);
}

struct image edit_meme_both(const struct image *in, struct random *random,
                            struct encoding *encoding)
{
    (void)encoding;
    return captioned(in, random, random_between(random, .1, .18), random_between(random, .1, .18));
}

/* ---- screens ---- */

struct theme {
    double page, ink, faint;
};

static struct theme choose_theme(struct random *random)
{
    static const struct theme THEMES[] = {
        {1, .1, .8}, {.98, .15, .75}, {0, .95, .25}, {.09, .9, .3}};
    return THEMES[random_below(random, 4)];
}

static void grey(cairo_t *cr, double value)
{
    cairo_set_source_rgb(cr, value, value, value);
}

static void box(cairo_t *cr, double x, double y, double width, double height, double value)
{
    grey(cr, value);
    cairo_rectangle(cr, x, y, width, height);
    cairo_fill(cr);
}

static void disc(cairo_t *cr, double x, double y, double radius)
{
    cairo_arc(cr, x, y, radius, 0, 2 * M_PI);
    cairo_fill(cr);
}

/** Clock, signal and battery along the top of a phone. */
static void paint_status_bar(cairo_t *cr, struct random *random, double width, struct theme theme)
{
    char clock[16];
    snprintf(clock, sizeof clock, "%d:%02d", 1 + random_below(random, 23),
             random_below(random, 60));
    grey(cr, theme.ink);
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(cr, 15);
    cairo_move_to(cr, 22, 25);
    cairo_show_text(cr, clock);
    for (int i = 0; i < 4; i++)
        box(cr, width - 95 + 6 * i, 24 - 3 * i, 4, 3 + 3 * i, theme.ink);
    cairo_set_line_width(cr, 1.5);
    cairo_rectangle(cr, width - 50, 13, 26, 12);
    cairo_stroke(cr);
    box(cr, width - 48, 15, random_between(random, 5, 22), 8, theme.ink);
}

/** Who posted it: a round portrait, a name, a menu. */
static void paint_post_header(cairo_t *cr, struct random *random, double y, double width,
                              struct theme theme)
{
    cairo_set_source_rgb(cr, random_between(random, .2, .9), random_between(random, .2, .9),
                         random_between(random, .2, .9));
    disc(cr, 34, y + 28, 19);
    grey(cr, theme.ink);
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_move_to(cr, 64, y + 26);
    draw_random_text(cr, random, 15, 2);
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_move_to(cr, 64, y + 43);
    draw_random_text(cr, random, 12, 3);
    for (int i = 0; i < 3; i++)
        disc(cr, width - 34 + 8 * i, y + 28, 2);
}

/** Hearts and arrows under the picture, a count, and what people wrote. */
static void paint_post_footer(cairo_t *cr, struct random *random, double y, double bottom,
                              struct theme theme)
{
    cairo_set_line_width(cr, 2.2);
    grey(cr, theme.ink);
    for (int i = 0; i < 3; i++) {
        cairo_arc(cr, 32 + 42 * i, y + 24, 11, 0, 2 * M_PI);
        cairo_stroke(cr);
    }
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    for (double line = y + 64; line < bottom - 8; line += random_between(random, 22, 34)) {
        cairo_move_to(cr, 20, line);
        draw_random_text(cr, random, 15, 3 + random_below(random, 5));
    }
}

/** The row of buttons at a phone's bottom. */
static void paint_navigation(cairo_t *cr, double y, double width, double height, struct theme theme)
{
    box(cr, 0, y, width, height, theme.page);
    box(cr, 0, y, width, 1, theme.faint);
    cairo_set_line_width(cr, 2.5);
    grey(cr, theme.ink);
    for (int i = 0; i < 5; i++) {
        cairo_rectangle(cr, width * (i + .5) / 5 - 10, y + 14, 20, 20);
        cairo_stroke(cr);
    }
}

struct image edit_phone_shot(const struct image *in, struct random *random,
                             struct encoding *encoding)
{
    (void)encoding;
    double width = 440 + random_below(random, 120),
           height = width * random_between(random, 1.9, 2.2);
    struct theme theme = choose_theme(random);
    double margin = random_below(random, 3) ? 0 : random_between(random, 8, 24);
    double shown = width - 2 * margin, tall = shown * in->height / in->width;
    double scale = fmin(1, .72 * height / tall); /* a tall picture is fitted between the bars */
    shown *= scale, tall *= scale;
    double x = (width - shown) / 2, y = random_between(random, 120, fmax(121, height - 220 - tall));
    struct image out = image_new((int)width, (int)height);
    cairo_t *cr = draw_begin(&out);
    grey(cr, theme.page);
    cairo_paint(cr);
    paint_status_bar(cr, random, width, theme);
    if (y > 190)
        paint_post_footer(cr, random, 50, y - 64, theme);
    paint_post_header(cr, random, y - 62, width, theme);
    draw_image(cr, in, round(x), round(y), round(shown), round(tall));
    paint_post_footer(cr, random, y + tall, height - 56, theme);
    paint_navigation(cr, height - 50, width, 50, theme);
    draw_end(cr);
    return out;
}

/** Lines of a web page in a column. */
static void paint_column(cairo_t *cr, struct random *random, const double area[4],
                         struct theme theme)
{
    cairo_save(cr);
    cairo_rectangle(cr, area[0], area[1], area[2], area[3]);
    cairo_clip(cr);
    grey(cr, theme.ink);
    for (double y = area[1] + 14; y < area[1] + area[3]; y += random_below(random, 6) ? 17 : 34) {
        cairo_move_to(cr, area[0], y);
        draw_random_text(cr, random, 12, (int)(area[2] / 45) + random_below(random, 4));
    }
    cairo_restore(cr);
}

/** Title bar, tabs and address of a browser. */
static void paint_browser(cairo_t *cr, struct random *random, double width, struct theme theme)
{
    box(cr, 0, 0, width, 34, theme.faint);
    box(cr, 8, 6, 190, 28, theme.page);
    grey(cr, theme.ink);
    cairo_move_to(cr, 20, 25);
    draw_random_text(cr, random, 12, 3);
    box(cr, 90, 41, width - 180, 24, theme.page > .5 ? .92 : .2);
    grey(cr, theme.ink);
    cairo_move_to(cr, 104, 58);
    draw_random_text(cr, random, 12, 4);
    for (int i = 0; i < 3; i++) {
        grey(cr, theme.ink);
        disc(cr, 22 + 24 * i, 53, 6);
        disc(cr, width - 70 + 24 * i, 17, 5);
    }
    box(cr, 0, 71, width, 1, theme.faint);
}

struct image edit_desktop_shot(const struct image *in, struct random *random,
                               struct encoding *encoding)
{
    (void)encoding;
    double width = 1100 + random_below(random, 260),
           height = width * random_between(random, .56, .64);
    struct theme theme = choose_theme(random);
    struct image out = image_new((int)width, (int)height);
    cairo_t *cr = draw_begin(&out);
    grey(cr, theme.page);
    cairo_paint(cr);
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    paint_browser(cr, random, width, theme);
    double room_x = width * random_between(random, .5, .7), room_y = height - 72 - 80;
    double scale = fmin(room_x / in->width, room_y / in->height);
    double shown = round(in->width * scale), tall = round(in->height * scale);
    double x = round(random_between(random, 40, fmax(41, width * .8 - shown)));
    double y = round(random_between(random, 100, fmax(101, height - 60 - tall)));
    draw_image(cr, in, x, y, shown, tall);
    if (y > 120)
        paint_column(cr, random, (double[]){x, 80, shown, y - 94}, theme);
    paint_column(cr, random, (double[]){x, y + tall + 10, shown, height - 56 - y - tall}, theme);
    double side = x + shown + 30;
    paint_column(cr, random, (double[]){side, 90, width - side - 20, height - 146}, theme);
    box(cr, 0, height - 40, width, 40, theme.page > .5 ? .2 : .05);
    for (int i = 0; i < 7; i++)
        box(cr, 14 + 44 * i, height - 33, 26, 26, random_between(random, .3, .9));
    draw_end(cr);
    return out;
}

struct image edit_shot_mirror(const struct image *in, struct random *random,
                              struct encoding *encoding)
{
    struct image mirrored = mirror(in);
    struct image out = edit_phone_shot(&mirrored, random, encoding);
    image_free(&mirrored);
    return out;
}
