/* Fitting one small plane onto another. */
#include "image/align.h"

#include <math.h>
#include <string.h>

enum { COARSE = 12, FINE = 24, MOST_SAMPLES = FINE * FINE, UNKNOWNS = 8 };

/* Share of the square that must lie on the item. */
static const double MIN_OVERLAP = .45;

/* ---- planes ---- */

/** By 1-2-1 along rows or columns; the ends count thrice. */
static void smooth_lines(const float *in, int side, int step, float *out)
{
    const int across = step == 1 ? side : 1;
    for (int line = 0; line < side; line++)
        for (int i = 0; i < side; i++) {
            int at = line * across + i * step;
            out[at] = (i > 0 ? in[at - step] : in[at]) + 2 * in[at] +
                      (i + 1 < side ? in[at + step] : in[at]);
        }
}

/** The grain of a plane is not the same after a move by half a sample. All sums are whole quarters:
 * nothing is rounded. */
static void smooth(const float *in, int side, float *out)
{
    float rows[ALIGN_SIDE * ALIGN_SIDE];
    smooth_lines(in, side, 1, rows);
    smooth_lines(rows, side, side, out);
    for (int i = 0; i < side * side; i++)
        out[i] /= 16;
}

void align_plane_make(const uint8_t *samples, struct align_plane *out)
{
    float fine[ALIGN_SIDE * ALIGN_SIDE], coarse[ALIGN_COARSE_SIDE * ALIGN_COARSE_SIDE];
    for (int i = 0; i < ALIGN_SIDE * ALIGN_SIDE; i++)
        fine[i] = samples[i];
    for (int i = 0; i < ALIGN_COARSE_SIDE * ALIGN_COARSE_SIDE; i++) {
        const float *at =
            fine + 2 * (i / ALIGN_COARSE_SIDE) * ALIGN_SIDE + 2 * (i % ALIGN_COARSE_SIDE);
        coarse[i] = (at[0] + at[1] + at[ALIGN_SIDE] + at[ALIGN_SIDE + 1]) / 4;
    }
    smooth(fine, ALIGN_SIDE, out->fine);
    smooth(coarse, ALIGN_COARSE_SIDE, out->coarse);
}

/** A value between samples, and its slopes. */
struct between {
    double value, slope_x, slope_y;
};

static inline struct between look_between(const float *plane, int side, double x, double y)
{
    const double last = side - 1;
    x = x < 0 ? 0 : x > last ? last : x;
    y = y < 0 ? 0 : y > last ? last : y;
    int left = (int)x < side - 2 ? (int)x : side - 2, top = (int)y < side - 2 ? (int)y : side - 2;
    double right = x - left, below = y - top;
    const float *at = plane + top * side + left;
    double a = (double)at[0], b = (double)at[1];
    double c = (double)at[side], d = (double)at[side + 1];
    return (struct between){(1 - below) * (a + right * (b - a)) + below * (c + right * (d - c)),
                            (1 - below) * (b - a) + below * (d - c),
                            (1 - right) * (c - a) + right * (d - b)};
}

double align_sample(const float *plane, double x, double y)
{
    return look_between(plane, ALIGN_SIDE, x, y).value;
}

/* ---- one level ---- */

/** The square as one plane shows it, and the plane that it is fitted onto. */
struct align_level {
    const float *item;
    int side;    /**< of `item` */
    int samples; /**< of the square, each way */
    double square[MOST_SAMPLES];
};

/** What lies under the square. */
struct align_seen {
    struct between at[MOST_SAMPLES];
    bool inside[MOST_SAMPLES];
    int count;
};

/** Gain and offset that carry the item's tones to the square's. */
struct tone {
    double gain, offset;
};

static double square_axis(int i, int samples)
{
    return (2 * i + 1) / (double)samples - 1;
}

/** From samples of the finest plane to those of a level's. */
static struct align_map map_at_level(const struct align_map *fine, int side)
{
    const double scale = (double)side / ALIGN_SIDE, *m = fine->map;
    return (struct align_map){{(m[0] + .5) * scale - .5, m[1] * scale, m[2] * scale,
                               (m[3] + .5) * scale - .5, m[4] * scale, m[5] * scale}};
}

