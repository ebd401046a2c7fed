/* A frame of a video that was read, as the record of an image. */
#ifndef DOPPEL_INTAKE_VIDEO_STILL_H
#define DOPPEL_INTAKE_VIDEO_STILL_H

#include "intake/video_previews.h"

/* @param seconds of the frame @param out given (doppel_record_free), with what the pixel check
 * needs; empty when the video is gone, or is another one, or has no such frame.
 * DOPPEL_E_CANCELLED; others when the run cannot go on */
enum doppel_status video_still_read(struct video_looks *looks, const struct video_file *file,
                                    double seconds, struct doppel_record *out,
                                    struct doppel_error *error);

#endif
