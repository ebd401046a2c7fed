/* What the neighbourhood of a blob looks like: its angle, and the signs of its DCT. */
#include <math.h>
#include <stdlib.h>

#include "local/local_internal.h"

enum { SIDE = CODE_PATCH, KEPT = CODE_KEPT };

static const double PATCH_STEP = 1; /* samples are so many sigmas apart */

/* round(2^14 · sin(2 pi · i / 128)) */
static const int16_t sines[POSITION_ANGLES] = {
    0,      804,    1606,   2404,   3196,   3981,   4756,   5520,   6270,   7005,   7723,   8423,
    9102,   9760,   10394,  11003,  11585,  12140,  12665,  13160,  13623,  14053,  14449,  14811,
    15137,  15426,  15679,  15893,  16069,  16207,  16305,  16364,  16384,  16364,  16305,  16207,
    16069,  15893,  15679,  15426,  15137,  14811,  14449,  14053,  13623,  13160,  12665,  12140,
    11585,  11003,  10394,  9760,   9102,   8423,   7723,   7005,   6270,   5520,   4756,   3981,
    3196,   2404,   1606,   804,    0,      -804,   -1606,  -2404,  -3196,  -3981,  -4756,  -5520,
    -6270,  -7005,  -7723,  -8423,  -9102,  -9760,  -10394, -11003, -11585, -12140, -12665, -13160,
    -13623, -14053, -14449, -14811, -15137, -15426, -15679, -15893, -16069, -16207, -16305, -16364,
    -16384, -16364, -16305, -16207, -16069, -15893, -15679, -15426, -15137, -14811, -14449, -14053,
    -13623, -13160, -12665, -12140, -11585, -11003, -10394, -9760,  -9102,  -8423,  -7723,  -7005,
    -6270,  -5520,  -4756,  -3981,  -3196,  -2404,  -1606,  -804};

static int32_t cosine_of(uint32_t angle)
{
    return sines[(angle + POSITION_ANGLES / 4) % POSITION_ANGLES];
}

void angle_vector(int32_t angle, double *out_cosine, double *out_sine)
{
    uint32_t at = (uint32_t)angle & (POSITION_ANGLES - 1);
    *out_cosine = cosine_of(at) / 16384.0;
    *out_sine = sines[at] / 16384.0;
}

/* ---- samples ---- */

/* Where samples are taken: x = x0 + column × across + …, in samples of the octave × 2^16. */
struct grid {
    int64_t x, y, across_x, across_y; /* down is (-across_y, across_x) */
};

/* The nearest sample of a place, within the octave. */
static size_t nearest_sample(int64_t at, uint32_t samples)
{
    int64_t nearest = (at + (1 << 15)) >> 16;
    return nearest < 0 ? 0 : nearest >= samples ? samples - 1 : (size_t)nearest;
}

static struct grid grid_around(const struct scale_octave *octave, const struct blob *blob,
                               double step, uint32_t angle)
{
    double unit = 65536 / octave->step, length = step * (double)blob->sigma * unit;
    struct grid grid = {.x = (int64_t)floor((double)blob->x * unit + .5),
                        .y = (int64_t)floor((double)blob->y * unit + .5),
                        .across_x = (int64_t)floor(length * cosine_of(angle) / 16384 + .5),
                        .across_y = (int64_t)floor(length * sines[angle] / 16384 + .5)};
    grid.x -= (grid.across_x - grid.across_y) * (SIDE - 1) / 2;
    grid.y -= (grid.across_y + grid.across_x) * (SIDE - 1) / 2;
    return grid;
}

/* Whether a sample of a grid, in so many steps across and down, lies within an octave. */
static bool lies_within(const struct scale_octave *octave, const struct grid *grid, int64_t column,
                        int64_t row)
{
    const int64_t x = grid->x + column * grid->across_x - row * grid->across_y;
    const int64_t y = grid->y + column * grid->across_y + row * grid->across_x;
    return x >= 0 && y >= 0 && x >> 16 < octave->width - 1 && y >> 16 < octave->height - 1;
}

static void take_patch_within(const struct scale_octave *octave, const uint16_t *level,
                              const struct grid *grid, int16_t out[SIDE][SIDE])
{
    const size_t width = octave->width;
    for (int64_t row = 0; row < SIDE; row++) {
        int64_t x = grid->x - row * grid->across_y + (1 << 15);
        int64_t y = grid->y + row * grid->across_x + (1 << 15);
        for (int64_t column = 0; column < SIDE; column++) {
            out[row][column] = (int16_t)level[(size_t)(y >> 16) * width + (size_t)(x >> 16)];
            x += grid->across_x;
            y += grid->across_y;
        }
    }
}

