/* Pictures in videos, by the frames themselves: what is near by its code is read, and compared as
 * two images are. */
#ifndef DOPPEL_SEARCH_STILLS_H
#define DOPPEL_SEARCH_STILLS_H

#include <doppel/search.h>

#include "search/videos.h"

/* So many videos are looked at, at most: the nearest. */
enum { STILLS_MOST = 8 };

/* A video that is near by one frame. */
struct still_candidate {
    struct doppel_found found;     /* its segments are `segment` */
    struct doppel_segment segment; /* when the frame is shown */
};

/* Whether the image is shown where the codes say that it nearly is: the frame is read.
 *
 * @param frames how many there are in all videos: with so many the image is compared
 * @param candidate that it matches, and how, is set in it
 * @return DOPPEL_OK whatever it shows; else why the search cannot go on */
enum doppel_status still_check(const struct track_search *search, const struct doppel_record *image,
                               uint64_t frames, struct still_candidate *candidate,
                               struct doppel_error *error);

#endif