static void fill_square(const float *query, const struct align_map *from, struct align_level *level)
{
    const struct align_map map = map_at_level(from, level->side);
    for (int i = 0; i < level->samples * level->samples; i++) {
        double u = square_axis(i % level->samples, level->samples);
        double v = square_axis(i / level->samples, level->samples);
        level->square[i] =
            look_between(query, level->side, map.map[0] + map.map[1] * u + map.map[2] * v,
                         map.map[3] + map.map[4] * u + map.map[5] * v)
                .value;
    }
}

static void look_through(const struct align_level *level, const double map[6],
                         struct align_seen *out)
{
    out->count = 0;
    for (int i = 0; i < level->samples * level->samples; i++) {
        double u = square_axis(i % level->samples, level->samples);
        double v = square_axis(i / level->samples, level->samples);
        double x = map[0] + map[1] * u + map[2] * v, y = map[3] + map[4] * u + map[5] * v;
        out->inside[i] = x > -1 && x < level->side && y > -1 && y < level->side;
        if (out->inside[i])
            out->at[i] = look_between(level->item, level->side, x, y);
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

/** By mean and variance. */
static struct tone tone_of_moments(const struct align_level *level, const struct align_seen *seen)
{
    double st = 0, sv = 0, stt = 0, svv = 0, n = seen->count;
    for (int i = 0; i < level->samples * level->samples; i++) {
        if (!seen->inside[i])
            continue;
        double t = level->square[i], v = seen->at[i].value;
        st += t, sv += v, stt += t * t, svv += v * v;
    }
    double vt = stt - st * st / n + 1, vv = svv - sv * sv / n + 1, gain = sqrt(vt / vv);
    return (struct tone){gain, (st - gain * sv) / n};
}

/** Only as much lighter as half of the samples are. */
static struct tone tone_of_median(const struct align_level *level, const struct align_seen *seen)
{
    enum { LEVELS = 256 };
    int count[2 * LEVELS] = {0}, below = 0, median = -LEVELS;
    for (int i = 0; i < level->samples * level->samples; i++)
        if (seen->inside[i])
            count[(int)(level->square[i] - seen->at[i].value + LEVELS)]++;
    while ((below += count[median + LEVELS]) * 2 < seen->count)
        median++;
    return (struct tone){1, median + .5};
}

/** Mean absolute residual × 1.2 + 2 grey levels: Cauchy's scale. */
static double find_residuals(const struct align_level *level, const struct align_seen *seen,
                             struct tone tone, double *out)
{
    double sum = 0;
    for (int i = 0; i < level->samples * level->samples; i++) {
        out[i] =
            seen->inside[i] ? level->square[i] - tone.gain * seen->at[i].value - tone.offset : 0;
        sum += fabs(out[i]);
    }
    return 1.2 * sum / seen->count + 2;
}

/** A sticker spoils the moments: of two tones the one that leaves less. */
static struct tone match_tone(const struct align_level *level, const struct align_seen *seen)
{
    double residual[MOST_SAMPLES];
    const struct tone moments = tone_of_moments(level, seen), median = tone_of_median(level, seen);
    return find_residuals(level, seen, median, residual) <
                   find_residuals(level, seen, moments, residual)
               ? median
               : moments;
}

/** One weighted Gauss–Newton step for tone and map. */
static bool step_align(const struct align_level *level, const struct align_seen *seen,
                       struct tone tone, double change[UNKNOWNS])
{
    double residual[MOST_SAMPLES], a[UNKNOWNS][UNKNOWNS] = {0};
    double scale = find_residuals(level, seen, tone, residual);
    memset(change, 0, UNKNOWNS * sizeof *change);
    for (int i = 0; i < level->samples * level->samples; i++) {
        if (!seen->inside[i])
            continue;
        double u = square_axis(i % level->samples, level->samples);
        double v = square_axis(i / level->samples, level->samples);
        double gx = tone.gain * seen->at[i].slope_x, gy = tone.gain * seen->at[i].slope_y;
        double weight = 1 / (1 + residual[i] * residual[i] / (scale * scale));
        double row[UNKNOWNS] = {seen->at[i].value / 64, 1, gx, gx * u, gx * v, gy, gy * u, gy * v};
        for (int j = 0; j < UNKNOWNS; j++) {
            double weighed = weight * row[j];
            change[j] += weighed * residual[i];
            for (int k = 0; k <= j; k++)
                a[j][k] += weighed * row[k];
        }
    }
    for (int j = 0; j < UNKNOWNS; j++)
        a[j][j] += j < 2 ? 1e-3 : a[j][j] * .01 + 1;
    return solve(a, change);
}

/* ---- the fit ---- */

/** Improve a map in samples of the level. */
static bool improve_place(const struct align_level *level, int iterations, double map[6])
{
    const double reach = .06 * level->side, still = .01; /* samples, of one step */
    struct align_seen seen;
    struct tone tone = {1, 0};
    for (int iteration = 0; iteration < iterations; iteration++) {
        double change[UNKNOWNS], most = 0;
        look_through(level, map, &seen);
        if (seen.count < MIN_OVERLAP * level->samples * level->samples)
            return false;
        if (iteration == 0)
            tone = match_tone(level, &seen);
        if (!step_align(level, &seen, tone, change))
            return false;
        tone.gain = fmax(.1, tone.gain + change[0] / 64);
        tone.offset += change[1];
        for (int i = 0; i < 6; i++) {
            map[i] += fmax(-reach, fmin(reach, change[2 + i]));
            most = fmax(most, fabs(change[2 + i]));
        }
        if (most < still)
            break;
    }
    return true;
}

/** Weighted sums of the square, t, and of what lies under it, v. */
struct align_sums {
    double weight, t, v, tt, vv, tv;
};

static struct align_sums sum_weighted(const struct align_level *level,
                                      const struct align_seen *seen, const double *residual,
                                      double scale)
{
    struct align_sums sums = {0};
    for (int i = 0; i < level->samples * level->samples; i++) {
        if (!seen->inside[i])
            continue;
        double weight = 1 / (1 + residual[i] * residual[i] / (scale * scale));
        double t = level->square[i], v = seen->at[i].value;
        sums.weight += weight, sums.t += weight * t, sums.v += weight * v;
        sums.tt += weight * t * t, sums.vv += weight * v * v, sums.tv += weight * t * v;
    }
    return sums;
}

/** How well the square and what lies under it agree, but for what covers one of the two. */
static double correlation_under(const struct align_level *level, const double map[6])
{
    enum { ROUNDS = 3 };
    struct align_seen seen;
    double residual[MOST_SAMPLES], correlation = 0;
    look_through(level, map, &seen);
    if (seen.count < MIN_OVERLAP * level->samples * level->samples)
        return 0;
    struct tone tone = match_tone(level, &seen);
    for (int round = 0; round < ROUNDS; round++) {
        double scale = find_residuals(level, &seen, tone, residual);
        struct align_sums sums = sum_weighted(level, &seen, residual, scale);
        double vt = sums.tt - sums.t * sums.t / sums.weight + 1;
        double vv = sums.vv - sums.v * sums.v / sums.weight + 1, gain = sqrt(vt / vv);
        correlation = (sums.tv - sums.t * sums.v / sums.weight) / sqrt(vt * vv);
        tone = (struct tone){gain, (sums.t - gain * sums.v) / sums.weight};
    }
    return correlation;
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

bool align_fit(const struct align_plane *query, const struct align_map *from,
               const struct align_plane *item, struct align_map *map)
{
    enum { COARSE_STEPS = 7, FINE_STEPS = 2 };
    const double least_correlation = .75;
    struct align_level level = {.item = item->coarse, .side = ALIGN_COARSE_SIDE, .samples = COARSE};
    struct align_map now = map_at_level(map, ALIGN_COARSE_SIDE);
    fill_square(query->coarse, from, &level);
    if (!improve_place(&level, COARSE_STEPS, now.map) ||
        correlation_under(&level, now.map) < least_correlation)
        return false;
    for (int i = 0; i < 6; i++)
        now.map[i] = 2 * now.map[i] + (i % 3 ? 0 : .5);
    level.item = item->fine;
    level.side = ALIGN_SIDE;
    level.samples = FINE;
    fill_square(query->fine, from, &level);
    if (!improve_place(&level, FINE_STEPS, now.map) || !is_plausible(now.map, map->map))
        return false;
    *map = now;
    return true;
}
