/* The code of a frame as it would be, were it not cut from a larger picture, or turned. */
#include <doppel/video.h>

#include <string.h>

#include <doppel/image.h>

/* Places are given in 1/WARP_ONE of a cell, samples are weighed by 1/WARP_PARTS of it. */
enum { SIDE = DOPPEL_VIDEO_CELLS, WARP_ONE = 65536, WARP_PARTS = 256 };

/* ---- where the cells of the original lie ---- */

/* The place of the original's first cell, and the steps from a cell to the next. */
struct map {
    int32_t x, y, x_across, x_down, y_across, y_down;
};

/* Beyond, a warp is none. */
static double bounded(double value, double most)
{
    return value > most ? most : value > -most ? value : -most;
}

/* The series: the C library's functions are not the same everywhere. @return its cosine */
static double sine(double angle, double *out_sine)
{
    double term = 1, sums[2] = {0};
    for (unsigned n = 0; n < 32; n++) {
        sums[n % 2] += n & 2 ? -term : term;
        term *= angle / (n + 1);
    }
    *out_sine = sums[1];
    return sums[0];
}

static int32_t fixed(double value)
{
    double scaled = value * WARP_ONE + .5;
    int32_t whole = (int32_t)scaled;
    return whole - (scaled < whole);
}

static struct map warp_map(const struct doppel_video_warp *warp)
{
    const double degree = 3.14159265358979323846 / 180, middle = (SIDE - 1) / 2.;
    double aspect = warp->aspect > 0 ? 1 / bounded(1 / bounded(warp->aspect, 8), 8) : 1, s;
    double c = sine(bounded(warp->degrees, 180) * degree, &s);
    double across = bounded(warp->scale_x, 16), down = bounded(warp->scale_y, 16);
    const double step[4] = {c * across, -s / aspect * down, s * aspect * across, c * down};
    double x = middle + bounded(warp->shift_x, 16) * SIDE - (step[0] + step[1]) * middle;
    double y = middle + bounded(warp->shift_y, 16) * SIDE - (step[2] + step[3]) * middle;
    return (struct map){fixed(x),       fixed(y),       fixed(step[0]),
                        fixed(step[1]), fixed(step[2]), fixed(step[3])};
}

/* ---- samples there ---- */

/* One place along an axis: outside is the nearest cell. @return the cell, and in the lower bits the
 * part of WARP_PARTS that is the next one's */
static uint32_t warp_place(int32_t at)
{
    const int32_t last = (SIDE - 1) * WARP_ONE;
    return (uint32_t)(at < 0 ? 0 : at > last ? last : at) / (WARP_ONE / WARP_PARTS);
}

/* Of two neighbours' values. */
static uint32_t mix_cells(uint32_t near, uint32_t next, uint32_t place)
{
    uint32_t part = place % WARP_PARTS;
    return near * (WARP_PARTS - part) + next * part;
}

static uint16_t rounded(uint32_t value)
{
    return (uint16_t)((value + WARP_PARTS / 2) / WARP_PARTS);
}

/* With a row and a column more, of which nothing is taken. */
enum { PADDED = SIDE + 1 };

static void pad(const uint8_t *cells, uint8_t out[PADDED * PADDED])
{
    memset(out, 0, PADDED * PADDED);
    for (uint32_t y = 0; y < SIDE; y++)
        memcpy(out + y * PADDED, cells + y * SIDE, SIDE);
}

/* 32×32 samples in 1/256 of a level. */
static void sample_warp(const uint8_t *cells, const struct map *map, uint16_t *out)
{
    uint8_t padded[PADDED * PADDED];
    pad(cells, padded);
    for (int32_t j = 0; j < SIDE; j++) {
        uint32_t x[SIDE], y[SIDE];
        for (int32_t i = 0; i < SIDE; i++) {
            x[i] = warp_place(map->x + i * map->x_across + j * map->x_down);
            y[i] = warp_place(map->y + i * map->y_across + j * map->y_down);
        }
        for (uint32_t i = 0; i < SIDE; i++) {
            const uint8_t *at = padded + y[i] / WARP_PARTS * PADDED + x[i] / WARP_PARTS;
            out[i] = rounded(mix_cells(mix_cells(at[0], at[1], x[i]),
                                       mix_cells(at[PADDED], at[PADDED + 1], x[i]), y[i]));
        }
        out += SIDE;
    }
}

struct doppel_code doppel_video_warped_code(const uint8_t *cells,
                                            const struct doppel_video_warp *warp)
{
    const struct map map = warp_map(warp);
    uint16_t warped[DOPPEL_VIDEO_CELL_BYTES];
    sample_warp(cells, &map, warped);
    return doppel_image_phash_cells(warped);
}
