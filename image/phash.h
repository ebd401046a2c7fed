/* From reduced cells to a code; which coefficient each bit of a code is. */
#ifndef DOPPEL_IMAGE_PHASH_H
#define DOPPEL_IMAGE_PHASH_H

#include <doppel/image.h>

#include "image/dct.h"

enum { PHASH_BITS = 256 };

/** Coefficient of a bit: u counts along a row, v down a column. */
struct phash_bit {
    uint8_t u, v;
};

extern const struct phash_bit phash_bits[PHASH_BITS];

/** The cells are 8.8 fixed point: plane_average(…, DCT_SIDE, DCT_SIDE, PHASH_CELL_SCALE, …). */
enum { PHASH_CELL_SCALE = 256 };

struct doppel_code phash_cells(const uint16_t cells[DCT_SIDE * DCT_SIDE]);

#endif
