/* The fit of one plane onto another, in lanes of floats: compiled once for each instruction set.
 * Sums are made lane by lane, and the lanes added in one order, so that all give the same bits. */
#ifndef DOPPEL_IMAGE_ALIGN_LOOP_H
#define DOPPEL_IMAGE_ALIGN_LOOP_H

#include <math.h>
#include <string.h>

#include "image/align.h"

#define ALIGN_INLINE static inline __attribute__((always_inline))

enum {
    LANES = 8,
    MOST_ROWS = 24 * 24 / LANES, /* of lanes */
    UNKNOWNS = 8
};

/* No vector leaves the functions of a file: how one would be passed does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t lane_ints __attribute__((vector_size(LANES * sizeof(int32_t))));

/** Planes of one size, and how they are laid over each other. */
struct align_stage {
    const uint32_t *query, *item; /**< as align_plane has them */
    int side;                     /**< of both */
    int samples;                  /**< of the square, each way: 12 or 24 */
    int steps;
    const float *least; /**< correlations: before each step, and after the last */
};

/** Improve a map in samples of the stage. @return false: given up */
typedef bool align_kernel(const struct align_stage *stage, const struct align_map *from,
                          struct align_map *map);
align_kernel align_portable, align_avx2;

/* Share of the square that must lie on the item. */
static const float MIN_OVERLAP = .45F;

/* ---- lanes ---- */

ALIGN_INLINE lanes all_lanes(float value)
{
    return (lanes){value, value, value, value, value, value, value, value};
}

ALIGN_INLINE lanes choose_lanes(lane_ints which, lanes yes, lanes no)
{
    return (lanes)((which & (lane_ints)yes) | (~which & (lane_ints)no));
}

/** NaN becomes `low`. */
ALIGN_INLINE lanes clamp(lanes value, float low, float high)
{
    value = choose_lanes(value > all_lanes(low), value, all_lanes(low));
    return choose_lanes(value < all_lanes(high), value, all_lanes(high));
}

ALIGN_INLINE lanes magnitude(lanes value)
{
    return (lanes)((lane_ints)value & 0x7fffffff);
}

ALIGN_INLINE float sum_lanes(lanes value)
{
    return ((value[0] + value[1]) + (value[2] + value[3])) +
           ((value[4] + value[5]) + (value[6] + value[7]));
}

/* ---- one level ---- */

/** The square as one plane shows it. */
struct align_square {
    int rows; /**< of lanes */
    lanes u[MOST_ROWS], v[MOST_ROWS], shown[MOST_ROWS];
};

/** What lies under the square: nothing, and slopes of nothing, where `inside` is 0. */
struct align_seen {
    lanes value[MOST_ROWS], slope_x[MOST_ROWS], slope_y[MOST_ROWS];
    lane_ints inside[MOST_ROWS];
    int count;
};

/** Gain and offset that carry the item's tones to the square's. */
struct tone {
    float gain, offset;
};

/** A value between samples, and its slopes. */
struct between {
    lanes value, slope_x, slope_y;
};

/** Four samples, as align_plane packs them, and what lies between. */
ALIGN_INLINE struct between look_between(const uint32_t *plane, int side, lanes x, lanes y)
{
    const float last = (float)(side - 1) - 0x1p-10F; /* beyond it slopes go on */
    x = clamp(x, 0, last);
    y = clamp(y, 0, last);
    const lane_ints left = __builtin_convertvector(x, lane_ints);
    const lane_ints top = __builtin_convertvector(y, lane_ints), at = top * side + left;
    const lane_ints cells = {(int32_t)plane[at[0]], (int32_t)plane[at[1]], (int32_t)plane[at[2]],
                             (int32_t)plane[at[3]], (int32_t)plane[at[4]], (int32_t)plane[at[5]],
                             (int32_t)plane[at[6]], (int32_t)plane[at[7]]};
    const lanes right = x - __builtin_convertvector(left, lanes);
    const lanes below = y - __builtin_convertvector(top, lanes);
    const lanes a = __builtin_convertvector(cells & 0xff, lanes);
    const lanes b = __builtin_convertvector(cells >> 8 & 0xff, lanes) - a;
    const lanes c = __builtin_convertvector(cells >> 16 & 0xff, lanes);
    const lanes d = __builtin_convertvector(cells >> 24 & 0xff, lanes) - c;
    const lanes above = a + right * b, slope_y = c + right * d - above;
    return (struct between){above + below * slope_y, b + below * (d - b), slope_y};
}

