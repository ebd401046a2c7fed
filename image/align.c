/* Fitting one small plane onto another, and comparing them block by block. */
#include "image/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = ALIGN_SIDE * ALIGN_SIDE, UNKNOWNS = 8, ITERATIONS = 12 };

/* Share of the template that must lie on the target. */
static const double MIN_OVERLAP = .45;

/** Bilinear, clamped at the edges. */
static double sample_at(const float *plane, double x, double y)
{
    const double last = ALIGN_TARGET_SIDE - 1;
    x = x < 0 ? 0 : x > last ? last : x;
    y = y < 0 ? 0 : y > last ? last : y;
    int left = (int)x < ALIGN_TARGET_SIDE - 2 ? (int)x : ALIGN_TARGET_SIDE - 2;
    int top = (int)y < ALIGN_TARGET_SIDE - 2 ? (int)y : ALIGN_TARGET_SIDE - 2;
    double right = x - left, below = y - top;
    const float *at = plane + top * ALIGN_TARGET_SIDE + left;
    return (1 - below) * ((1 - right) * at[0] + right * at[1]) +
           below * ((1 - right) * at[ALIGN_TARGET_SIDE] + right * at[ALIGN_TARGET_SIDE + 1]);
}

static double template_axis(int i)
{
    return (2 * i + 1) / (double)ALIGN_SIDE - 1;
}

/** The target as seen through a map: a value for each template sample that lies on it. */
struct warped {
    double x[SAMPLES], y[SAMPLES], value[SAMPLES];
    bool inside[SAMPLES];
    int count;
};

static void warp(const struct align_target *target, const double map[6], struct warped *out)
{
    out->count = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double u = template_axis(i % ALIGN_SIDE), v = template_axis(i / ALIGN_SIDE);
        double x = map[0] + map[1] * u + map[2] * v, y = map[3] + map[4] * u + map[5] * v;
        out->x[i] = x;
        out->y[i] = y;
        out->inside[i] = x > -1 && x < ALIGN_TARGET_SIDE && y > -1 && y < ALIGN_TARGET_SIDE;
        out->value[i] = out->inside[i] ? sample_at(target->sample, x, y) : 0;
        out->count += out->inside[i];
    }
}

/* ---- least squares ---- */

