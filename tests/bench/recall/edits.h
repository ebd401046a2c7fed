/* The edits that image_recall makes of each original. */
#ifndef BENCH_RECALL_EDITS_H
#define BENCH_RECALL_EDITS_H

#include "image.h"

/** Make the edited picture; amounts and places come from `random`. `encoding` holds a JPEG of good
 * quality and may be changed. */
typedef struct image edit_function(const struct image *in, struct random *random,
                                   struct encoding *encoding);

struct edit {
    const char *name;
    edit_function *apply;
    bool more; /**< beyond the 41 that figures of others are known for: in a mean of its own */
};

extern const struct edit edits[];
extern const int edit_count;

/** Those that are made of all originals with the same numbers, to compare with each other. */
extern const struct edit alike_edits[];
extern const int alike_count;

/* tones.c */
edit_function edit_jpeg90, edit_jpeg50, edit_jpeg10, edit_webp60, edit_bright, edit_contrast_up,
    edit_contrast_down, edit_gamma, edit_equalize, edit_blur2, edit_blur5, edit_noise12,
    edit_noise30, edit_grey, edit_sepia;
/* frames.c */
edit_function edit_scale50, edit_scale25, edit_squash, edit_crop2, edit_crop5, edit_crop10,
    edit_crop20, edit_crop30, edit_corner_crop, edit_border_black, edit_border_white,
    edit_border_colour, edit_letterbox, edit_pillarbox, edit_rotate1, edit_rotate5,
    edit_rotate_crop, edit_mirror, edit_turn90, edit_turn180, edit_mirror_crop, edit_social;
/* overlays.c */
edit_function edit_watermark, edit_logo, edit_sticker, edit_text, edit_sticker_crop, edit_hardmix;
/* screens.c */
edit_function edit_meme_bar, edit_meme_both, edit_phone_shot, edit_desktop_shot, edit_shot_mirror;

/* Used across the files. */
struct image crop_share(const struct image *in, struct random *random, double share);
struct image mirror(const struct image *in);
void draw_random_text(cairo_t *cr, struct random *random, double size, int words);
void random_sentence(struct random *random, int words, char *out, size_t room);

#endif