ALIGN_INLINE lanes place_x(const float map[6], lanes u, lanes v)
{
    return all_lanes(map[0]) + all_lanes(map[1]) * u + all_lanes(map[2]) * v;
}

ALIGN_INLINE lanes place_y(const float map[6], lanes u, lanes v)
{
    return all_lanes(map[3]) + all_lanes(map[4]) * u + all_lanes(map[5]) * v;
}

ALIGN_INLINE void fill_square(const struct align_stage *stage, const float map[6],
                              struct align_square *out)
{
    const int samples = stage->samples;
    out->rows = samples * samples / LANES;
    for (int row = 0; row < out->rows; row++) {
        for (int lane = 0; lane < LANES; lane++) {
            const int i = row * LANES + lane;
            out->u[row][lane] = (float)(2 * (i % samples) + 1 - samples) / (float)samples;
            out->v[row][lane] = (float)(2 * (i / samples) + 1 - samples) / (float)samples;
        }
        const lanes x = place_x(map, out->u[row], out->v[row]);
        const lanes y = place_y(map, out->u[row], out->v[row]);
        out->shown[row] = look_between(stage->query, stage->side, x, y).value;
    }
}

ALIGN_INLINE bool look_through(const struct align_stage *stage, const struct align_square *square,
                               const float map[6], struct align_seen *out)
{
    const lanes low = all_lanes(-1), high = all_lanes((float)stage->side);
    lane_ints count = {0};
    for (int row = 0; row < square->rows; row++) {
        const lanes x = place_x(map, square->u[row], square->v[row]);
        const lanes y = place_y(map, square->u[row], square->v[row]);
        const lane_ints inside = (x > low) & (x < high) & (y > low) & (y < high);
        const struct between at = look_between(stage->item, stage->side, x, y);
        out->inside[row] = inside;
        out->value[row] = (lanes)((lane_ints)at.value & inside);
        out->slope_x[row] = (lanes)((lane_ints)at.slope_x & inside);
        out->slope_y[row] = (lanes)((lane_ints)at.slope_y & inside);
        count -= inside;
    }
    out->count = 0;
    for (int lane = 0; lane < LANES; lane++)
        out->count += count[lane];
    return (float)out->count >= MIN_OVERLAP * (float)(square->rows * LANES);
}

/* ---- tones ---- */

/** By mean and variance. */
ALIGN_INLINE struct tone tone_of_moments(const struct align_square *square,
                                         const struct align_seen *seen)
{
    lanes t = {0}, v = {0}, tt = {0}, vv = {0};
    for (int row = 0; row < square->rows; row++) {
        const lanes under = (lanes)((lane_ints)square->shown[row] & seen->inside[row]);
        t += under, v += seen->value[row];
        tt += under * under, vv += seen->value[row] * seen->value[row];
    }
    const float n = (float)seen->count, st = sum_lanes(t), sv = sum_lanes(v);
    const float vt = sum_lanes(tt) - st * st / n + 1;
    const float gain = sqrtf(vt / (sum_lanes(vv) - sv * sv / n + 1));
    return (struct tone){gain, (st - gain * sv) / n};
}

