/* How much structure a picture has to be told by. */
#include "image/quality.h"

#include <stdlib.h>

#include <doppel/image.h>

#include "image/plane.h"

enum { SIDE = QUALITY_SIDE, MIN_CURVATURE = 8 };

/* Places that are neither flat nor an even slope. */
uint8_t quality_of_thumb(const uint16_t cells[SIDE * SIDE])
{
    unsigned uneven = 0;
    for (unsigned y = 1; y + 1 < SIDE; y++)
        for (unsigned x = 1; x + 1 < SIDE; x++) {
            const uint16_t *at = cells + y * SIDE + x;
            int curvature = 4 * at[0] - at[-1] - at[1] - at[-SIDE] - at[SIDE];
            uneven += abs(curvature) >= MIN_CURVATURE;
        }
    return (uint8_t)(uneven * 100 / ((SIDE - 2) * (SIDE - 2)));
}

uint8_t doppel_image_quality(const struct doppel_plane *plane)
{
    uint16_t cells[SIDE * SIDE];
    plane_average(plane, SIDE, SIDE, 1, cells);
    return quality_of_thumb(cells);
}
