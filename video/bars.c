/* Bars beside, above and below a picture: black, or of any one colour. */
#include "video/video_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPREAD = 6,          /* levels by which a bar's cells may be off its colour */
    OTHERS_PERCENT = 10, /* of a bar's cells that may be off by more */
    JUST_SO = 4,         /* one frame in so many has a bar just so deep */
    LEFT_OUT = 10,       /* one in so many may have less of it, by more than */
    NEARLY = 3,          /* cells */
    LEAST_PERCENT = 35,  /* of a side that is left */
    BLACK = 24,          /* levels, at most */
    ALIKE = 3            /* cells by which bars of a colour on both sides may differ */
};

/* What is left of a grid: columns and rows from first to end. */
struct left {
    uint32_t from[2], to[2];
};

/* ---- a frame ---- */

/* Cells of a line, `step` apart. */
struct bar_line {
    const uint8_t *first;
    size_t step;
    uint32_t count;
};

/* @param axis 0: a column */
static struct bar_line line_of_bars(const uint8_t *grid, const struct left *left, unsigned axis,
                                    uint32_t number)
{
    const size_t apart = axis ? GRID_SIDE : 1, step = axis ? 1 : GRID_SIDE;
    const uint32_t from = left->from[1 - axis], to = left->to[1 - axis];
    return (struct bar_line){grid + number * apart + from * step, step, to - from};
}

static uint32_t mean_of(const struct bar_line *line)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < line->count; i++)
        sum += line->first[i * line->step];
    return (sum + line->count / 2) / line->count;
}

/* Whether all cells but a few, which may ring with the picture beside them, are of a colour. */
static bool is_even(const struct bar_line *line, uint32_t colour)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < line->count; i++)
        others += abs(line->first[i * line->step] - (int)colour) > SPREAD;
    return others * 100 <= line->count * OTHERS_PERCENT;
}

/* How many lines, from the first or from the last, are of one colour. */
static uint32_t even_lines(const uint8_t *grid, const struct left *left, unsigned axis, bool last)
{
    const uint32_t lines = left->to[axis] - left->from[axis];
    uint32_t colour = 0;
    for (uint32_t i = 0; i < lines; i++) {
        uint32_t number = last ? left->to[axis] - 1 - i : left->from[axis] + i;
        struct bar_line line = line_of_bars(grid, left, axis, number);
        if (i == 0)
            colour = mean_of(&line);
        if (!is_even(&line, colour))
            return i;
    }
    return lines;
}

/* @return false: all that is left is of one colour */
static bool cut_bars(const uint8_t *grid, struct left *left, unsigned axis)
{
    left->from[axis] += even_lines(grid, left, axis, false);
    if (left->from[axis] == left->to[axis])
        return false;
    left->to[axis] -= even_lines(grid, left, axis, true); /* of a gradient perhaps all */
    return left->from[axis] < left->to[axis];
}

/* A line of the frame, so many from a side: left, top, right, bottom. */
static struct bar_line outermost(const uint8_t *grid, unsigned side, uint32_t depth)
{
    static const struct left ALL = {{0, 0}, {GRID_SIDE, GRID_SIDE}};
    return line_of_bars(grid, &ALL, side % 2, side < 2 ? depth : GRID_SIDE - 1 - depth);
}

/* Left, top, right, bottom. */
struct depths {
    uint8_t side[4], colour[4];
};

/* Rows again: between columns of one colour there may be bars of another. */
static bool depths_of(const uint8_t *grid, struct depths *out)
{
    struct left left = {{0, 0}, {GRID_SIDE, GRID_SIDE}};
    if (!cut_bars(grid, &left, 1) || !cut_bars(grid, &left, 0) || !cut_bars(grid, &left, 1))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        out->side[i] = (uint8_t)left.from[i];
        out->side[i + 2] = (uint8_t)(GRID_SIDE - left.to[i]);
    }
    for (unsigned side = 0; side < 4; side++) {
        struct bar_line edge = line_of_bars(grid, &left, side % 2, side < 2 ? 0 : GRID_SIDE - 1);
        out->colour[side] = (uint8_t)mean_of(&edge);
    }
    return true;
}

/* ---- a video ---- */

/* The deepest that enough frames have just so, and all but a few have nearly: what is dark, or the
 * sky, ends elsewhere in each. 0: no bar. */
