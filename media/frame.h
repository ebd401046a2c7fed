/* From a frame of libavcodec, of whatever pixel format, to luma. */
#ifndef DOPPEL_MEDIA_FRAME_H
#define DOPPEL_MEDIA_FRAME_H

#include <libavutil/frame.h>

#include "media/decode.h"

/** @param ignore_alpha also when the pixel format has one */
enum doppel_status frame_to_picture(const AVFrame *frame, const struct doppel_luma_options *options,
                                    bool ignore_alpha, struct picture *out,
                                    struct doppel_error *error);

#endif