/** Only as much lighter as half of the samples are. */
ALIGN_INLINE struct tone tone_of_median(const struct align_square *square,
                                        const struct align_seen *seen)
{
    enum { LEVELS = 256 };
    uint16_t count[2 * LEVELS] = {0};
    int below = 0, median = -LEVELS;
    for (int row = 0; row < square->rows; row++) {
        const lane_ints bin =
            __builtin_convertvector(square->shown[row] - seen->value[row] + LEVELS, lane_ints);
        for (int lane = 0; lane < LANES; lane++)
            count[bin[lane]] += (uint16_t)-seen->inside[row][lane];
    }
    while ((below += count[median + LEVELS]) * 2 < seen->count)
        median++;
    return (struct tone){1, (float)median + .5F};
}

/** Mean absolute residual × 1.2 + 2 grey levels: Cauchy's scale. */
ALIGN_INLINE float find_residuals(const struct align_square *square, const struct align_seen *seen,
                                  struct tone tone, lanes out[MOST_ROWS])
{
    lanes sum = {0};
    for (int row = 0; row < square->rows; row++) {
        const lanes off =
            square->shown[row] - all_lanes(tone.gain) * seen->value[row] - all_lanes(tone.offset);
        out[row] = (lanes)((lane_ints)off & seen->inside[row]);
        sum += magnitude(out[row]);
    }
    return 1.2F * sum_lanes(sum) / (float)seen->count + 2;
}

/** A sticker spoils the moments: of two tones the one that leaves less. */
ALIGN_INLINE struct tone match_tone(const struct align_square *square,
                                    const struct align_seen *seen)
{
    lanes residual[MOST_ROWS];
    const struct tone moments = tone_of_moments(square, seen),
                      median = tone_of_median(square, seen);
    return find_residuals(square, seen, median, residual) <
                   find_residuals(square, seen, moments, residual)
               ? median
               : moments;
}

/** How much each sample counts, by its residual. */
ALIGN_INLINE lanes weigh(lanes residual, lane_ints inside, float scale)
{
    const lanes limit = all_lanes(scale * scale);
    return (lanes)((lane_ints)(limit / (limit + residual * residual)) & inside);
}

/* ---- least squares ---- */

/** Weighed sums of products of two of: the value, 1, and the slopes across and down; and of u and v
 * to the powers that are needed. */
struct step_sums {
    float tone[6];       /**< vv, v, 1; with the residual: v, 1, the residual */
    float slopes[2][9];  /**< of each: with v: 1, u, v; with 1: ...; with the residual: ... */
    float squares[3][6]; /**< xx, xy, yy: 1, u, v, uu, uv, vv */
};

ALIGN_INLINE void sum_tone(const struct align_square *square, const struct align_seen *seen,
                           const lanes *weight, const lanes *residual, struct step_sums *out)
{
    lanes sums[6] = {{0}};
    for (int row = 0; row < square->rows; row++) {
        const lanes w = weight[row], value = w * seen->value[row];
        sums[0] += value * seen->value[row];
        sums[1] += value;
        sums[2] += w;
        sums[3] += value * residual[row];
        sums[4] += w * residual[row];
        sums[5] += w * residual[row] * residual[row];
    }
    for (int i = 0; i < 6; i++)
        out->tone[i] = sum_lanes(sums[i]);
}

ALIGN_INLINE void sum_slope(const struct align_square *square, const struct align_seen *seen,
                            const lanes *weighed, const lanes *residual, float out[9])
{
    lanes sums[9] = {{0}};
    for (int row = 0; row < square->rows; row++) {
        const lanes u = square->u[row], v = square->v[row], slope = weighed[row];
        const lanes value = slope * seen->value[row], left = slope * residual[row];
        sums[0] += value, sums[1] += value * u, sums[2] += value * v;
        sums[3] += slope, sums[4] += slope * u, sums[5] += slope * v;
        sums[6] += left, sums[7] += left * u, sums[8] += left * v;
    }
    for (int i = 0; i < 9; i++)
        out[i] = sum_lanes(sums[i]);
}

