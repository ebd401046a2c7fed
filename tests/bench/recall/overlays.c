/* Edits that paint onto the picture: watermarks, logos, stickers, text. */
#include "edits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---- */

static const char *const WORDS[] = {
    "when", "you",    "the",    "only",  "monday", "coffee", "about", "really", "never",  "found",
    "my",   "friend", "said",   "this",  "is",     "best",   "day",   "of",     "summer", "wait",
    "for",  "it",     "nobody", "me",    "at",     "work",   "again", "still",  "love",   "that",
    "and",  "then",   "they",   "asked", "why",    "so",     "much",  "happy",  "new",    "place",
};

/** `words` words of everyday language, the first one with a capital. */
void random_sentence(struct random *random, int words, char *out, size_t room)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < words && used + 16 < room; i++) {
        const char *word = WORDS[random_below(random, (int)(sizeof WORDS / sizeof *WORDS))];
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? " " : "", word);
    }
    if (out[0] >= 'a')
        out[0] = (char)(out[0] - 'a' + 'A');
}

/** A sentence with its left end at the current point. */
void draw_random_text(cairo_t *cr, struct random *random, double size, int words)
{
    char text[256];
    random_sentence(random, words, text, sizeof text);
    cairo_set_font_size(cr, size);
    cairo_show_text(cr, text);
}

static void choose_font(cairo_t *cr, struct random *random)
{
    static const char *const FAMILIES[] = {"Sans", "Serif", "Monospace"};
    cairo_select_font_face(cr, FAMILIES[random_below(random, 3)], CAIRO_FONT_SLANT_NORMAL,
                           random_below(random, 2) ? CAIRO_FONT_WEIGHT_BOLD
                                                   : CAIRO_FONT_WEIGHT_NORMAL);
}

static void random_colour(cairo_t *cr, struct random *random)
{
    cairo_set_source_rgb(cr, random_between(random, 0, 1), random_between(random, 0, 1),
                         random_between(random, 0, 1));
}

/** White letters with a black rim, the middle of the line at x, y. */
static void draw_rimmed(cairo_t *cr, const char *text, double x, double y, double size)
{
    cairo_text_extents_t extents;
    cairo_set_font_size(cr, size);
    cairo_text_extents(cr, text, &extents);
    cairo_new_path(cr);
    cairo_move_to(cr, x - extents.width / 2 - extents.x_bearing, y + size / 3);
    cairo_text_path(cr, text);
    cairo_set_source_rgb(cr, 0, 0, 0);
    cairo_set_line_width(cr, size / 7);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke_preserve(cr);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_fill(cr);
}

/* ---- edits ---- */

/** A stock agency's: pale words along a slope, again and again, or once across the middle. */
struct image edit_watermark(const struct image *in, struct random *random,
                            struct encoding *encoding)
{
    (void)encoding;
    struct image out = image_copy(in);
    cairo_t *cr = draw_begin(&out);
    double side = fmin(in->width, in->height), width = in->width, height = in->height;
    bool tiled = random_below(random, 2);
    double size =
        side * (tiled ? random_between(random, .05, .08) : random_between(random, .12, .18));
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(cr, size);
    cairo_set_source_rgba(cr, 1, 1, 1, random_between(random, .3, .5));
    cairo_translate(cr, width / 2, height / 2);
    cairo_rotate(cr, -random_between(random, .3, .7));
    double reach = hypot(width, height) / 2, step = tiled ? size * 4 : reach * 4;
    for (double y = tiled ? -reach : 0; y < reach; y += step)
        for (double x = tiled ? -reach : -size * 2.7; x < reach; x += size * 9) {
            cairo_move_to(cr, x, y);
            cairo_show_text(cr, "(c) picstock");
            if (!tiled)
                break;
        }
    draw_end(cr);
    return out;
}

