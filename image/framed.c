/* Whether a picture shows all of another one within a frame of its own. */
#include <doppel/image.h>

#include <math.h>
#include <stdlib.h>

enum { SIDE = DOPPEL_IMAGE_THUMB_SIDE };

static const uint16_t *trimmed_box(const struct doppel_image_features *image)
{
    const struct doppel_fingerprint *fingerprint = &image->fingerprint;
    for (uint32_t i = 0; i < fingerprint->count && i < DOPPEL_VIEW_COUNT; i++) {
        const uint16_t *box = image->boxes[i];
        if (fingerprint->positions[i] == DOPPEL_VIEW_TRIMMED && box[2] > box[0] && box[3] > box[1])
            return box;
    }
    return NULL;
}

/* Where the middle of cell `i` of a span lies, in cells; not beyond the middles of the outer ones.
 */
static double place_in_span(int i, uint16_t from, uint16_t to)
{
    double at = (from + (i + .5) / SIDE * (to - from)) / 65535 * SIDE - .5;
    return fmin(SIDE - 1.001, fmax(0, at));
}

static double cell_between(const uint8_t *cells, double x, double y)
{
    const uint8_t *cell = cells + SIDE * (int)y + (int)x;
    double right = x - floor(x), below = y - floor(y);
    double above = cell[0] + right * (cell[1] - cell[0]);
    double under = cell[SIDE] + right * (cell[SIDE + 1] - cell[SIDE]);
    return above + below * (under - above);
}

bool doppel_image_is_framed(const struct doppel_image_features *image,
                            const struct doppel_image_features *other)
{
    const double most = .6, rounding = .5;
    const uint16_t *box = trimmed_box(image);
    double whole = 0, within = 0;
    for (int i = 0; box && i < SIDE * SIDE; i++) {
        double x = place_in_span(i % SIDE, box[0], box[2]);
        double y = place_in_span(i / SIDE, box[1], box[3]);
        whole += abs(image->thumb[i] - other->thumb[i]);
        within += fabs(cell_between(image->thumb, x, y) - other->thumb[i]);
    }
    return box && whole > rounding * SIDE * SIDE && within < most * whole;
}