ALIGN_INLINE void sum_squares(const struct align_square *square, const lanes *weighed,
                              const lanes *slope, float out[6])
{
    lanes sums[6] = {{0}};
    for (int row = 0; row < square->rows; row++) {
        const lanes u = square->u[row], v = square->v[row], both = weighed[row] * slope[row];
        const lanes across = both * u, down = both * v;
        sums[0] += both, sums[1] += across, sums[2] += down;
        sums[3] += across * u, sums[4] += across * v, sums[5] += down * v;
    }
    for (int i = 0; i < 6; i++)
        out[i] = sum_lanes(sums[i]);
}

/** What the square and what lies under it correlate by, from the weighed sums. */
ALIGN_INLINE float correlation_of(const float tone[6], float gain)
{
    const float vv = tone[0] - tone[1] * tone[1] / tone[2];
    const float rv = tone[3] - tone[4] * tone[1] / tone[2];
    const float rr = tone[5] - tone[4] * tone[4] / tone[2];
    const float tt = gain * gain * vv + 2 * gain * rv + rr;
    return (gain * vv + rv) / sqrtf((tt + 1) * (vv + 1));
}

/** The normal equations' lower triangle and right side: value / 64, 1, then gain × slope × 1, u, v
 * across, and down. */
ALIGN_INLINE void fill_equations(const struct step_sums *sums, float gain,
                                 double a[UNKNOWNS][UNKNOWNS], double b[UNKNOWNS])
{
    static const int products[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    const double small = 1. / 64, g = (double)gain;
    a[0][0] = (double)sums->tone[0] * small * small;
    a[1][0] = (double)sums->tone[1] * small;
    a[1][1] = (double)sums->tone[2];
    b[0] = (double)sums->tone[3] * small;
    b[1] = (double)sums->tone[4];
    for (int axis = 0; axis < 2; axis++)
        for (int i = 0; i < 3; i++) {
            const int row = 2 + 3 * axis + i;
            a[row][0] = (double)sums->slopes[axis][i] * small * g;
            a[row][1] = (double)sums->slopes[axis][3 + i] * g;
            b[row] = (double)sums->slopes[axis][6 + i] * g;
            for (int other = 0; other <= axis; other++)
                for (int j = 0; j < 3; j++)
                    a[row][2 + 3 * other + j] =
                        (double)sums->squares[axis + other][products[i][j]] * g * g;
        }
    for (int j = 0; j < UNKNOWNS; j++)
        a[j][j] += j < 2 ? 1e-3 : a[j][j] * .01 + 1;
}

/** Solve a symmetric positive system in place by Cholesky; the lower triangle of `a` is used. */
ALIGN_INLINE bool solve(double a[UNKNOWNS][UNKNOWNS], double b[UNKNOWNS])
{
    double inverse[UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 1e-12))
                return false;
            if (i == j)
                inverse[i] = 1 / sqrt(sum);
            else
                a[i][j] = sum * inverse[j];
        }
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] *= inverse[i];
    }
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        for (int k = i + 1; k < UNKNOWNS; k++)
            b[i] -= a[k][i] * b[k];
        b[i] *= inverse[i];
    }
    return true;
}

