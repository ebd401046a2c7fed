/* Small pictures for people: how they are written, and made of a decoder's frame. */
#ifndef DOPPEL_MEDIA_THUMBNAIL_H
#define DOPPEL_MEDIA_THUMBNAIL_H

#include <doppel/media.h>

#include "media/decode.h"

/** Rows of samples without a gap: 1 = grey, 3 = RGB. */
struct thumbnail {
    const uint8_t *samples;
    uint32_t width, height;
    unsigned channels;
};

/** The means of a channel's samples that fall on each of `to`; the nearest where there are fewer.
 * @param out as many as `to` has */
void shrink_samples(const struct thumbnail *from, unsigned channel,
                    const struct doppel_plane *to, uint8_t *out);

/** Make a picture small, each sample the mean of those that fall on it, turn it upright, and write
 * it. As thumbnail_write. @param longest of its sides */
enum doppel_status thumbnail_shrink(const struct thumbnail *from, unsigned orientation,
                                    uint32_t longest, uint8_t **out, size_t *out_size,
                                    struct doppel_error *error);

/** Write it as a JPEG. @param out given (free). DOPPEL_E_MEMORY. */
enum doppel_status thumbnail_write(const struct thumbnail *thumbnail, uint8_t **out,
                                   size_t *out_size, struct doppel_error *error);

/** A still of a format that libavcodec reads, in colour. As doppel_media_read_still. */
enum doppel_status lavc_still(struct input *input, const struct doppel_luma_options *options,
                              enum doppel_format format, uint32_t longest, uint8_t **out,
                              size_t *out_size, struct doppel_error *error);

#endif
