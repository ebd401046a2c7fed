/* What the blocks of a GIF tell, without decoding. */
#ifndef DOPPEL_MEDIA_GIF_H
#define DOPPEL_MEDIA_GIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gif_rows {
    uint32_t rows, height; /**< of the canvas: from the top, as far as it is known; and all */
    uint32_t top, frame_height, read; /**< of the frame: where it lies, and rows that are there */
    bool interlaced;                  /**< every eighth row comes first */
};

/** Whether it is whole, and has one frame, which fills the canvas: where none does, decoders fill
 * it as they like. */
bool gif_is_still(const uint8_t *data, size_t size);

/** Whether the bytes end within the data of the first frame. @param out filled only then */
bool gif_is_cut(const uint8_t *data, size_t size, struct gif_rows *out);

/** Whether row `y` of the canvas is not there: of an interlaced frame the row above it stands for
 * it. */
bool gif_lacks_row(const struct gif_rows *gif, uint32_t y);

#endif
