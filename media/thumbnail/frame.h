/* A frame of libavcodec to a thumbnail. */
#ifndef DOPPEL_MEDIA_THUMBNAIL_FRAME_H
#define DOPPEL_MEDIA_THUMBNAIL_FRAME_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include <doppel/core.h>

/** How a frame is shown. */
struct frame_shape {
    AVRational pixel;     /**< its shape; 0 = square */
    unsigned orientation; /**< EXIF 1..8 */
    bool opaque;          /**< whatever its alpha says */
    uint32_t longest;     /**< of the thumbnail's sides; a smaller frame stays as it is */
};

/** In colour, upright, what is transparent over white; a JPEG. @param out given (free).
 * DOPPEL_E_UNSUPPORTED, _MEMORY. */
enum doppel_status thumbnail_of_frame(const AVFrame *frame, const struct frame_shape *shape,
                                      uint8_t **out, size_t *out_size, struct doppel_error *error);

#endif
