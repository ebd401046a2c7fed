/* Small grids of frames: what part of them is picture, and the cells of it. */
#include "video/room.h"

#include <doppel/image.h>

enum { BLACK = 24 };

static uint8_t brightest_of_column(const uint8_t *brightest, uint32_t x)
{
    uint8_t most = 0;
    for (uint32_t y = 0; y < GRID_SIDE; y++)
        most = brightest[y * GRID_SIDE + x] > most ? brightest[y * GRID_SIDE + x] : most;
    return most;
}

static uint8_t brightest_of_row(const uint8_t *brightest, uint32_t y)
{
    uint8_t most = 0;
    for (uint32_t x = 0; x < GRID_SIDE; x++)
        most = brightest[y * GRID_SIDE + x] > most ? brightest[y * GRID_SIDE + x] : most;
    return most;
}

typedef uint8_t line_brightest(const uint8_t *brightest, uint32_t line);

static void trim_black(const uint8_t *brightest, line_brightest *of_line, uint32_t *from,
                       uint32_t *to)
{
    uint32_t first = 0, end = GRID_SIDE;
    while (first < end && of_line(brightest, first) <= BLACK)
        first++;
    while (end > first && of_line(brightest, end - 1) <= BLACK)
        end--;
    *from = first + (first > 0);
    *to = end - (end < GRID_SIDE && end > 0);
}

struct grid_box grid_picture(const uint8_t *grids, size_t count)
{
    uint8_t brightest[GRID_BYTES] = {0};
    for (size_t i = 0; i < count * GRID_BYTES; i++)
        if (grids[i] > brightest[i % GRID_BYTES])
            brightest[i % GRID_BYTES] = grids[i];
    struct grid_box box;
    trim_black(brightest, brightest_of_column, &box.left, &box.right);
    trim_black(brightest, brightest_of_row, &box.top, &box.bottom);
    const uint32_t least = GRID_SIDE * 35 / 100;
    if (box.right < box.left + least || box.bottom < box.top + least)
        return (struct grid_box){0, 0, GRID_SIDE, GRID_SIDE};
    return box;
}

void grid_cells(const uint8_t *grid, struct grid_box box, uint8_t *out)
{
    const struct doppel_plane plane = {grid + box.top * GRID_SIDE + box.left, box.right - box.left,
                                       box.bottom - box.top, GRID_SIDE};
    doppel_image_reduce(&plane, DOPPEL_VIDEO_CELLS, out);
}

/* A standard deviation of at most 8. */
bool cells_flat(const uint8_t *cells)
{
    uint32_t sum = 0, squares = 0;
    for (uint32_t i = 0; i < DOPPEL_VIDEO_CELL_BYTES; i++) {
        sum += cells[i];
        squares += cells[i] * cells[i];
    }
    const uint64_t count = DOPPEL_VIDEO_CELL_BYTES;
    return squares * count - (uint64_t)sum * sum <= 64 * count * count;
}

struct doppel_code cells_code(const uint8_t *cells)
{
    const struct doppel_plane plane = {cells, DOPPEL_VIDEO_CELLS, DOPPEL_VIDEO_CELLS,
                                       DOPPEL_VIDEO_CELLS};
    return doppel_image_phash(&plane);
}
