/* How much structure a picture has to be told by. */
#include "image/quality.h"

#include <math.h>
#include <stdlib.h>

#include <doppel/image.h>

#include "image/phash.h"

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

uint8_t detail_of_cells(const uint16_t *cells, uint32_t side)
{
    const uint32_t from[2] = {0, 0}, to[2] = {side, side};
    return side < MIN_SIDE ? 0 : twisted_percent(cells, side, from, to);
}

uint8_t detail_of_part(const uint16_t *cells, uint32_t side, struct share_box part)
{
    const uint32_t from[2] = {(part.left * side + SHARE_ONE / 2) / SHARE_ONE,
                              (part.top * side + SHARE_ONE / 2) / SHARE_ONE};
    const uint32_t to[2] = {(part.right * side + SHARE_ONE / 2) / SHARE_ONE,
                            (part.bottom * side + SHARE_ONE / 2) / SHARE_ONE};
    if (to[0] < from[0] + MIN_SIDE || to[1] < from[1] + MIN_SIDE)
        return 0;
    return twisted_percent(cells, side, from, to);
}

uint8_t even_of_cells(const uint16_t *cells, uint32_t side)
{
    enum { MOST_SLOPE = 1 }; /* levels */
    uint32_t even = 0;
    if (side < MIN_SIDE)
        return 0;
    for (uint32_t y = 0; y + 1 < side; y++)
        for (uint32_t x = 0; x + 1 < side; x++) {
            const uint16_t *at = cells + y * side + x;
            even += abs(at[0] - at[1]) <= MOST_SLOPE && abs(at[0] - at[side]) <= MOST_SLOPE;
        }
    return (uint8_t)(even * 100 / ((side - 1) * (side - 1)));
}

/* Of unrelated clip art, screenshots, maps and photographs as many come near as is stated, if the
 * rates of their codes are raised to the power of this. */
uint8_t quality_of_even(uint8_t even)
{
    const double most = 105, a_percent = .75;
    return (uint8_t)fmax(DOPPEL_IMAGE_MIN_QUALITY, fmin(100, most - a_percent * even + .5));
}

uint32_t quality_side(uint32_t width, uint32_t height)
{
    uint32_t side = QUALITY_SIDE, shorter = width < height ? width : height;
    while (side > shorter)
        side /= 2;
    return side;
}

/* ---- structure ---- */

/** How many of the bits are worth one each, as a share: 0 to .8. The mean of the coefficients over
 * their root mean square is .8 if they are spread as by chance, and less if a few dwarf the others,
 * whose signs then are what the few and the noise make them. What is even both ways is a disc, a
 * frame, a glow: such shapes are alike. Of photos about .26 of the energy is. */
static double structure_of_quality(const double coefficients[DCT_KEPT][DCT_KEPT])
{
    double sum = 0, squares = 0, even = 0;
    for (unsigned i = 0; i < PHASH_BITS; i++) {
        double energy = phash_energy(coefficients, phash_bits[i]);
        sum += sqrt(energy);
        squares += energy;
        even += phash_parity(phash_bits[i]) ? 0 : energy;
    }
    if (squares <= 0)
        return 0;
    return sum / sqrt(PHASH_BITS * squares) * fmin(1, (1 - even / squares) / .74);
}

uint8_t quality_of(uint8_t detail, const double coefficients[DCT_KEPT][DCT_KEPT])
{
    const double least = .15, full = .55;
    double structure = (structure_of_quality(coefficients) - least) / (full - least);
    if (detail < MIN_DETAIL)
        return (uint8_t)fmin(detail, fmax(0, structure) * 100);
    return (uint8_t)fmin(fmin(100, 5. * detail), fmax(0, structure) * 100);
}

uint8_t doppel_image_quality(const struct doppel_plane *plane)
{
    uint16_t cells[QUALITY_SIDE * QUALITY_SIDE];
    double coefficients[DCT_KEPT][DCT_KEPT];
    uint32_t side = quality_side(plane->width, plane->height);
    plane_average(plane, side, side, 1, cells);
    uint8_t detail = detail_of_cells(cells, side);
    plane_average(plane, DCT_SIDE, DCT_SIDE, PHASH_CELL_SCALE, cells);
    dct_lowest(cells, coefficients);
    return quality_of(detail, coefficients);
}
