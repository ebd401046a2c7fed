/* Small grids of frames: the cells of a part of them, and the code of cells. */
#include "video/video_internal.h"

#include <doppel/image.h>

/* A smaller standard deviation of the cells is noise, or a fade. */
enum { FLAT_DEVIATION = 8 };

/* Percent of a picture's width that the upright middle may have. */
enum { LEAST_MIDDLE = 20, MOST_MIDDLE = 80 };
enum {
    CELLS = DOPPEL_VIDEO_CELLS,
    UNITS = CELLS * GRID_UNIT, /* of a grid's cell */
    FINER = 64                 /* than a sample, halfway */
};

struct grid_box grid_box_of(struct doppel_video_box box)
{
    const float shares[4] = {box.left, box.top, box.right, box.bottom};
    struct grid_box out;
    for (unsigned i = 0; i < 4; i++)
        out.edge[i] = (int32_t)(shares[i] * (GRID_SIDE * GRID_UNIT) + .5f);
    return out;
}

struct doppel_video_box grid_box_shares(struct grid_box box)
{
    const float all = GRID_SIDE * GRID_UNIT;
    return (struct doppel_video_box){(float)box.edge[0] / all, (float)box.edge[1] / all,
                                     (float)box.edge[2] / all, (float)box.edge[3] / all};
}

bool upright_middle(struct grid_box image, uint32_t width, uint32_t height, struct grid_box *out)
{
    const int64_t across = image.edge[2] - image.edge[0], down = image.edge[3] - image.edge[1];
    /* of the picture's height by its width: 9 / 16 of that is the middle's share of the width */
    const int64_t share = width ? 9 * GRID_UNIT * down * height / (16 * across * width) : 0;
    if (share * 100 < LEAST_MIDDLE * GRID_UNIT || share * 100 > MOST_MIDDLE * GRID_UNIT)
        return false;
    const int32_t cut = (int32_t)((across * GRID_UNIT - across * share) / (2 * GRID_UNIT));
    *out = image;
    out->edge[0] += cut;
    out->edge[2] -= cut;
    return true;
}

bool doppel_video_middle_box(const struct doppel_video_track *track, struct doppel_video_box *out)
{
    struct grid_box box;
    if (!upright_middle(grid_box_of(track->box), track->width, track->height, &box))
        return false;
    *out = grid_box_shares(box);
    return true;
}

/* ---- cells of a part ---- */

/* A stretch of a line of samples. Where an edge cuts a cell, of which `share` of
 * GRID_UNIT lies within, its sample is what that part must be if the rest is as the cell beyond. */
struct grid_line {
    int32_t first, last; /* cells that the part touches */
    int32_t share[2];    /* of them, within */
    int32_t from, length;
};

static struct grid_line line_of_grid(int32_t from, int32_t to)
{
    struct grid_line line = {from / GRID_UNIT, (to - 1) / GRID_UNIT, {0}, from, to - from};
    line.share[0] = GRID_UNIT * (line.first + 1) - from;
    line.share[1] = to - GRID_UNIT * line.last;
    return line;
}

/* Less than a third of a cell is too little to tell what is in it: it is as the cell within. */
static int32_t inner_sample(int32_t beyond, int32_t cut, int32_t within, int32_t share,
                            int32_t most)
{
    if (share * 3 < GRID_UNIT)
        return within;
    int32_t value = (cut * GRID_UNIT - beyond * (GRID_UNIT - share) + share / 2) / share;
    return value < 0 ? 0 : value > most ? most : value;
}

/* A line as CELLS area averages, times `times` over `over`. */
static void reduce_line(const int32_t samples[GRID_SIDE], const struct grid_line *line,
                        int32_t times, int32_t over, int32_t *out)
{
    const int64_t whole = (int64_t)line->length * over;
    for (int32_t i = 0; i < CELLS; i++) {
        int32_t from = line->from * CELLS + i * line->length, to = from + line->length;
        int64_t sum = 0;
        for (int32_t x = from / UNITS; x * UNITS < to; x++) {
            int32_t low = x * UNITS > from ? x * UNITS : from;
            int32_t high = (x + 1) * UNITS < to ? (x + 1) * UNITS : to;
            sum += (int64_t)samples[x] * (high - low);
        }
        out[i] = (int32_t)((sum * times * 2 + whole) / (2 * whole));
    }
}

static void mend_ends(int32_t samples[GRID_SIDE], const struct grid_line *line, int32_t most)
{
    if (line->first >= line->last)
        return;
    int32_t first = line->first, last = line->last;
    if (first > 0 && line->share[0] < GRID_UNIT)
        samples[first] = inner_sample(samples[first - 1], samples[first], samples[first + 1],
                                      line->share[0], most);
    if (last + 1 < GRID_SIDE && line->share[1] < GRID_UNIT)
        samples[last] =
            inner_sample(samples[last + 1], samples[last], samples[last - 1], line->share[1], most);
}

void grid_cells(const uint8_t *grid, struct grid_box box, uint8_t *out)
{
    const struct grid_line across = line_of_grid(box.edge[0], box.edge[2]);
    const struct grid_line down = line_of_grid(box.edge[1], box.edge[3]);
    int32_t halfway[GRID_SIDE][CELLS], samples[GRID_SIDE];
    int32_t top = down.first > 0 ? down.first - 1 : 0;
    int32_t bottom = down.last + 1 < GRID_SIDE ? down.last + 1 : GRID_SIDE - 1;
    for (int32_t y = top; y <= bottom; y++) {
        for (int32_t x = 0; x < GRID_SIDE; x++)
            samples[x] = grid[y * GRID_SIDE + x];
        mend_ends(samples, &across, 255);
        reduce_line(samples, &across, FINER, 1, halfway[y]);
    }
    for (int32_t i = 0; i < CELLS; i++) {
        int32_t column[CELLS];
        for (int32_t y = top; y <= bottom; y++)
            samples[y] = halfway[y][i];
        mend_ends(samples, &down, 255 * FINER);
        reduce_line(samples, &down, 1, FINER, column);
        for (int32_t j = 0; j < CELLS; j++)
            out[j * CELLS + i] = (uint8_t)column[j];
    }
}

bool doppel_video_cells_flat(const uint8_t *cells)
{
    const uint64_t count = DOPPEL_VIDEO_CELL_BYTES, least = FLAT_DEVIATION * FLAT_DEVIATION;
    uint64_t sum = 0, squares = 0;
    for (uint32_t i = 0; i < DOPPEL_VIDEO_CELL_BYTES; i++) {
        sum += cells[i];
        squares += (uint64_t)cells[i] * cells[i];
    }
    return squares * count - sum * sum <= least * count * count;
}

struct doppel_code cells_code(const uint8_t *cells)
{
    const struct doppel_plane plane = {cells, CELLS, CELLS, CELLS};
    return doppel_image_phash(&plane);
}
