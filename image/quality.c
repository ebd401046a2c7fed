/* How much structure a picture has to be told by. */
#include "image/quality.h"

#include <stdlib.h>

#include <doppel/image.h>

#include "image/plane.h"

/* Levels; what is left of a decoder's noise in an averaged cell is less. */
enum { MIN_TWIST = 3, MIN_SIDE = 8 };

/* The share of places where the slope along one axis changes along the other. Even grounds, slopes
 * and straight edges have none, a rectangle has four: what remains is detail. */
static uint8_t twisted_percent(const uint16_t *cells, uint32_t side, const uint32_t from[2],
                               const uint32_t to[2])
{
    uint32_t twisted = 0, places = (to[0] - from[0] - 1) * (to[1] - from[1] - 1);
    for (uint32_t y = from[1]; y + 1 < to[1]; y++)
        for (uint32_t x = from[0]; x + 1 < to[0]; x++) {
            const uint16_t *at = cells + y * side + x;
            twisted += abs(at[0] - at[1] - at[side] + at[side + 1]) >= MIN_TWIST;
        }
    return (uint8_t)(twisted * 100 / places);
}

uint8_t quality_of_cells(const uint16_t *cells, uint32_t side)
{
    const uint32_t from[2] = {0, 0}, to[2] = {side, side};
    return side < MIN_SIDE ? 0 : twisted_percent(cells, side, from, to);
}

uint8_t quality_of_part(const uint16_t *cells, uint32_t side, struct share_box part)
{
    const uint32_t from[2] = {(part.left * side + SHARE_ONE / 2) / SHARE_ONE,
                              (part.top * side + SHARE_ONE / 2) / SHARE_ONE};
    const uint32_t to[2] = {(part.right * side + SHARE_ONE / 2) / SHARE_ONE,
                            (part.bottom * side + SHARE_ONE / 2) / SHARE_ONE};
    if (to[0] < from[0] + MIN_SIDE || to[1] < from[1] + MIN_SIDE)
        return 0;
    return twisted_percent(cells, side, from, to);
}

uint32_t quality_side(uint32_t width, uint32_t height)
{
    uint32_t side = QUALITY_SIDE, shorter = width < height ? width : height;
    while (side > shorter)
        side /= 2;
    return side;
}

uint8_t doppel_image_quality(const struct doppel_plane *plane)
{
    uint16_t cells[QUALITY_SIDE * QUALITY_SIDE];
    uint32_t side = quality_side(plane->width, plane->height);
    plane_average(plane, side, side, 1, cells);
    return quality_of_cells(cells, side);
}
