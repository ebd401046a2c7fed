/* The ends of what two videos share, looked at frame by frame. */
#ifndef DOPPEL_INTAKE_VIDEO_REFINE_H
#define DOPPEL_INTAKE_VIDEO_REFINE_H

#include "intake/video_previews.h"
#include "compare/video.h"

/* A video, as it was read, or as a library has it. Borrowed. */
struct video_side {
    struct video_file file;
    const struct doppel_record *record;
};

/* Move the ends of the match's segments to where the frames say. Where a file cannot be looked at
 * again, they stay. @param sides the query, the item */
enum doppel_status video_refine(struct video_looks *looks, const struct video_side sides[2],
                                struct doppel_match *match, struct doppel_error *error);

#endif
