/* The 256-bit DCT perceptual hash: the signs of the lowest coefficients. */
#include "image/phash.h"

#include "image/plane.h"

/* All coefficients but the mean, by u² + v², then by the smaller of u and v; of (u, v) and (v, u)
 * the one with u < v first. Each run of 64 is closed under exchange of u and v. */
const struct phash_bit phash_bits[PHASH_BITS] = {
    {0, 1},   {1, 0},   {1, 1},  {0, 2},  {2, 0},   {1, 2},   {2, 1},   {2, 2},   {0, 3},   {3, 0},
    {1, 3},   {3, 1},   {2, 3},  {3, 2},  {0, 4},   {4, 0},   {1, 4},   {4, 1},   {3, 3},   {2, 4},
    {4, 2},   {0, 5},   {5, 0},  {3, 4},  {4, 3},   {1, 5},   {5, 1},   {2, 5},   {5, 2},   {4, 4},
    {3, 5},   {5, 3},   {0, 6},  {6, 0},  {1, 6},   {6, 1},   {2, 6},   {6, 2},   {4, 5},   {5, 4},
    {3, 6},   {6, 3},   {0, 7},  {7, 0},  {1, 7},   {7, 1},   {5, 5},   {4, 6},   {6, 4},   {2, 7},
    {7, 2},   {3, 7},   {7, 3},  {5, 6},  {6, 5},   {0, 8},   {8, 0},   {1, 8},   {8, 1},   {4, 7},
    {7, 4},   {2, 8},   {8, 2},  {6, 6},  {3, 8},   {8, 3},   {5, 7},   {7, 5},   {4, 8},   {8, 4},
    {0, 9},   {9, 0},   {1, 9},  {9, 1},  {2, 9},   {9, 2},   {6, 7},   {7, 6},   {5, 8},   {8, 5},
    {3, 9},   {9, 3},   {4, 9},  {9, 4},  {7, 7},   {0, 10},  {10, 0},  {6, 8},   {8, 6},   {1, 10},
    {10, 1},  {2, 10},  {10, 2}, {5, 9},  {9, 5},   {3, 10},  {10, 3},  {7, 8},   {8, 7},   {4, 10},
    {10, 4},  {6, 9},   {9, 6},  {0, 11}, {11, 0},  {1, 11},  {11, 1},  {2, 11},  {11, 2},  {5, 10},
    {10, 5},  {8, 8},   {3, 11}, {11, 3}, {7, 9},   {9, 7},   {6, 10},  {10, 6},  {4, 11},  {11, 4},
    {0, 12},  {12, 0},  {1, 12}, {12, 1}, {8, 9},   {9, 8},   {5, 11},  {11, 5},  {2, 12},  {12, 2},
    {7, 10},  {10, 7},  {3, 12}, {12, 3}, {6, 11},  {11, 6},  {4, 12},  {12, 4},  {9, 9},   {8, 10},
    {10, 8},  {0, 13},  {13, 0}, {5, 12}, {12, 5},  {1, 13},  {13, 1},  {7, 11},  {11, 7},  {2, 13},
    {13, 2},  {3, 13},  {13, 3}, {6, 12}, {12, 6},  {9, 10},  {10, 9},  {4, 13},  {13, 4},  {8, 11},
    {11, 8},  {7, 12},  {12, 7}, {5, 13}, {13, 5},  {0, 14},  {14, 0},  {1, 14},  {14, 1},  {2, 14},
    {14, 2},  {10, 10}, {9, 11}, {11, 9}, {3, 14},  {14, 3},  {6, 13},  {13, 6},  {8, 12},  {12, 8},
    {4, 14},  {14, 4},  {7, 13}, {13, 7}, {5, 14},  {14, 5},  {10, 11}, {11, 10}, {0, 15},  {15, 0},
    {9, 12},  {12, 9},  {1, 15}, {15, 1}, {2, 15},  {15, 2},  {6, 14},  {14, 6},  {8, 13},  {13, 8},
    {3, 15},  {15, 3},  {4, 15}, {15, 4}, {11, 11}, {10, 12}, {12, 10}, {7, 14},  {14, 7},  {5, 15},
    {15, 5},  {9, 13},  {13, 9}, {0, 16}, {16, 0},  {1, 16},  {16, 1},  {2, 16},  {16, 2},  {8, 14},
    {14, 8},  {6, 15},  {15, 6}, {3, 16}, {16, 3},  {11, 12}, {12, 11}, {10, 13}, {13, 10}, {4, 16},
    {16, 4},  {7, 15},  {15, 7}, {9, 14}, {14, 9},  {5, 16},  {16, 5},  {12, 12}, {0, 17},  {17, 0},
    {8, 15},  {15, 8},  {1, 17}, {17, 1}, {11, 13}, {13, 11}, {6, 16},  {16, 6},  {2, 17},  {17, 2},
    {10, 14}, {14, 10}, {3, 17}, {17, 3}, {4, 17},  {17, 4}};

double phash_energy(const double coefficients[DCT_KEPT][DCT_KEPT], struct phash_bit bit)
{
    double value = coefficients[bit.v][bit.u], radius = bit.u * bit.u + bit.v * bit.v;
    return value * value * (bit.u && bit.v ? radius : radius / 2);
}

/** Of a picture that is its own mirror image, the coefficients of one parity are zero but for
 * noise: less than a ten thousandth of the energy. */
static unsigned absent_parities(const double coefficients[DCT_KEPT][DCT_KEPT])
{
    double energy[4] = {0}, sum = 0;
    for (unsigned i = 0; i < PHASH_BITS; i++) {
        double value = phash_energy(coefficients, phash_bits[i]);
        energy[phash_parity(phash_bits[i])] += value;
        sum += value;
    }
    unsigned absent = 0;
    for (unsigned parity = 1; parity < 4; parity++)
        absent |= energy[parity] * 10000 < sum ? 1u << parity : 0;
    return absent;
}

struct doppel_code phash_bits_of(const double coefficients[DCT_KEPT][DCT_KEPT])
{
    struct doppel_code code = {0};
    unsigned absent = absent_parities(coefficients);
    for (unsigned i = 0; i < PHASH_BITS; i++)
        if (coefficients[phash_bits[i].v][phash_bits[i].u] > 0 &&
            !(absent >> phash_parity(phash_bits[i]) & 1))
            code.word[i / 64] |= UINT64_C(1) << i % 64;
    return code;
}

struct doppel_code doppel_image_phash(const struct doppel_plane *plane)
{
    uint16_t cells[DCT_SIDE * DCT_SIDE];
    plane_average(plane, DCT_SIDE, DCT_SIDE, PHASH_CELL_SCALE, cells);
    return doppel_image_phash_cells(cells);
}

struct doppel_code doppel_image_phash_cells(const uint16_t *cells)
{
    double coefficients[DCT_KEPT][DCT_KEPT];
    dct_lowest(cells, coefficients);
    return phash_bits_of(coefficients);
}

void doppel_image_reduce(const struct doppel_plane *plane, uint32_t side, uint8_t *out)
{
    uint16_t cells[PLANE_MAX_CELLS * PLANE_MAX_CELLS];
    plane_average(plane, side, side, 1, cells);
    for (size_t i = 0; i < (size_t)side * side; i++)
        out[i] = (uint8_t)cells[i];
}
