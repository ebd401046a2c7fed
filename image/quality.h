/* The quality figure of a picture that is already reduced. */
#ifndef DOPPEL_IMAGE_QUALITY_H
#define DOPPEL_IMAGE_QUALITY_H

#include <stdint.h>

enum { QUALITY_SIDE = 64 };

/** 0..100, see doppel_image_quality; cells in levels 0..255. */
uint8_t quality_of_thumb(const uint16_t cells[QUALITY_SIDE * QUALITY_SIDE]);

#endif