static uint32_t lasting_depth(const struct depths *depths, size_t count, unsigned side)
{
    size_t frames[GRID_SIDE + 2] = {0}, less[GRID_SIDE + 2] = {0};
    for (size_t i = 0; i < count; i++)
        frames[depths[i].side[side]]++;
    for (uint32_t depth = 1; depth <= GRID_SIDE; depth++)
        less[depth] = less[depth - 1] + frames[depth - 1];
    for (uint32_t depth = GRID_SIDE; depth > 0; depth--) {
        uint32_t nearly = depth > NEARLY ? depth - NEARLY : 1;
        if ((frames[depth] + frames[depth + 1]) * JUST_SO >= count &&
            less[nearly] * LEFT_OUT <= count)
            return depth;
    }
    return 0;
}

/* How far a line is from the colour of the first one of its side, summed over its cells. */
static uint64_t off_colour(const uint8_t *grid, unsigned side, uint32_t depth)
{
    const struct bar_line bar = outermost(grid, side, 0), line = outermost(grid, side, depth);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < line.count; i++)
        sum += (uint64_t)abs(line.first[i * line.step] - bar.first[i * bar.step]);
    return sum;
}

/* What all but a few frames have of black: more of it may be the picture's, and is not seen. */
static uint32_t black_depth(const struct depths *depths, size_t count, unsigned side)
{
    size_t frames[GRID_SIDE + 1] = {0}, less = 0;
    for (size_t i = 0; i < count; i++)
        frames[depths[i].colour[side] <= BLACK ? depths[i].side[side] : 0]++;
    for (uint32_t depth = 0; depth < GRID_SIDE; depth++) {
        less += frames[depth];
        if (less * LEFT_OUT > count)
            return depth;
    }
    return GRID_SIDE;
}

static uint8_t usual_colour(const struct depths *depths, size_t count, unsigned side)
{
    size_t frames[256] = {0}, sum = 0;
    uint8_t colour = 0;
    for (size_t i = 0; i < count; i++)
        frames[depths[i].colour[side]]++;
    while ((sum += frames[colour]) * 2 < count)
        colour++;
    return colour;
}

/* Bars of a colour lie on both sides, or it is a sky, or a wall. */
static bool is_pair(const struct depths *depths, size_t count, const uint32_t depth[2],
                    unsigned axis)
{
    int colours = usual_colour(depths, count, axis) - usual_colour(depths, count, axis + 2);
    return depth[0] && depth[1] && abs((int)depth[0] - (int)depth[1]) <= ALIKE &&
           abs(colours) <= SPREAD;
}

/* Where a bar ends, in GRID_UNITs: a line that it cuts is the nearer to its colour, the more of it
 * is bar; the line behind is all picture. */
static int32_t exact_depth(const uint8_t *grids, size_t count, unsigned side, uint32_t depth)
{
    uint64_t cut = 0, within = 0;
    if (!depth || depth + 1 >= GRID_SIDE) /* no bar; no picture */
        return (int32_t)(depth * GRID_UNIT);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *grid = grids + i * GRID_BYTES;
        cut += off_colour(grid, side, depth - 1) + off_colour(grid, side, depth);
        within += off_colour(grid, side, depth + 1);
    }
    uint64_t image = within ? cut * GRID_UNIT / within : 0;
    return (int32_t)((depth + 1) * GRID_UNIT) -
           (int32_t)(image < 2 * GRID_UNIT ? image : 2 * GRID_UNIT);
}

static bool enough_is_left(const int32_t edge[4], unsigned axis)
{
    return (edge[axis + 2] - edge[axis]) * 100 >= LEAST_PERCENT * GRID_SIDE * GRID_UNIT;
}

bool find_image(const uint8_t *grids, size_t count, struct grid_box *out)
{
    struct depths *depths = malloc((count + 1) * sizeof *depths);
    struct grid_box box = grid_box_full;
    size_t told = 0;
    if (!depths)
        return false;
    for (size_t i = 0; i < count; i++)
        told += depths_of(grids + i * GRID_BYTES, &depths[told]);
    for (unsigned axis = 0; told && axis < 2; axis++) {
        uint32_t even[2] = {lasting_depth(depths, told, axis),
                            lasting_depth(depths, told, axis + 2)};
        bool pair = is_pair(depths, told, even, axis);
        for (unsigned i = 0; i < 2; i++) {
            uint32_t black = black_depth(depths, told, axis + 2 * i);
            int32_t depth =
                exact_depth(grids, count, axis + 2 * i, pair && even[i] > black ? even[i] : black);
            box.edge[axis + 2 * i] += i ? -depth : depth;
        }
    }
    free(depths);
    *out = enough_is_left(box.edge, 0) && enough_is_left(box.edge, 1) ? box : grid_box_full;
    if (!memcmp(out, &grid_box_full, sizeof *out))
        (void)find_blurred_bars(grids, count, out);
    return true;
}
