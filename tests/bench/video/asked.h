/* What doppel says of a query, and whether it is right. */
#ifndef BENCH_VIDEO_ASKED_H
#define BENCH_VIDEO_ASKED_H

#include <doppel/match.h>

#include "videos.h"
#include "truth.h"

/** How one end of a segment lies to the truth, seconds. */
struct end {
    double a, b; /**< later than true */
};

/** The answer to a query. */
struct asked {
    bool item;  /**< the right video is a match */
    bool place; /**< and where it is: the stretches overlap, times are off by less than a second */
    bool uncertain;                /**< … or the times are said to be uncertain */
    bool mirrored;                 /**< as it was reported */
    size_t wrong;                  /**< matches that are of other videos */
    double score;                  /**< of the right video, a match or not; NAN: no candidate */
    double wrong_score;            /**< the best of other videos, a match or not; NAN: none */
    size_t wrong_video;            /**< which one that is */
    double seconds;                /**< of CPU, to find it */
    struct doppel_video_view view; /**< how the right one was seen */
    struct doppel_segment segment; /**< of the right video, the one that overlaps most */
    struct end first, last;        /**< its ends, without a closer look and, refined, with it */
    struct end refined_first, refined_last;
    bool slope;           /**< the speed of that segment is right, to 1 % */
    size_t contradictory; /**< other segments of the right video that are off by a second or more */
    double compared; /**< what a comparison of the two says, as `score`; NAN: not asked, no match */
};

struct asking {
    const struct clips *clips; /**< their numbers are the ids */
    const struct doppel_videos *set;
    struct doppel_video_search search;
    bool refine;
    bool compare; /**< what is not found is compared with the right video */
};

/** Look for a query. */
struct asked ask(const struct asking *asking, const struct clip *query, const struct truth *truth);

#endif
