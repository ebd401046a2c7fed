/* The images of a library that are like one, by its codes, and by its pixels where these leave a
 * doubt. */
#ifndef DOPPEL_SEARCH_IMAGES_H
#define DOPPEL_SEARCH_IMAGES_H

#include "search/list_limits.h"
#include "search/videos.h"

/* Which image is looked for, and how near; all borrowed. Images that are found by their bytes or
 * pixels are in the results already. */
struct image_search {
    struct track_search at;
    const struct doppel_match_options *match;
    const struct list_limits *limits;
    const struct doppel_match_item *image;
    const struct doppel_record *record; /* NULL: of a code */
};

/* Append what matches, and with `near_misses` of the options the best that does not. */
enum doppel_status search_by_views(const struct image_search *search, struct doppel_error *error);

#endif
