/* Which of two pictures of the same has something laid over it: where they differ, that one has
 * edges. */
#include <doppel/image.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = DOPPEL_IMAGE_THUMB_SIDE, LEVELS = 511, LEAST_OFF = 4, LEAST_CELLS = 16, PATCH = 4 };

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

/* What blurs, sharpens or moves a picture makes it brighter and darker on the two sides of each
 * edge; what is laid over it makes a patch of it one or the other.
 * @return the share of the differences that does not cancel within patches */
static double share_of_patches(const int *off)
{
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
    return patches / fmax(1, cells);
}

/* Over the outline of where two pictures differ: the squares of the steps from cell to cell. What
 * is laid over a picture does not follow it, so that the steps of the one that has it are those of
 * the other one and its own, and their squares add up. */
struct outline {
    double a, b, difference;
};

static void add_step(struct outline *outline, const uint8_t *a, const uint8_t *b, const int *off,
                     int i, int next)
{
    int step_a = a[i] - a[next], step_b = b[i] - b[next];
    if (!off[i] == !off[next])
        return;
    outline->a += step_a * step_a;
    outline->b += step_b * step_b;
    outline->difference += (step_a - step_b) * (step_a - step_b);
}

static struct outline outline_of(const uint8_t *a, const uint8_t *b, const int *off)
{
    struct outline outline = {0};
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int i = SIDE * y + x;
            if (x + 1 < SIDE)
                add_step(&outline, a, b, off, i, i + 1);
            if (y + 1 < SIDE)
                add_step(&outline, a, b, off, i, i + SIDE);
        }
    return outline;
}

int doppel_image_overlay(const struct doppel_image_features *a,
                         const struct doppel_image_features *b)
{
    const double most = .6, least_patches = .6, sure_patches = .9, clear = .8, most_steps = 2;
    int off[SIDE * SIDE], brighter = median_difference(a->thumb, b->thumb), differing = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        off[i] = a->thumb[i] - b->thumb[i] - brighter;
        off[i] = abs(off[i]) >= LEAST_OFF ? off[i] : 0;
        differing += off[i] != 0;
    }
    double patches = share_of_patches(off);
    if (differing < LEAST_CELLS || differing > most * SIDE * SIDE || patches < least_patches)
        return 0;
    struct outline outline = outline_of(a->thumb, b->thumb, off);
    double more = (outline.b - outline.a) / fmax(1, outline.difference);
    int side = more > 0 ? 1 : -1;
    if (fabs(more) > most_steps) /* it follows the picture, as a blur does */
        return patches < sure_patches ? 0 : side;
    return fabs(more) > clear ? 2 * side : side;
}