/* What lies outside is as the nearest sample inside. */
static void take_patch_at_edge(const struct scale_octave *octave, const uint16_t *level,
                               const struct grid *grid, int16_t out[SIDE][SIDE])
{
    for (int64_t row = 0; row < SIDE; row++)
        for (int64_t column = 0; column < SIDE; column++) {
            const int64_t x = grid->x + column * grid->across_x - row * grid->across_y;
            const int64_t y = grid->y + column * grid->across_y + row * grid->across_x;
            out[row][column] = (int16_t)level[nearest_sample(y, octave->height) * octave->width +
                                              nearest_sample(x, octave->width)];
        }
}

static void take_patch(const struct scale_octave *octave, const struct blob *blob,
                       const struct grid *grid, int16_t out[SIDE][SIDE])
{
    enum { LAST = SIDE - 1 };
    const bool within = lies_within(octave, grid, 0, 0) && lies_within(octave, grid, LAST, 0) &&
                        lies_within(octave, grid, 0, LAST) && lies_within(octave, grid, LAST, LAST);
    (within ? take_patch_within : take_patch_at_edge)(octave, octave->levels[blob->level], grid,
                                                      out);
}

/* ---- angle ---- */

/* The direction nearest to that of a vector. */
static uint32_t nearest_angle(int64_t x, int64_t y)
{
    uint32_t best = 0;
    for (uint32_t angle = 1; angle < POSITION_ANGLES; angle++)
        if (x * cosine_of(angle) + y * sines[angle] > x * cosine_of(best) + y * sines[best])
            best = angle;
    return best;
}

static uint32_t blob_angle(const struct scale_octave *octave, const struct blob *blob)
{
    int16_t patch[SIDE][SIDE];
    int64_t x = 0, y = 0;
    const struct grid grid = grid_around(octave, blob, .75, 0);
    take_patch(octave, blob, &grid, patch);
    for (int32_t row = 0; row < SIDE; row++)
        for (int32_t column = 0; column < SIDE; column++) {
            int32_t dx = 2 * column - (SIDE - 1), dy = 2 * row - (SIDE - 1);
            int32_t inside = SIDE * SIDE - dx * dx - dy * dy;
            int64_t weight = inside > 0 ? inside : 0;
            x += weight * dx * patch[row][column];
            y += weight * dy * patch[row][column];
        }
    return nearest_angle(x, y);
}

/* ---- code ---- */

/* round(2^10 · cos(pi · (2i + 1) · k / 32)) */
static const int16_t cosines[KEPT][SIDE] = {
    {1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024,
     1024},
    {1019, 980, 903, 792, 650, 483, 297, 100, -100, -297, -483, -650, -792, -903, -980, -1019},
    {1004, 851, 569, 200, -200, -569, -851, -1004, -1004, -851, -569, -200, 200, 569, 851, 1004},
    {980, 650, 100, -483, -903, -1019, -792, -297, 297, 792, 1019, 903, 483, -100, -650, -980},
    {946, 392, -392, -946, -946, -392, 392, 946, 946, 392, -392, -946, -946, -392, 392, 946},
    {903, 100, -792, -980, -297, 650, 1019, 483, -483, -1019, -650, 297, 980, 792, -100, -903},
    {851, -200, -1004, -569, 569, 1004, 200, -851, -851, 200, 1004, 569, -569, -1004, -200, 851},
    {792, -483, -980, 100, 1019, 297, -903, -650, 650, 903, -297, -1019, -100, 980, 483, -792},
    {724, -724, -724, 724, 724, -724, -724, 724, 724, -724, -724, 724, 724, -724, -724, 724},
    {650, -903, -297, 1019, -100, -980, 483, 792, -792, -483, 980, 100, -1019, 297, 903, -650},
    {569, -1004, 200, 851, -851, -200, 1004, -569, -569, 1004, -200, -851, 851, 200, -1004, 569},
    {483, -1019, 650, 297, -980, 792, 100, -903, 903, -100, -792, 980, -297, -650, 1019, -483},
};

/* The lowest ones of the DCT of a neighbourhood, turned to its angle. */
static void blob_coefficients(const struct scale_octave *octave, const struct blob *blob,
                              int32_t out[KEPT][KEPT])
{
    int16_t patch[SIDE][SIDE];
    int32_t rows[SIDE][KEPT];
    const struct grid grid = grid_around(octave, blob, PATCH_STEP, blob->angle);
    take_patch(octave, blob, &grid, patch);
    for (int y = 0; y < SIDE; y++)
        for (int u = 0; u < KEPT; u++) {
            int32_t sum = 0;
            for (int x = 0; x < SIDE; x++)
                sum += patch[y][x] * cosines[u][x];
            rows[y][u] = sum >> 10;
        }
    for (int v = 0; v < KEPT; v++)
        for (int u = 0; u < KEPT; u++) {
            int32_t sum = 0;
            for (int y = 0; y < SIDE; y++)
                sum += rows[y][u] * cosines[v][y];
            out[v][u] = sum >> 10;
        }
}

/* ---- bits ---- */

/* Of the first bits: row and column of the coefficient, and its usual size. Those of the key come
 * first; that order gives most hits for as few collisions. */
