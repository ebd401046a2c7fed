/* Frames of two videos that are alike, for the eye: by their codes alone, wherever they are. */
#ifndef DOPPEL_COMPARE_VIDEO_CANDIDATES_H
#define DOPPEL_COMPARE_VIDEO_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/match.h>
#include <doppel/video.h>

/* A frame of the query, and one of the item. */
struct frame_candidate {
    double seconds[2];
    bool met; /* on a line of the match */
};

/* Of each frame of the query, seen as the match has it, the nearest few of the item. @param out
 * given (free). @return how many */
size_t find_frame_candidates(const struct doppel_video_track *query,
                             const struct doppel_video_track *item,
                             const struct doppel_match *match, struct frame_candidate **out);

#endif
