/* Whether a file that libavcodec decodes holds its picture without loss. */
#ifndef DOPPEL_MEDIA_LOSSLESS_H
#define DOPPEL_MEDIA_LOSSLESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/media.h>

/** Whether a GIF, BMP, TGA or TIFF of at least 26 bytes holds one picture, lossless and, as far as
 * its structure tells, all of it, so that what is decoded is what was stored; of others false. */
bool lossless_is_whole(enum doppel_format format, const uint8_t *data, size_t size);

#endif
