/* The ends of what two films share, looked at frame by frame. */
#ifndef DOPPEL_TOOLS_FILM_REFINE_H
#define DOPPEL_TOOLS_FILM_REFINE_H

#include "tools/film_looks.h"
#include "tools/film_judge.h"

/* A film, as it was read, or as a library has it. Borrowed. */
struct film_side {
    struct film_file file;
    const struct doppel_record *record;
};

/* Move the ends of the match's segments to where the frames say. Where a file cannot be looked at
 * again, they stay. @param sides the query, the item */
enum doppel_status film_refine(struct film_looks *looks, const struct film_side sides[2],
                               struct doppel_match *match, struct doppel_error *error);

#endif
