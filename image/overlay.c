/* Which of two pictures of the same has something laid over it: where they differ, that one has
 * edges. */
#include <doppel/image.h>

#include <stdlib.h>
#include <string.h>

enum { SIDE = DOPPEL_IMAGE_THUMB_SIDE, LEVELS = 511, LEAST_OFF = 4, LEAST_CELLS = 4, PATCH = 4 };

/* By how much the one is brighter as a whole: the median difference of cells. */
static int median_difference(const uint8_t *a, const uint8_t *b)
{
    uint32_t counts[LEVELS] = {0}, below = 0;
    int level = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        counts[a[i] - b[i] + 255]++;
    while ((below += counts[level]) <= SIDE * SIDE / 2)
        level++;
    return level - 255;
}

/* How much a cell differs from those beside and below it. */
static int edge_at(const uint8_t *cells, int i)
{
    return abs(cells[i] - cells[i + 1]) + abs(cells[i] - cells[i + SIDE]);
}

/* What blurs, sharpens or moves a picture makes it brighter and darker on the two sides of each
 * edge; what is laid over it makes a patch of it one or the other. */
static bool is_of_patches(const int *off)
{
    const double least = .6;
    double patches = 0, cells = 0;
    for (int y = 0; y < SIDE; y += PATCH)
        for (int x = 0; x < SIDE; x += PATCH) {
            int sum = 0;
            for (int i = 0; i < PATCH * PATCH; i++) {
                int cell = off[SIDE * (y + i / PATCH) + x + i % PATCH];
                sum += cell;
                cells += abs(cell);
            }
            patches += abs(sum);
        }
    return patches >= least * cells;
}

int doppel_image_overlay(const struct doppel_image_features *a,
                         const struct doppel_image_features *b)
{
    const double most = .6, more = 1.1;
    int off[SIDE * SIDE], brighter = median_difference(a->thumb, b->thumb);
    int differing = 0, edges_a = 0, edges_b = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        off[i] = a->thumb[i] - b->thumb[i] - brighter;
        off[i] = abs(off[i]) >= LEAST_OFF ? off[i] : 0;
        differing += off[i] != 0;
    }
    if (differing < LEAST_CELLS || differing > most * SIDE * SIDE || !is_of_patches(off))
        return 0;
    for (int y = 0; y + 1 < SIDE; y++)
        for (int x = 0; x + 1 < SIDE; x++) {
            int i = SIDE * y + x;
            bool near = off[i] || off[i + 1] || off[i + SIDE];
            edges_a += near ? edge_at(a->thumb, i) : 0;
            edges_b += near ? edge_at(b->thumb, i) : 0;
        }
    return edges_a > more * edges_b ? -1 : edges_b > more * edges_a ? 1 : 0;
}
