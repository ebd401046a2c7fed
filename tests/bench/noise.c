/* Noise in cells. */
#include "noise.h"

#include <string.h>

enum { CELL = 7, CELLS = NOISE_SIDE / CELL + 2 };

static uint64_t random_word(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

void noise_draw(struct image *image, uint64_t *state)
{
    int cells[CELLS][CELLS], width = (int)image->width, height = (int)image->height;
    for (int i = 0; i <= height / CELL + 1; i++)
        for (int j = 0; j <= width / CELL + 1; j++)
            cells[i][j] = (int)(random_word(state) >> 56);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int *above = &cells[y / CELL][x / CELL], *below = above + CELLS;
            int right = x % CELL, down = y % CELL;
            int grey = (above[0] * (CELL - right) + above[1] * right) * (CELL - down) +
                       (below[0] * (CELL - right) + below[1] * right) * down;
            memset(image->pixels + 3 * (y * width + x), grey / (CELL * CELL), 3);
        }
}
