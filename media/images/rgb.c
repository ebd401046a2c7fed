/* Rows of colour to rows of luma. */
#include <stdbool.h>
#include <string.h>

#include "media/images/rgb.h"

static void row_of_grey_alpha(const uint8_t *in, size_t width, uint8_t *out)
{
    for (size_t x = 0; x < width; x++, in += 2)
        out[x] = over_white(in[0], in[1]);
}

static void row_of_rgb(const uint8_t *in, size_t width, unsigned step, uint8_t *out)
{
    for (size_t x = 0; x < width; x++, in += step)
        out[x] = luma_of(in[0], in[1], in[2]);
}

static void row_of_rgba(const uint8_t *in, size_t width, uint8_t *out)
{
    for (size_t x = 0; x < width; x++, in += 4)
        out[x] = over_white(luma_of(in[0], in[1], in[2]), in[3]);
}

void luma_row(const uint8_t *samples, size_t width, unsigned channels, bool ignore_alpha,
              uint8_t *out)
{
    if (channels == 1)
        memcpy(out, samples, width);
    else if (channels == 2 && ignore_alpha)
        for (size_t x = 0; x < width; x++)
            out[x] = samples[2 * x];
    else if (channels == 2)
        row_of_grey_alpha(samples, width, out);
    else if (channels == 3 || ignore_alpha)
        row_of_rgb(samples, width, channels, out);
    else
        row_of_rgba(samples, width, out);
}
