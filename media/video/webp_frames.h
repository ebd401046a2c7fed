/* An animated WebP as a short video. */
#ifndef DOPPEL_MEDIA_WEBP_FRAMES_H
#define DOPPEL_MEDIA_WEBP_FRAMES_H

#include <doppel/media.h>

/** Whether the file begins like one. */
bool is_animated_webp(int fd);

/** As doppel_media_read_frames. */
enum doppel_status read_webp_frames(int fd, const struct doppel_frames_options *options,
                                    doppel_frames_visitor *visitor, void *context,
                                    struct doppel_frames_info *out_info,
                                    struct doppel_error *error);

#endif
