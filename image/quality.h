/* Detail and structure of a picture that is already reduced. */
#ifndef DOPPEL_IMAGE_QUALITY_H
#define DOPPEL_IMAGE_QUALITY_H

#include <stdint.h>

#include "image/dct.h"
#include "image/plane.h"

enum { QUALITY_SIDE = 64 };

/** Cells each way at which a plane is looked at: QUALITY_SIDE, halved until the plane has as many
 * samples. */
uint32_t quality_side(uint32_t width, uint32_t height);

/** A view with less detail matches anything. */
enum { MIN_DETAIL = 10 };

/** Share of places with detail, in percent; side×side cells in levels 0..255. */
uint8_t detail_of_cells(const uint16_t *cells, uint32_t side);

/** The same of a part of the picture, as far as whole cells of the whole picture tell; 0 if it has
 * fewer than 8 each way. */
uint8_t detail_of_part(const uint16_t *cells, uint32_t side, struct share_box part);

/** Share of places, in percent, from which it is as bright as to the right and below; cells as
 * above. */
uint8_t even_of_cells(const uint16_t *cells, uint32_t side);

/** The most quality that a picture has of which so much is even, in percent: figures on one ground
 * are near to each other by what surrounds them. Never under DOPPEL_IMAGE_MIN_QUALITY. */
uint8_t quality_of_even(uint8_t even);

/** The quality of a picture with so much detail and such coefficients (dct_lowest). */
uint8_t quality_of(uint8_t detail, const double coefficients[DCT_KEPT][DCT_KEPT]);

#endif
