/* From a frame of libavcodec, of whatever pixel format, to luma. */
#ifndef DOPPEL_MEDIA_FRAME_H
#define DOPPEL_MEDIA_FRAME_H

#include <libavutil/frame.h>

#include "media/decode.h"

/** What the pixel format does not tell. */
struct frame_facts {
    bool ignore_alpha; /**< also when the pixel format has one */
    bool lossless;     /**< and all that the file holds: its pixels may have a digest */
};

enum doppel_status frame_to_image(const AVFrame *frame, const struct doppel_luma_options *options,
                                  const struct frame_facts *facts, struct image *out,
                                  struct doppel_error *error);

#endif
