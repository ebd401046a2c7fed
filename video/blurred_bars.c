/* Bars beside a picture that are a larger, blurred copy of it: how a wide video is shown on a
 * square or upright screen, or an upright one on a wide screen. */
#include "video/video_internal.h"

#include <math.h>

enum {
    FRAMES = 32,       /* that are looked at, spread evenly */
    CORRELATED = 8,    /* of which bars and picture are compared */
    LEAST_DEPTH = 6,   /* cells */
    MOST_PERCENT = 39, /* of a side that a bar may be deep: 21:9 on an upright screen */
    SMOOTHER = 3,      /* times less detail than in the picture there is in the bars, at least */
    LEAST_DETAIL = 2,  /* of the picture, levels a cell */
    REACH = 3          /* cells that are averaged, to each side: about what is blurred */
};

/* How alike bars and the picture behind them are: the correlation along their lines. */
static const double LEAST_CORRELATION = .7;

/* Of a side, what lies along: axis 1 is of rows, from the top. */
struct blur_profile {
    double detail[GRID_SIDE]; /* of each line: how much its cells differ from their neighbours' */
    double step[GRID_SIDE];   /* from the line before */
};

static const uint8_t *blur_frame(const uint8_t *grids, size_t count, size_t number)
{
    const size_t used = count < FRAMES ? count : FRAMES;
    return grids + number * count / used * GRID_BYTES;
}

/* A cell: so far along the line, of that line. */
static int blur_cell(const uint8_t *grid, unsigned axis, size_t line, size_t along)
{
    return axis ? grid[line * GRID_SIDE + along] : grid[along * GRID_SIDE + line];
}

static void profile_frame(const uint8_t *grid, unsigned axis, struct blur_profile *out)
{
    for (size_t line = 0; line < GRID_SIDE; line++)
        for (size_t i = 1; i + 1 < GRID_SIDE; i++) {
            int here = blur_cell(grid, axis, line, i);
            int beside = blur_cell(grid, axis, line, i - 1) + blur_cell(grid, axis, line, i + 1);
            int bent = 2 * here - beside;
            out->detail[line] += bent < 0 ? -bent : bent;
            int off = line ? here - blur_cell(grid, axis, line - 1, i) : 0;
            out->step[line] += off < 0 ? -off : off;
        }
}

static struct blur_profile profile_of_grids(const uint8_t *grids, size_t count, unsigned axis)
{
    const size_t used = count < FRAMES ? count : FRAMES;
    struct blur_profile profile = {{0}, {0}};
    for (size_t i = 0; i < used; i++)
        profile_frame(blur_frame(grids, count, i), axis, &profile);
    for (size_t line = 0; line < GRID_SIDE; line++) {
        profile.detail[line] /= (double)(used * (GRID_SIDE - 2));
        profile.step[line] /= (double)(used * (GRID_SIDE - 2));
    }
    return profile;
}

/* ---- how deep ---- */

static double mean_of_lines(const double *values, uint32_t from, uint32_t to)
{
    double sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += values[i];
    return sum / (double)(to - from);
}

/* Whether bars of a depth are smooth, and detail is within. */
static bool are_smooth(const struct blur_profile *profile, uint32_t depth)
{
    const uint32_t end = GRID_SIDE - depth;
    /* the lines beside an edge hold some of both */
    double before = mean_of_lines(profile->detail, 0, depth - 1);
    double behind = mean_of_lines(profile->detail, end + 1, GRID_SIDE);
    double smooth = before > behind ? before : behind;
    double within = mean_of_lines(profile->detail, depth + 1, end - 1);
    return within >= LEAST_DETAIL && smooth * SMOOTHER <= within;
}

/* An edge within a cell is two steps, which share its height: where their middle is, in GRID_UNITs.
 */
static int32_t exact_blur_edge(const struct blur_profile *profile, uint32_t line)
{
    double sum = 0, moment = 0;
    double usual = profile->step[line - 2] < profile->step[line + 2] ? profile->step[line - 2]
                                                                     : profile->step[line + 2];
    for (int off = -1; off <= 1; off++) {
        double step = profile->step[(int)line + off] - usual;
        sum += step > 0 ? step : 0;
        moment += step > 0 ? step * off : 0;
    }
    return (int32_t)(line * GRID_UNIT) + (int32_t)(sum > 0 ? moment / sum * GRID_UNIT : 0);
}