/** A channel's mark in a corner: a disc or a plate with letters. */
struct image edit_logo(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    struct image out = image_copy(in);
    cairo_t *cr = draw_begin(&out);
    double area = random_between(random, .02, .045) * in->width * in->height;
    double height = sqrt(area / 1.6), width = area / height, gap = .03 * in->width;
    double x = random_below(random, 2) ? gap : in->width - gap - width;
    double y = random_below(random, 2) ? gap : in->height - gap - height;
    random_colour(cr, random);
    if (random_below(random, 2)) {
        cairo_rectangle(cr, x, y, width, height);
    } else {
        cairo_save(cr);
        cairo_translate(cr, x + width / 2, y + height / 2);
        cairo_scale(cr, width / 2, height / 2);
        cairo_arc(cr, 0, 0, 1, 0, 2 * M_PI);
        cairo_restore(cr);
    }
    cairo_fill(cr);
    cairo_select_font_face(cr, "Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_set_font_size(cr, height * .5);
    cairo_move_to(cr, x + width * .14, y + height * .68);
    cairo_show_text(cr, "TV7");
    draw_end(cr);
    return out;
}

/** The yellow face of a chat program within a unit circle. */
static void draw_face(cairo_t *cr)
{
    cairo_set_source_rgb(cr, 1, .82, .2);
    cairo_arc(cr, 0, 0, 1, 0, 2 * M_PI);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, .25, .15, .05);
    cairo_arc(cr, -.35, -.25, .15, 0, 2 * M_PI);
    cairo_fill(cr);
    cairo_arc(cr, .35, -.25, .15, 0, 2 * M_PI);
    cairo_fill(cr);
    cairo_set_line_width(cr, .12);
    cairo_arc(cr, 0, .05, .6, .3, M_PI - .3);
    cairo_stroke(cr);
}

/** A speech bubble within the unit square, with a word. */
static void draw_bubble(cairo_t *cr, struct random *random)
{
    random_colour(cr, random);
    cairo_save(cr);
    cairo_scale(cr, 1, .8);
    cairo_arc(cr, 0, -.2, 1, 0, 2 * M_PI);
    cairo_restore(cr);
    cairo_fill(cr);
    cairo_move_to(cr, -.5, .4);
    cairo_line_to(cr, -.7, 1);
    cairo_line_to(cr, 0, .5);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, 1, 1, 1);
    choose_font(cr, random);
    cairo_move_to(cr, -.75, 0);
    draw_random_text(cr, random, .45, 1);
}

/** A heart within the unit square. */
static void draw_heart(cairo_t *cr, struct random *random)
{
    cairo_set_source_rgb(cr, random_between(random, .7, 1), 0, random_between(random, 0, .5));
    cairo_move_to(cr, 0, 1);
    cairo_curve_to(cr, -1.6, -.2, -.8, -1.6, 0, -.5);
    cairo_curve_to(cr, .8, -1.6, 1.6, -.2, 0, 1);
    cairo_fill(cr);
}

/** A sticker in a box of `share` of the picture, at a random place. */
static struct image with_sticker(const struct image *in, struct random *random, double share)
{
    struct image out = image_copy(in);
    cairo_t *cr = draw_begin(&out);
    double half = sqrt(share * in->width * in->height) / 2;
    half = fmin(half, fmin(in->width, in->height) / 2.);
    cairo_translate(cr, random_between(random, half, in->width - half),
                    random_between(random, half, in->height - half));
    cairo_scale(cr, half, half);
    int kind = random_below(random, 3);
    if (kind == 0)
        draw_face(cr);
    else if (kind == 1)
        draw_bubble(cr, random);
    else
        draw_heart(cr, random);
    draw_end(cr);
    return out;
}

struct image edit_sticker(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return with_sticker(in, random, random_between(random, .1, .14));
}

/** Two or three lines across the picture. */
struct image edit_text(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    struct image out = image_copy(in);
    cairo_t *cr = draw_begin(&out);
    double size = fmin(in->height, in->width) * random_between(random, .07, .11);
    int lines = 2 + random_below(random, 2);
    double y = random_between(random, size, in->height - size * 1.3 * lines);
    choose_font(cr, random);
    for (int i = 0; i < lines; i++) {
        char text[128];
        random_sentence(random, 3 + random_below(random, 3), text, sizeof text);
        draw_rimmed(cr, text, in->width / 2., y + (i + .5) * size * 1.3, size);
    }
    draw_end(cr);
    return out;
}

struct image edit_sticker_crop(const struct image *in, struct random *random,
                               struct encoding *encoding)
{
    (void)encoding;
    struct image cropped = crop_share(in, random, random_between(random, .04, .06));
    struct image out = with_sticker(&cropped, random, random_between(random, .05, .09));
    image_free(&cropped);
    return out;
}

/** A repost of a repost: cut, marked, toned, shrunk and badly compressed. */
struct image edit_hardmix(const struct image *in, struct random *random, struct encoding *encoding)
{
    struct image step = crop_share(in, random, random_between(random, .03, .06)), next;
    next = edit_logo(&step, random, encoding);
    image_free(&step);
    step = random_below(random, 2) ? edit_contrast_up(&next, random, encoding)
                                   : edit_gamma(&next, random, encoding);
    image_free(&next);
    next = edit_scale50(&step, random, encoding);
    image_free(&step);
    encoding->quality = (int)random_between(random, 25, 40);
    return next;
}