static const struct {
    uint8_t v, u;
    uint16_t usual; /* median magnitude × 256, of a code whose coefficients have a mean of 1 */
} first_bits[CODE_FIRST_BITS] = {
    {0, 2, 1767}, {2, 0, 1395}, {1, 0, 1268}, {4, 2, 488}, {1, 1, 999}, {0, 4, 899}, {4, 0, 657},
    {2, 2, 719},  {0, 3, 1516}, {1, 2, 666},  {2, 4, 503}, {2, 1, 828}, {1, 3, 570}, {3, 1, 477},
    {3, 0, 679},  {1, 4, 397},  {4, 3, 286},  {0, 5, 538}, {4, 4, 356}, {3, 3, 333}, {2, 3, 534},
    {0, 6, 465},  {3, 2, 377},  {2, 6, 319},  {6, 2, 258}, {4, 6, 212}, {6, 4, 187}, {6, 0, 322},
    {2, 8, 152},  {4, 1, 344},  {3, 4, 267},  {5, 0, 352}};

/* Of word 1, by how well they are the same in copies. */
static const struct {
    uint8_t v, u;
} further_bits[64] = {
    {0, 8},  {3, 5},  {1, 5},  {2, 5},  {6, 6},  {5, 3},  {5, 1}, {5, 2}, {8, 2},  {0, 7}, {4, 5},
    {8, 0},  {4, 8},  {1, 6},  {6, 3},  {6, 1},  {5, 5},  {5, 4}, {1, 7}, {3, 7},  {8, 4}, {3, 6},
    {7, 0},  {7, 3},  {6, 5},  {7, 1},  {2, 7},  {5, 6},  {4, 7}, {3, 8}, {0, 9},  {5, 7}, {8, 1},
    {8, 3},  {0, 10}, {7, 2},  {7, 4},  {2, 10}, {7, 5},  {1, 8}, {6, 8}, {3, 9},  {8, 6}, {9, 0},
    {1, 9},  {6, 7},  {9, 3},  {10, 2}, {2, 9},  {10, 0}, {4, 9}, {8, 5}, {0, 11}, {9, 2}, {5, 8},
    {1, 10}, {7, 6},  {4, 10}, {9, 1},  {5, 9},  {10, 3}, {7, 7}, {9, 5}, {10, 4}};

/* How surely each of the first bits is what it is. */
static void find_sureness(const int32_t coefficients[KEPT][KEPT], uint64_t out[CODE_FIRST_BITS])
{
    for (unsigned bit = 0; bit < CODE_FIRST_BITS; bit++)
        out[bit] = (uint64_t)llabs(coefficients[first_bits[bit].v][first_bits[bit].u]) * 65536 /
                   first_bits[bit].usual;
}

/* The least sure ones of some bits, as a mask. */
static uint64_t unsure_bits(const uint64_t sureness[CODE_FIRST_BITS], unsigned from, unsigned to,
                            unsigned wanted)
{
    uint64_t mask = 0;
    for (; wanted; wanted--) {
        unsigned least = to;
        for (unsigned bit = from; bit < to; bit++)
            if (!(mask >> bit & 1) && (least == to || sureness[bit] < sureness[least]))
                least = bit;
        mask |= UINT64_C(1) << least;
    }
    return mask;
}

static void blob_code(const int32_t coefficients[KEPT][KEPT], struct doppel_code *out)
{
    *out = (struct doppel_code){0};
    for (unsigned i = 0; i < CODE_FIRST_BITS; i++)
        out->word[0] |= (uint64_t)(coefficients[first_bits[i].v][first_bits[i].u] >= 0) << i;
    for (unsigned i = 0; i < 64; i++)
        out->word[1] |= (uint64_t)(coefficients[further_bits[i].v][further_bits[i].u] >= 0) << i;
    uint64_t sureness[CODE_FIRST_BITS];
    find_sureness(coefficients, sureness);
    uint64_t unsure = unsure_bits(sureness, 0, CODE_KEY_BITS, CODE_UNSURE_KEY) |
                      unsure_bits(sureness, CODE_KEY_BITS, CODE_FIRST_BITS, CODE_UNSURE_REST);
    out->word[0] |= unsure << CODE_FIRST_BITS;
}

void blob_describe(const struct scales *scales, struct blob *blob)
{
    const struct scale_octave *octave = &scales->octaves[blob->octave];
    int32_t coefficients[KEPT][KEPT];
    blob->angle = blob_angle(octave, blob);
    blob_coefficients(octave, blob, coefficients);
    blob_code(coefficients, &blob->code);
    blob->described = true;
}

/* Mirrored about the x axis of the patch, odd rows change their sign. */
struct doppel_code code_mirror(const struct doppel_code *code)
{
    struct doppel_code out = *code;
    for (unsigned i = 0; i < CODE_FIRST_BITS; i++)
        out.word[0] ^= (uint64_t)(first_bits[i].v & 1) << i;
    for (unsigned i = 0; i < 64; i++)
        out.word[1] ^= (uint64_t)(further_bits[i].v & 1) << i;
    return out;
}
