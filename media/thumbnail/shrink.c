/* A picture made small and upright. */
#include <stdlib.h>

#include "media/thumbnail/thumbnail.h"

void shrink_samples(const struct thumbnail *from, unsigned channel,
                    const struct doppel_plane *to, uint8_t *out)
{
    for (uint32_t y = 0; y < to->height; y++) {
        uint32_t top = (uint32_t)((uint64_t)y * from->height / to->height);
        uint32_t bottom = (uint32_t)((uint64_t)(y + 1) * from->height / to->height);
        bottom += bottom == top;
        for (uint32_t x = 0; x < to->width; x++) {
            uint32_t left = (uint32_t)((uint64_t)x * from->width / to->width);
            uint32_t right = (uint32_t)((uint64_t)(x + 1) * from->width / to->width);
            right += right == left;
            uint64_t sum = 0, count = (uint64_t)(right - left) * (bottom - top);
            for (uint32_t v = top; v < bottom; v++)
                for (uint32_t u = left; u < right; u++)
                    sum += from->samples[((size_t)v * from->width + u) * from->channels + channel];
            *out++ = (uint8_t)((sum + count / 2) / count);
        }
    }
}

static uint32_t scaled_side(uint32_t side, double scale)
{
    uint32_t size = (uint32_t)(side * scale + .5);
    return size ? size : 1;
}

enum doppel_status thumbnail_shrink(const struct thumbnail *from, unsigned orientation,
                                    uint32_t longest, uint8_t **out, size_t *out_size,
                                    struct doppel_error *error)
{
    uint32_t side = from->width > from->height ? from->width : from->height;
    double scale = side > longest ? (double)longest / side : 1;
    struct doppel_plane small = {NULL, scaled_side(from->width, scale),
                                 scaled_side(from->height, scale), 0};
    size_t count = (size_t)small.width * small.height;
    uint8_t *samples = malloc((from->channels + 2) * count);
    if (!samples)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
    uint8_t *plane = samples + from->channels * count, *turned = plane + count;
    small.data = plane;
    small.stride = small.width;
    for (unsigned channel = 0; channel < from->channels; channel++) {
        shrink_samples(from, channel, &small, plane);
        orientation_turn(&small, orientation, turned);
        for (size_t i = 0; i < count; i++)
            samples[i * from->channels + channel] = turned[i];
    }
    bool across = orientation >= 5;
    struct thumbnail made = {samples, across ? small.height : small.width,
                             across ? small.width : small.height, from->channels};
    enum doppel_status status = thumbnail_write(&made, out, out_size, error);
    free(samples);
    return status;
}
