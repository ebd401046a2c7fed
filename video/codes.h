/* Codes of runs as bytes. */
#ifndef DOPPEL_VIDEO_CODES_H
#define DOPPEL_VIDEO_CODES_H

#include <doppel/video.h>

/** @return given (free); NULL: no memory */
uint8_t *codes_write(const struct doppel_video_frame *frames, size_t count, size_t *out_size);

/** The codes of `count` frames. @return false: these are not the bytes that codes_write makes of
 * any such codes */
bool codes_read(const uint8_t *bytes, size_t size, struct doppel_video_frame *frames, size_t count);

#endif