/** One weighted Gauss–Newton step for tone and map. @param least correlation */
ALIGN_INLINE bool step_align(const struct align_square *square, const struct align_seen *seen,
                             struct tone tone, float least, double change[UNKNOWNS])
{
    lanes residual[MOST_ROWS], weight[MOST_ROWS], weighed_x[MOST_ROWS], weighed_y[MOST_ROWS];
    double a[UNKNOWNS][UNKNOWNS];
    struct step_sums sums;
    const float scale = find_residuals(square, seen, tone, residual);
    for (int row = 0; row < square->rows; row++)
        weight[row] = weigh(residual[row], seen->inside[row], scale);
    sum_tone(square, seen, weight, residual, &sums);
    if (!(correlation_of(sums.tone, tone.gain) >= least))
        return false;
    for (int row = 0; row < square->rows; row++) {
        weighed_x[row] = weight[row] * seen->slope_x[row];
        weighed_y[row] = weight[row] * seen->slope_y[row];
    }
    sum_slope(square, seen, weighed_x, residual, sums.slopes[0]);
    sum_slope(square, seen, weighed_y, residual, sums.slopes[1]);
    sum_squares(square, weighed_x, seen->slope_x, sums.squares[0]);
    sum_squares(square, weighed_x, seen->slope_y, sums.squares[1]);
    sum_squares(square, weighed_y, seen->slope_y, sums.squares[2]);
    fill_equations(&sums, tone.gain, a, change);
    return solve(a, change);
}

/* ---- the fit ---- */

ALIGN_INLINE bool improve_place(const struct align_stage *stage, const struct align_square *square,
                                float map[6])
{
    const float reach = .06F * (float)stage->side, still = .01F; /* samples, of one step */
    struct align_seen seen;
    struct tone tone = {1, 0};
    float most = INFINITY;
    for (int step = 0; step < stage->steps && most >= still; step++) {
        double change[UNKNOWNS];
        if (!look_through(stage, square, map, &seen))
            return false;
        if (step == 0)
            tone = match_tone(square, &seen);
        if (!step_align(square, &seen, tone, stage->least[step], change))
            return false;
        tone.gain = fmaxf(.1F, tone.gain + (float)change[0] / 64);
        tone.offset += (float)change[1];
        most = 0;
        for (int i = 0; i < 6; i++) {
            const float by = (float)change[2 + i];
            map[i] += fmaxf(-reach, fminf(reach, by));
            most = fmaxf(most, fabsf(by));
        }
    }
    return true;
}

/** How well the square and what lies under it agree, but for what covers one of the two. */
ALIGN_INLINE float correlation_under(const struct align_stage *stage,
                                     const struct align_square *square, const float map[6])
{
    enum { ROUNDS = 3 };
    struct align_seen seen;
    lanes residual[MOST_ROWS];
    float correlation = 0;
    if (!look_through(stage, square, map, &seen))
        return 0;
    struct tone tone = match_tone(square, &seen);
    for (int round = 0; round < ROUNDS; round++) {
        const float scale = find_residuals(square, &seen, tone, residual);
        lanes n = {0}, t = {0}, v = {0}, tt = {0}, vv = {0}, tv = {0};
        for (int row = 0; row < square->rows; row++) {
            const lanes weight = weigh(residual[row], seen.inside[row], scale);
            const lanes of_square = weight * square->shown[row], under = weight * seen.value[row];
            n += weight, t += of_square, v += under;
            tt += of_square * square->shown[row], vv += under * seen.value[row];
            tv += of_square * seen.value[row];
        }
        const float weight = sum_lanes(n), st = sum_lanes(t), sv = sum_lanes(v);
        const float vt = sum_lanes(tt) - st * st / weight + 1;
        const float variance = sum_lanes(vv) - sv * sv / weight + 1, gain = sqrtf(vt / variance);
        correlation = (sum_lanes(tv) - st * sv / weight) / sqrtf(vt * variance);
        tone = (struct tone){gain, (st - gain * sv) / weight};
    }
    return correlation;
}

ALIGN_INLINE bool align_loop(const struct align_stage *stage, const struct align_map *from,
                             struct align_map *map)
{
    struct align_square square;
    float place[6], now[6];
    for (int i = 0; i < 6; i++) {
        place[i] = (float)from->map[i];
        now[i] = (float)map->map[i];
    }
    fill_square(stage, place, &square);
    if (!improve_place(stage, &square, now) ||
        !(correlation_under(stage, &square, now) >= stage->least[stage->steps]))
        return false;
    for (int i = 0; i < 6; i++)
        map->map[i] = (double)now[i];
    return true;
}

#endif
