/* What covers a part of one of two pictures: found by what differs, and filled from around. */
#include "image/covered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells are looked at in blocks of 2×2, which are what is left out. */
enum {
    BLOCK_SIDE = 2,
    BLOCKS_SIDE = COVERED_SIDE / BLOCK_SIDE,
    BLOCKS = BLOCKS_SIDE * BLOCKS_SIDE,
    MOST_LEFT_OUT = BLOCKS * 3 / 8
};

static const double one_level = 256;

/* ---- how far each cell differs ---- */

/** The tones of `b`, as those of `a` are. */
struct covered_tone {
    double gain, offset;
};

/** |a − tone(b)| of each cell. @return their mean */
static double differ_cells(const double *a, const double *b, struct covered_tone tone, double *out)
{
    double sum = 0;
    for (int i = 0; i < COVERED_CELLS; i++) {
        out[i] = fabs(a[i] - tone.gain * b[i] - tone.offset);
        sum += out[i];
    }
    return sum / COVERED_CELLS;
}

/** By least squares, in which a cell counts the less the more it differs. */
static struct covered_tone weigh_tone(const double *a, const double *b, const double *differ,
                                      double scale)
{
    double n = 0, sa = 0, sb = 0, sbb = 0, sab = 0;
    for (int i = 0; i < COVERED_CELLS; i++) {
        double weight = 1 / (1 + differ[i] * differ[i] / (scale * scale));
        n += weight, sa += weight * a[i], sb += weight * b[i];
        sbb += weight * b[i] * b[i], sab += weight * a[i] * b[i];
    }
    double gain = (sab - sa * sb / n) / (sbb - sb * sb / n + one_level * one_level);
    gain = fmin(5, fmax(.2, gain));
    return (struct covered_tone){gain, (sa - gain * sb) / n};
}

static void find_differences(const double *a, const double *b, double out[COVERED_CELLS])
{
    enum { ROUNDS = 6 };
    struct covered_tone tone = {1, 0};
    double scale = INFINITY; /* first all cells count alike */
    for (int round = 0; round < ROUNDS; round++) {
        (void)differ_cells(a, b, tone, out);
        tone = weigh_tone(a, b, out, scale);
        scale = 1.2 * differ_cells(a, b, tone, out) + 2 * one_level;
    }
}

/* ---- what is left out ---- */

/** The mean of the block and those around it. */
static void smooth_blocks(const double cells[COVERED_CELLS], double out[BLOCKS])
{
    double blocks[BLOCKS] = {0};
    for (int i = 0; i < COVERED_CELLS; i++)
        blocks[i / COVERED_SIDE / BLOCK_SIDE * BLOCKS_SIDE + i % COVERED_SIDE / BLOCK_SIDE] +=
            cells[i] / (BLOCK_SIDE * BLOCK_SIDE);
    for (int i = 0; i < BLOCKS; i++) {
        double sum = 0;
        int count = 0;
        for (int near = 0; near < 9; near++) {
            int x = i % BLOCKS_SIDE + near % 3 - 1, y = i / BLOCKS_SIDE + near / 3 - 1;
            if (x < 0 || y < 0 || x >= BLOCKS_SIDE || y >= BLOCKS_SIDE)
                continue;
            sum += blocks[y * BLOCKS_SIDE + x];
            count++;
        }
        out[i] = sum / count;
    }
}

static int compare_differences(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/** Blocks that differ by twice what is usual, and two levels. @return how many cells are covered */
static int mark_covered(const double differ[COVERED_CELLS], bool out[COVERED_CELLS])
{
    double blocks[BLOCKS], sorted[BLOCKS];
    int count = 0;
    smooth_blocks(differ, blocks);
    memcpy(sorted, blocks, sizeof sorted);
    qsort(sorted, BLOCKS, sizeof *sorted, compare_differences);
    double limit = fmax(2 * sorted[BLOCKS / 2] + 2 * one_level, sorted[BLOCKS - MOST_LEFT_OUT - 1]);
    for (int i = 0; i < COVERED_CELLS; i++) {
        int block = i / COVERED_SIDE / BLOCK_SIDE * BLOCKS_SIDE + i % COVERED_SIDE / BLOCK_SIDE;
        out[i] = blocks[block] > limit;
        count += out[i];
    }
    return count;
}

/** Of the cells that are not left out. @param without NULL: of all */
static double variance_without(const double *cells, const bool *without)
{
    double sum = 0, squares = 0;
    int count = 0;
    for (int i = 0; i < COVERED_CELLS; i++) {
        if (without && without[i])
            continue;
        sum += cells[i];
        squares += cells[i] * cells[i];
        count++;
    }
    return squares / count - sum / count * (sum / count);
}

/** Without what differs a figure is its empty ground, as any other one is. */
static bool is_enough_left(const double *a, const double *b, const bool *covered)
{
    const double least = .6;
    double all = fmin(variance_without(a, NULL), variance_without(b, NULL));
    return fmin(variance_without(a, covered), variance_without(b, covered)) >= least * all;
}

/* ---- filling ---- */

static double mean_around(const double *cells, int at)
{
    const int x = at % COVERED_SIDE, y = at / COVERED_SIDE, last = COVERED_SIDE - 1;
    double sum = 0;
    int count = 0;
    if (x > 0)
        sum += cells[at - 1], count++;
    if (x < last)
        sum += cells[at + 1], count++;
    if (y > 0)
        sum += cells[at - COVERED_SIDE], count++;
    if (y < last)
        sum += cells[at + COVERED_SIDE], count++;
    return sum / count;
}

/** Each cell that is left out becomes the mean of those beside it, again and again: what is around
 * goes on, without a step. */
static void fill_covered(double cells[COVERED_CELLS], const bool *covered)
{
    enum { ROUNDS = 40 };
    double sum = 0;
    int count = 0;
    for (int i = 0; i < COVERED_CELLS; i++) {
        sum += covered[i] ? 0 : cells[i];
        count += !covered[i];
    }
    for (int i = 0; i < COVERED_CELLS; i++)
        cells[i] = covered[i] ? sum / count : cells[i];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COVERED_CELLS; i++)
            if (covered[i])
                cells[i] = mean_around(cells, i);
}

bool covered_leave_out(double a[COVERED_CELLS], double b[COVERED_CELLS])
{
    double differ[COVERED_CELLS];
    bool covered[COVERED_CELLS];
    find_differences(a, b, differ);
    if (!mark_covered(differ, covered) || !is_enough_left(a, b, covered))
        return false;
    fill_covered(a, covered);
    fill_covered(b, covered);
    return true;
}