/** Solve a symmetric positive system in place by Cholesky; the lower triangle of `a` is used. */
static bool solve(double a[UNKNOWNS][UNKNOWNS], double b[UNKNOWNS])
{
    for (int i = 0; i < UNKNOWNS; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            if (i == j && sum <= 1e-12)
                return false;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        for (int k = i + 1; k < UNKNOWNS; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
    return true;
}

/** Gain and offset that carry the target's tones to the template's. */
struct tone {
    double gain, offset;
};

static struct tone match_tone(const struct align_template *template, const struct warped *seen)
{
    double st = 0, sv = 0, stt = 0, svv = 0, n = seen->count;
    for (int i = 0; i < SAMPLES; i++) {
        if (!seen->inside[i])
            continue;
        double t = template->sample[i], v = seen->value[i];
        st += t, sv += v, stt += t * t, svv += v * v;
    }
    double gain = sqrt((stt - st * st / n + 1) / (svv - sv * sv / n + 1));
    return (struct tone){gain, (st - gain * sv) / n};
}

/** Mean absolute residual × 1.2 + 2 grey levels: Cauchy's scale. */
static double residuals(const struct align_template *template, const struct warped *seen,
                        struct tone tone, double out[SAMPLES])
{
    double sum = 0;
    for (int i = 0; i < SAMPLES; i++) {
        out[i] =
            seen->inside[i] ? template->sample[i] - tone.gain * seen->value[i] - tone.offset : 0;
        sum += fabs(out[i]);
    }
    return 1.2 * sum / seen->count + 2;
}

/** One weighted Gauss–Newton step for tone and map. */
static bool step_align_template(const struct align_template *template,
                                const struct align_target *target, const struct warped *seen,
                                struct tone tone, double change[UNKNOWNS])
{
    double residual[SAMPLES], a[UNKNOWNS][UNKNOWNS] = {0};
    double scale = residuals(template, seen, tone, residual);
    memset(change, 0, UNKNOWNS * sizeof *change);
    for (int i = 0; i < SAMPLES; i++) {
        if (!seen->inside[i])
            continue;
        double u = template_axis(i % ALIGN_SIDE), v = template_axis(i / ALIGN_SIDE);
        double gx = tone.gain * sample_at(target->slope_x, seen->x[i], seen->y[i]);
        double gy = tone.gain * sample_at(target->slope_y, seen->x[i], seen->y[i]);
        double weight = 1 / (1 + residual[i] * residual[i] / (scale * scale));
        double row[UNKNOWNS] = {seen->value[i] / 64, 1, gx, gx * u, gx * v, gy, gy * u, gy * v};
        for (int j = 0; j < UNKNOWNS; j++) {
            change[j] += weight * row[j] * residual[i];
            for (int k = 0; k <= j; k++)
                a[j][k] += weight * row[j] * row[k];
        }
    }
    for (int j = 0; j < UNKNOWNS; j++)
        a[j][j] += j < 2 ? 1e-3 : a[j][j] * .01 + 1;
    return solve(a, change);
}

/** A fit may stretch, turn and shift the start by about a third. */
static bool is_plausible(const double fitted[6], const double start[6])
{
    double wide = start[1], tall = start[5];
    return fitted[1] > .75 * wide && fitted[1] < 1.35 * wide && fitted[5] > .75 * tall &&
           fitted[5] < 1.35 * tall && fabs(fitted[2]) < .25 * tall &&
           fabs(fitted[4]) < .25 * wide && fabs(fitted[0] - start[0]) < .35 * wide &&
           fabs(fitted[3] - start[3]) < .35 * tall;
}

bool align_fit(const struct align_template *template, const struct align_target *target,
               struct align_map *map)
{
    const double reach = .06 * ALIGN_TARGET_SIDE; /* of one step, in pixels */
    struct warped seen;
    struct align_map now = *map;
    struct tone tone = {1, 0};
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        warp(target, now.map, &seen);
        if (seen.count < MIN_OVERLAP * SAMPLES)
            return false;
        if (iteration == 0)
            tone = match_tone(template, &seen);
        double change[UNKNOWNS];
        if (!step_align_template(template, target, &seen, tone, change))
            return false;
        tone.gain = fmax(.1, tone.gain + change[0] / 64);
        tone.offset += change[1];
        for (int i = 0; i < 6; i++)
            now.map[i] += fmax(-reach, fmin(reach, change[2 + i]));
    }
    if (!is_plausible(now.map, map->map))
        return false;
    *map = now;
    return true;
}

/* ---- comparing ---- */

enum { BLOCK = 8, BLOCKS = (ALIGN_SIDE / BLOCK) * (ALIGN_SIDE / BLOCK) };

/** Correlation of one block; false when it is flat in both or lies off the target. */
static bool block_correlation(const struct align_template *template, const struct warped *seen,
                              int block, double *out)
{
    const double noise = 12.5; /* grey levels²: what JPEG leaves of a flat block */
    int left = block % (ALIGN_SIDE / BLOCK) * BLOCK, top = block / (ALIGN_SIDE / BLOCK) * BLOCK;
    double st = 0, sv = 0, stt = 0, svv = 0, stv = 0, n = 0;
    for (int y = top; y < top + BLOCK; y++)
        for (int x = left; x < left + BLOCK; x++) {
            int i = y * ALIGN_SIDE + x;
            if (!seen->inside[i])
                continue;
            double t = template->sample[i], v = seen->value[i];
            st += t, sv += v, stt += t * t, svv += v * v, stv += t * v, n++;
        }
    if (2 * n < BLOCK * BLOCK)
        return false;
    double vt = (stt - st * st / n) / n, vv = (svv - sv * sv / n) / n;
    if (vt < noise && vv < noise)
        return false;
    *out = (stv - st * sv / n) / n / sqrt((vt + noise) * (vv + noise));
    return true;
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

double align_agreement(const struct align_template *template, const struct align_target *target,
                       const struct align_map *map)
{
    struct warped seen;
    warp(target, map->map, &seen);
    double correlation[BLOCKS], sum = 0;
    int count = 0;
    if (seen.count >= MIN_OVERLAP * SAMPLES)
        for (int block = 0; block < BLOCKS; block++)
            count += block_correlation(template, &seen, block, &correlation[count]);
    if (count < 5)
        return 0;
    qsort(correlation, (size_t)count, sizeof *correlation, falling);
    int kept = (int)(count * .6 + .5); /* the rest may be covered by stickers and text */
    for (int i = 0; i < kept; i++)
        sum += correlation[i];
    return fmax(0, sum / kept);
}
