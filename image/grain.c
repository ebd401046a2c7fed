/* Blocks of two pictures laid over each other, correlated by what is finest in them. */
#include "image/grain.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 8, BLOCKS_EACH_WAY = GRAIN_SIDE / BLOCK, BLOCK_SAMPLES = BLOCK * BLOCK };

/** Sums of each sample and those beside it, along rows or columns; at the ends of two. */
static void sum_beside(const double *in, int step, double *out)
{
    const int across = step == 1 ? GRAIN_SIDE : 1;
    for (int line = 0; line < GRAIN_SIDE; line++)
        for (int i = 0; i < GRAIN_SIDE; i++) {
            const int at = line * across + i * step;
            out[at] =
                (i > 0 ? in[at - step] : 0) + in[at] + (i + 1 < GRAIN_SIDE ? in[at + step] : 0);
        }
}

static int count_beside(int i)
{
    return i == 0 || i == GRAIN_SIDE - 1 ? 2 : 3;
}

/** Less the mean of 3×3 samples. */
static void leave_grain(double samples[GRAIN_SAMPLES])
{
    double rows[GRAIN_SAMPLES], sums[GRAIN_SAMPLES];
    sum_beside(samples, 1, rows);
    sum_beside(rows, GRAIN_SIDE, sums);
    for (int i = 0; i < GRAIN_SAMPLES; i++)
        samples[i] -= sums[i] / (count_beside(i / GRAIN_SIDE) * count_beside(i % GRAIN_SIDE));
}

/** What is left of a block without the means of its rows and columns: edges along them, as frames
 * and windows have, are alike in many pictures. */
static void take_block(const double *samples, double out[BLOCK_SAMPLES])
{
    double rows[BLOCK] = {0}, columns[BLOCK] = {0}, all = 0;
    for (int i = 0; i < BLOCK_SAMPLES; i++) {
        out[i] = samples[i / BLOCK * GRAIN_SIDE + i % BLOCK];
        rows[i / BLOCK] += out[i] / BLOCK;
        columns[i % BLOCK] += out[i] / BLOCK;
        all += out[i] / BLOCK_SAMPLES;
    }
    for (int i = 0; i < BLOCK_SAMPLES; i++)
        out[i] += all - rows[i / BLOCK] - columns[i % BLOCK];
}

/** Of a block: -n/2 · ln(1 - r²) for n samples that are independent, as far as 16 are. */
static double block_surprise(const double *samples_a, const double *samples_b)
{
    const double least = .125 * BLOCK_SAMPLES, independent = 16, sure = .001;
    double a[BLOCK_SAMPLES], b[BLOCK_SAMPLES], aa = 0, bb = 0, ab = 0;
    take_block(samples_a, a);
    take_block(samples_b, b);
    for (int i = 0; i < BLOCK_SAMPLES; i++) {
        aa += a[i] * a[i];
        bb += b[i] * b[i];
        ab += a[i] * b[i];
    }
    if (ab <= 0 || (aa < least && bb < least))
        return 0;
    return -independent / 2 * log(1 - ab * ab / ((aa + least / 4) * (bb + least / 4)) + sure);
}

double grain_surprise(double a[GRAIN_SAMPLES], double b[GRAIN_SAMPLES])
{
    double sum = 0;
    leave_grain(a);
    leave_grain(b);
    for (int i = 0; i < BLOCKS_EACH_WAY * BLOCKS_EACH_WAY; i++) {
        const int at = i / BLOCKS_EACH_WAY * BLOCK * GRAIN_SIDE + i % BLOCKS_EACH_WAY * BLOCK;
        sum += block_surprise(a + at, b + at);
    }
    return fmax(0, sum);
}
