/* Colour to luma, the same everywhere. */
#ifndef DOPPEL_MEDIA_RGB_H
#define DOPPEL_MEDIA_RGB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** ITU-R BT.601 luma in 16-bit fixed point. */
static inline uint8_t luma_of(unsigned red, unsigned green, unsigned blue)
{
    return (uint8_t)((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

/** A luma sample of opacity `alpha` laid over white. */
static inline uint8_t over_white(unsigned luma, unsigned alpha)
{
    return (uint8_t)((luma * alpha + 255 * (255 - alpha) + 127) / 255);
}

/** a*b/255, rounded. */
static inline unsigned scale_255(unsigned a, unsigned b)
{
    unsigned product = a * b + 128;
    return ((product >> 8) + product) >> 8;
}

/**
 * A row of interleaved samples to luma.
 * @param channels 1 = grey, 2 = grey and alpha, 3 = RGB, 4 = RGBA; alpha is laid over white unless
 *                 `ignore_alpha`
 */
void luma_row(const uint8_t *samples, size_t width, unsigned channels, bool ignore_alpha,
              uint8_t *out);

#endif
