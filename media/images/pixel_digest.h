/* The pixels of a lossless picture as a digest, whatever file holds them: that two pictures are the
 * same, and not only near. */
#ifndef DOPPEL_MEDIA_PIXEL_DIGEST_H
#define DOPPEL_MEDIA_PIXEL_DIGEST_H

#include <stdbool.h>

#include "core/digest.h"

struct pixel_digest;

/** Begin with a picture of `width` x `height`; NULL when there is no memory. */
struct pixel_digest *pixel_digest_new(uint32_t width, uint32_t height);
void pixel_digest_free(struct pixel_digest *digest);

/** Take the next row of samples, 8 bits each. @param channels 1 = grey, 2 = grey and alpha, 3 =
 * RGB, 4 = RGBA; alpha counts as opaque where `ignore_alpha` says so */
void pixel_digest_take(struct pixel_digest *digest, const uint8_t *samples, unsigned channels,
                       bool ignore_alpha);

/** XXH3-128 of width and height, and of all rows as RGB; where a pixel is not opaque, of that and
 * the alpha of all rows. The colour of what cannot be seen counts as black: some writers change it.
 */
struct doppel_digest pixel_digest_get(const struct pixel_digest *digest);

#endif
