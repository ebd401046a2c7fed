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

/** 1 = odd u, 2 = odd v, 3 = both: what mirroring negates. */
static inline unsigned phash_parity(struct phash_bit bit)
{
    return (bit.u & 1u) | (bit.v & 1u) << 1;
}

/** The cells are 8.8 fixed point: plane_average(…, DCT_SIDE, DCT_SIDE, PHASH_CELL_SCALE, …). */
enum { PHASH_CELL_SCALE = 256 };

/** The square of a bit's coefficient, weighed: the spectrum of pictures falls with the frequency,
 * and the cosines of row and column 0 are longer by a root of 2. */
double phash_energy(const double coefficients[DCT_KEPT][DCT_KEPT], struct phash_bit bit);

/** The bits of transformed cells (dct_lowest). */
struct doppel_code phash_bits_of(const double coefficients[DCT_KEPT][DCT_KEPT]);

#endif
