/* The code of a frame as it would be, were it cut from a larger picture or turned. */
#include <doppel/video.h>

#include <math.h>

#include "video/room.h"

/* Cell centres are at whole numbers; what lies outside is the nearest cell. */
static float sample(const uint8_t *cells, float x, float y)
{
    const float last = DOPPEL_VIDEO_CELLS - 1;
    x = x < 0 ? 0 : x > last ? last : x;
    y = y < 0 ? 0 : y > last ? last : y;
    unsigned left = (unsigned)x, top = (unsigned)y;
    unsigned right = left + (left < DOPPEL_VIDEO_CELLS - 1);
    unsigned bottom = top + (top < DOPPEL_VIDEO_CELLS - 1);
    float across = x - (float)left, down = y - (float)top;
    const uint8_t *above = cells + top * DOPPEL_VIDEO_CELLS;
    const uint8_t *below = cells + bottom * DOPPEL_VIDEO_CELLS;
    float upper = (float)above[left] + across * (float)(above[right] - above[left]);
    float lower = (float)below[left] + across * (float)(below[right] - below[left]);
    return upper + down * (lower - upper);
}

/* A cell of the original, by its middle. A query turned clockwise is turned back. */
struct doppel_code doppel_video_warped_code(const uint8_t *cells,
                                            const struct doppel_video_warp *warp)
{
    const float middle = (DOPPEL_VIDEO_CELLS - 1) / 2.f;
    const float angle = warp->degrees * (float)(M_PI / 180);
    const float aspect = warp->aspect > 0 ? warp->aspect : 1;
    const float c = cosf(angle), s = sinf(angle);
    uint8_t out[DOPPEL_VIDEO_CELL_BYTES];
    for (unsigned i = 0; i < DOPPEL_VIDEO_CELL_BYTES; i++) {
        float x = ((float)(i % DOPPEL_VIDEO_CELLS) - middle) * warp->scale_x;
        float y = ((float)(i / DOPPEL_VIDEO_CELLS) - middle) * warp->scale_y;
        float u = c * x - s / aspect * y + middle + warp->shift_x * DOPPEL_VIDEO_CELLS;
        float v = s * aspect * x + c * y + middle + warp->shift_y * DOPPEL_VIDEO_CELLS;
        out[i] = (uint8_t)(sample(cells, u, v) + .5f);
    }
    return cells_code(out);
}