/* ---- whether they show the picture ---- */

/* Sums of a correlation. */
struct blur_sums {
    double xx, yy, xy;
};

/* The mean of the picture about a place, as a blur would have it. */
static double blurred_picture(const uint8_t *grid, unsigned axis, double line, double along)
{
    int middle = (int)line, across = (int)along, sum = 0, count = 0;
    for (int y = middle - REACH; y <= middle + REACH; y++)
        for (int x = across - REACH; x <= across + REACH; x++) {
            if (y < 0 || x < 0 || y >= GRID_SIDE || x >= GRID_SIDE)
                continue;
            sum += blur_cell(grid, axis, (size_t)y, (size_t)x);
            count++;
        }
    return count ? (double)sum / count : 0;
}

/* A line of a bar beside the line of the larger copy: of its full length as much as the picture's
 * share of the frame is. */
static void add_bar_line(const uint8_t *grid, unsigned axis, uint32_t depth, uint32_t line,
                         struct blur_sums *sums)
{
    const double share = (GRID_SIDE - 2. * depth) / GRID_SIDE, middle = GRID_SIDE / 2.;
    const double there = depth + share * line;
    double x[GRID_SIDE], y[GRID_SIDE], mean_x = 0, mean_y = 0;
    for (size_t i = 0; i < GRID_SIDE; i++) {
        x[i] = blur_cell(grid, axis, line, i);
        y[i] = blurred_picture(grid, axis, there, middle + ((double)i + .5 - middle) * share);
        mean_x += x[i] / GRID_SIDE;
        mean_y += y[i] / GRID_SIDE;
    }
    for (size_t i = 0; i < GRID_SIDE; i++) {
        sums->xx += (x[i] - mean_x) * (x[i] - mean_x);
        sums->yy += (y[i] - mean_y) * (y[i] - mean_y);
        sums->xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
}

static double correlation_at(const uint8_t *grids, size_t count, unsigned axis, uint32_t depth)
{
    const size_t used = count < CORRELATED ? count : CORRELATED;
    struct blur_sums sums = {0};
    for (size_t i = 0; i < used; i++)
        for (uint32_t line = 1; line + 1 < depth; line += 2) {
            const uint8_t *grid = grids + i * count / used * GRID_BYTES;
            add_bar_line(grid, axis, depth, line, &sums);
            add_bar_line(grid, axis, depth, GRID_SIDE - 1 - line, &sums);
        }
    return sums.xx > 0 && sums.yy > 0 ? sums.xy / (sqrt(sums.xx) * sqrt(sums.yy)) : 0;
}

/* The depth of both bars at which they show the picture best: a picture that is smooth at its own
 * edges, as before a wall, tells by its detail that they are deeper. 0: there are none; where the
 * least depth is best, a frame's edges look like what is beside them. */
static uint32_t blurred_depth(const uint8_t *grids, size_t count, unsigned axis,
                              const struct blur_profile *profile, double *out_alike)
{
    uint32_t best = 0;
    *out_alike = LEAST_CORRELATION;
    for (uint32_t depth = LEAST_DEPTH; depth * 100 <= GRID_SIDE * MOST_PERCENT; depth++) {
        double alike = are_smooth(profile, depth) ? correlation_at(grids, count, axis, depth) : 0;
        best = alike > *out_alike ? depth : best;
        *out_alike = alike > *out_alike ? alike : *out_alike;
    }
    return best > LEAST_DEPTH ? best : 0;
}

bool find_blurred_bars(const uint8_t *grids, size_t count, struct grid_box *out)
{
    double most = 0, alike;
    for (unsigned axis = 0; count && axis < 2; axis++) {
        const struct blur_profile profile = profile_of_grids(grids, count, axis);
        const uint32_t depth = blurred_depth(grids, count, axis, &profile, &alike);
        if (!depth || alike <= most)
            continue;
        *out = grid_box_full;
        out->edge[axis] = exact_blur_edge(&profile, depth);
        out->edge[axis + 2] = exact_blur_edge(&profile, GRID_SIDE - depth);
        most = alike;
    }
    return most > 0;
}
