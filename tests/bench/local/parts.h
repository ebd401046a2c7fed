/* The edits of local_recall: pictures that show a part of an original. */
#ifndef BENCH_LOCAL_PARTS_H
#define BENCH_LOCAL_PARTS_H

#include "../recall/image.h"

/** Make a picture that shows a part of `in`; `others` are three pictures that have nothing to do
 * with it. */
typedef struct image part_function(const struct image *in, const struct image *others,
                                   struct random *random);

struct part_edit {
    const char *name;
    part_function *apply;
    double goal;  /* percent of the originals that are to be found; 0: none stated */
    bool is_crop; /* shows no more than a part */
};

extern const struct part_edit part_edits[];
extern const int part_edit_count;

/** Whether in an eighth of 8×8 cells the luma varies by 16 levels: else there is nothing to find a
 * picture by, as in the corner of a drawing on white. */
bool part_shows_something(const struct image *image);

/** A picture as it comes back from a JPEG of so much quality. */
struct image part_recoded(const struct image *in, int quality);

#endif
