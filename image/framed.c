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

/* Of the cells that lie outside of a box by the whole, how much neighbours differ; without any as
 * much as they can. */
static double unevenness_outside(const uint8_t *cells, const uint16_t box[4])
{
    double sum = 0;
    int pairs = 0;
    for (int i = 0; i + SIDE < SIDE * SIDE; i++) {
        int x = i % SIDE, y = i / SIDE;
        bool beside = (x + 1) * 65535 <= box[0] * SIDE || x * 65535 >= box[2] * SIDE;
        bool above = (y + 1) * 65535 <= box[1] * SIDE || y * 65535 >= box[3] * SIDE;
        if (beside)
            sum += abs(cells[i] - cells[i + SIDE]);
        if (above && x + 1 < SIDE)
            sum += abs(cells[i] - cells[i + 1]);
        pairs += beside + (above && x + 1 < SIDE);
    }
    return pairs ? sum / pairs : 255;
}

bool doppel_image_is_framed(const struct doppel_image_features *image, const uint16_t *box,
                            const struct doppel_image_features *other)
{
    const double most = .6, rounding = .5, most_uneven = 2;
    const uint16_t *trimmed = box ? NULL : trimmed_box(image);
    const uint16_t *inner = box ? box : trimmed;
    double whole = 0, within = 0;
    if (!inner || (box && unevenness_outside(image->thumb, box) > most_uneven))
        return false;
    for (int i = 0; i < SIDE * SIDE; i++) {
        double x = place_in_span(i % SIDE, inner[0], inner[2]);
        double y = place_in_span(i / SIDE, inner[1], inner[3]);
        whole += abs(image->thumb[i] - other->thumb[i]);
        within += fabs(cell_between(image->thumb, x, y) - other->thumb[i]);
    }
    return whole > rounding * SIDE * SIDE && within < most * whole;
}
