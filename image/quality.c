/* How much structure a picture has to be told by. */
#include "image/quality.h"

#include <stdlib.h>

#include <doppel/image.h>

#include "image/plane.h"

/* Levels; what is left of a decoder's noise in an averaged cell is less. */
enum { MIN_TWIST = 3, MIN_SIDE = 8 };

/* The share of places where the slope along one axis changes along the other. Even grounds, slopes
 * and straight edges have none, a rectangle has four: what remains is detail. */
uint8_t quality_of_cells(const uint16_t *cells, uint32_t side)
{
    if (side < MIN_SIDE)
        return 0;
    unsigned twisted = 0;
    for (uint32_t y = 0; y + 1 < side; y++)
        for (uint32_t x = 0; x + 1 < side; x++) {
            const uint16_t *at = cells + y * side + x;
            twisted += abs(at[0] - at[1] - at[side] + at[side + 1]) >= MIN_TWIST;
        }
    return (uint8_t)(twisted * 100 / ((side - 1) * (side - 1)));
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
