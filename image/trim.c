/* Cutting off what is not the picture: uniform borders; text and bars on a uniform ground. */
#include "image/trim.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    MIN_SIDE = 12,         /* samples; smaller rectangles are left alone */
    BORDER_TOLERANCE = 12, /* levels from the median of the outermost line */
    GROUND_TOLERANCE = 6,
    MAX_GROUNDS = 5,
};

/* Half-open, in samples. Index 0 is the axis x, 1 is y: both are treated alike. */
struct rect {
    uint32_t from[2], to[2];
};

struct counts {
    uint16_t of_line[2][PLANE_MAX_SIDE]; /* [0]: columns, [1]: rows */
};

static uint32_t length(const struct rect *rect, unsigned axis)
{
    return rect->to[axis] - rect->from[axis];
}

static uint8_t sample(const struct doppel_plane *plane, unsigned axis, uint32_t line, uint32_t at)
{
    size_t x = axis == 0 ? line : at, y = axis == 0 ? at : line;
    return plane->data[y * plane->stride + x];
}

/* The median of a line (a column for axis 0, a row for axis 1) within the rectangle, and the share
 * in percent of samples within `tolerance` of it. */
static uint8_t line_median(const struct doppel_plane *plane, const struct rect *rect, unsigned axis,
                           uint32_t line, uint32_t tolerance, uint32_t *out_percent)
{
    uint32_t histogram[256] = {0}, total = length(rect, !axis), median = 0, near = 0;
    for (uint32_t at = rect->from[!axis]; at < rect->to[!axis]; at++)
        histogram[sample(plane, axis, line, at)]++;
    for (uint32_t seen = histogram[0]; seen * 2 < total; seen += histogram[median])
        median++;
    for (uint32_t level = 0; level < 256; level++)
        if (level + tolerance >= median && level <= median + tolerance)
            near += histogram[level];
    *out_percent = near * 100 / total;
    return (uint8_t)median;
}

/* How many samples of each line of the rectangle are within `tolerance` of `level`. */
static void count_near(const struct doppel_plane *plane, const struct rect *rect, uint8_t level,
                       uint8_t tolerance, struct counts *out)
{
    uint8_t low = level > tolerance ? (uint8_t)(level - tolerance) : 0;
    uint8_t range = (uint8_t)((level < 255 - tolerance ? level + tolerance : 255) - low);
    uint32_t width = length(rect, 0);
    uint16_t *columns = out->of_line[0] + rect->from[0];
    for (uint32_t x = 0; x < width; x++)
        columns[x] = 0;
    for (uint32_t y = rect->from[1]; y < rect->to[1]; y++) {
        const uint8_t *row = plane->data + y * plane->stride + rect->from[0];
        uint16_t total = 0;
        for (uint32_t x = 0; x < width; x++) {
            uint16_t near = (uint8_t)(row[x] - low) <= range;
            columns[x] = (uint16_t)(columns[x] + near);
            total = (uint16_t)(total + near);
        }
        out->of_line[1][y] = total;
    }
}

/* ---- uniform borders ---- */

/* Lines from this side that are of one level, that of the outermost. */
static uint32_t border_width(const struct doppel_plane *plane, const struct rect *rect,
                             unsigned axis, bool far)
{
    uint32_t lines = length(rect, axis), percent, width = 0;
    uint32_t outermost = far ? rect->to[axis] - 1 : rect->from[axis];
    uint8_t level = line_median(plane, rect, axis, outermost, BORDER_TOLERANCE, &percent);
    if (percent < 96)
        return 0;
    struct counts counts;
    count_near(plane, rect, level, BORDER_TOLERANCE, &counts);
    uint32_t needed = (length(rect, !axis) * 96 + 99) / 100;
    while (width < lines) {
        uint32_t line = far ? rect->to[axis] - 1 - width : rect->from[axis] + width;
        if (counts.of_line[axis][line] < needed)
            break;
        width++;
    }
    return width;
}

/* All sides are measured before any is cut, so that a turned picture is cut alike. */
static bool cut_borders_once(const struct doppel_plane *plane, struct rect *rect)
{
    uint32_t width[2][2];
    for (unsigned side = 0; side < 4; side++)
        width[side / 2][side % 2] = border_width(plane, rect, side / 2, side % 2);
    bool cut = false;
    for (unsigned axis = 0; axis < 2; axis++) {
        uint32_t both = width[axis][0] + width[axis][1];
        if (both == 0 || both * 4 > length(rect, axis) * 3)
            continue;
        rect->from[axis] += width[axis][0];
        rect->to[axis] -= width[axis][1];
        cut = true;
    }
    return cut;
}

static void cut_borders(const struct doppel_plane *plane, struct rect *rect)
{
    for (unsigned round = 0; round < 3; round++)
        if (length(rect, 0) < MIN_SIDE || length(rect, 1) < MIN_SIDE ||
            !cut_borders_once(plane, rect))
            return;
}

/* ---- text and bars on a uniform ground ---- */

struct grounds {
    uint8_t levels[MAX_GROUNDS];
    unsigned count;
};

static void add_ground(struct grounds *grounds, uint8_t level)
{
    for (unsigned i = 0; i < grounds->count; i++)
        if (abs(grounds->levels[i] - level) <= 8)
            return;
    grounds->levels[grounds->count++] = level;
}

/* The level that most samples have, give or take 4, if that is over 15 % of them. */
static void add_commonest(const struct doppel_plane *plane, struct grounds *grounds)
{
    uint32_t histogram[65] = {0}, best = 0;
    for (uint32_t y = 0; y < plane->height; y++)
        for (uint32_t x = 0; x < plane->width; x++)
            histogram[plane->data[y * plane->stride + x] / 4]++;
    for (uint32_t i = 0; i < 64; i++)
        if (histogram[i] + histogram[i + 1] > histogram[best] + histogram[best + 1])
            best = i;
    if ((uint64_t)(histogram[best] + histogram[best + 1]) * 100 >
        (uint64_t)plane->width * plane->height * 15)
        add_ground(grounds, (uint8_t)(best < 63 ? best * 4 + 4 : 255));
}

static struct grounds find_grounds(const struct doppel_plane *plane, const struct rect *frame)
{
    struct grounds grounds = {0};
    for (unsigned side = 0; side < 4; side++) {
        unsigned axis = side / 2;
        uint32_t percent, line = side % 2 ? frame->to[axis] - 1 : 0;
        uint8_t level = line_median(plane, frame, axis, line, 5, &percent);
        if (percent >= 60)
            add_ground(&grounds, level);
    }
    add_commonest(plane, &grounds);
    return grounds;
}

/* The longest run of lines with under 42 % of ground, across gaps of at most 1 % of the lines. */
static void keep_longest_run(const struct counts *counts, struct rect *rect, unsigned axis)
{
    uint32_t gap_allowed = length(rect, axis) / 100, across = length(rect, !axis);
    uint32_t best_from = 0, best_to = 0, from = 0, to = 0;
    if (gap_allowed == 0)
        gap_allowed = 1;
    for (uint32_t line = rect->from[axis]; line < rect->to[axis]; line++) {
        if (counts->of_line[axis][line] * 100u >= across * 42u)
            continue;
        if (to == 0 || line - to > gap_allowed)
            from = line;
        to = line + 1;
        if (to - from > best_to - best_from) {
            best_from = from;
            best_to = to;
        }
    }
    rect->from[axis] = best_from;
    rect->to[axis] = best_to;
}

/* A picture laid on a ground ends in a straight, sharp edge. */
static bool is_edge(const struct doppel_plane *plane, const struct rect *rect, unsigned axis,
                    uint32_t inside, uint32_t outside)
{
    uint32_t differing = 0;
    for (uint32_t at = rect->from[!axis]; at < rect->to[!axis]; at++)
        differing += abs(sample(plane, axis, inside, at) - sample(plane, axis, outside, at)) > 10;
    return differing * 100 >= length(rect, !axis) * 45;
}

static void undo_soft_cuts(const struct doppel_plane *plane, const struct rect *before,
                           const uint32_t frame[2], struct rect *rect)
{
    struct rect cut = *rect;
    for (unsigned axis = 0; axis < 2; axis++) {
        uint32_t from = cut.from[axis], to = cut.to[axis];
        if (from > before->from[axis] &&
            !is_edge(plane, &cut, axis, from + 1 < to ? from + 1 : from, from >= 2 ? from - 2 : 0))
            rect->from[axis] = before->from[axis];
        if (to < before->to[axis] && !is_edge(plane, &cut, axis, to >= from + 2 ? to - 2 : from,
                                              to + 1 < frame[axis] ? to + 1 : frame[axis] - 1))
            rect->to[axis] = before->to[axis];
    }
}

static bool cut_ground(const struct doppel_plane *plane, uint8_t level, struct rect *rect)
{
    const uint32_t frame[2] = {plane->width, plane->height};
    struct rect cut = *rect;
    struct counts counts;
    for (unsigned round = 0; round < 2; round++)
        for (unsigned axis = 2; axis-- > 0;) {
            count_near(plane, &cut, level, GROUND_TOLERANCE, &counts);
            keep_longest_run(&counts, &cut, axis);
            if (length(&cut, axis) * 100 < frame[axis] * (axis ? 12u : 20u))
                return false;
        }
    undo_soft_cuts(plane, rect, frame, &cut);
    if ((uint64_t)length(&cut, 0) * length(&cut, 1) * 100 < (uint64_t)frame[0] * frame[1] * 8)
        return false;
    *rect = cut;
    return true;
}

static void cut_furniture(const struct doppel_plane *plane, const struct rect *frame,
                          struct rect *rect)
{
    struct grounds grounds = find_grounds(plane, frame);
    for (unsigned i = 0; i < grounds.count; i++)
        cut_ground(plane, grounds.levels[i], rect);
    cut_borders(plane, rect);
}

/* ---- the boxes ---- */

/* How much, in 1/256, of the line just inside a cut is still the ground outside: it lies between
 * the line outside and the next one inside. */
static uint32_t ground_share(const struct doppel_plane *plane, const struct rect *rect,
                             unsigned axis, bool far)
{
    uint32_t inside = far ? rect->to[axis] - 1 : rect->from[axis];
    uint32_t outside = far ? inside + 1 : inside - 1, next = far ? inside - 1 : inside + 1;
    int64_t product = 0, square = 0;
    for (uint32_t at = rect->from[!axis]; at < rect->to[!axis]; at++) {
        int ground = sample(plane, axis, outside, at);
        int picture = sample(plane, axis, next, at) - ground;
        product += picture * (sample(plane, axis, inside, at) - ground);
        square += picture * picture;
    }
    if (square < 100 * (int64_t)length(rect, !axis))
        return 128;
    int64_t picture_share = product * 256 / square;
    return picture_share < 0 ? 256 : picture_share > 256 ? 0 : (uint32_t)(256 - picture_share);
}

static uint16_t edge_share(const struct doppel_plane *plane, const struct rect *rect,
                           const uint32_t frame[2], unsigned axis, bool far)
{
    uint32_t at = far ? frame[axis] - rect->to[axis] : rect->from[axis];
    uint64_t cut = at == 0 ? 0 : at * 256 + ground_share(plane, rect, axis, far);
    uint64_t units = (uint64_t)frame[axis] * 256;
    uint16_t share = (uint16_t)((cut * SHARE_ONE * 2 + units) / (units * 2));
    return far ? (uint16_t)(SHARE_ONE - share) : share;
}

static struct share_box to_shares(const struct doppel_plane *plane, const struct rect *rect)
{
    const uint32_t frame[2] = {plane->width, plane->height};
    if (length(rect, 0) < MIN_SIDE || length(rect, 1) < MIN_SIDE)
        return share_box_full;
    return (struct share_box){.left = edge_share(plane, rect, frame, 0, false),
                              .top = edge_share(plane, rect, frame, 1, false),
                              .right = edge_share(plane, rect, frame, 0, true),
                              .bottom = edge_share(plane, rect, frame, 1, true)};
}

struct trimmed_boxes trim_boxes(const struct doppel_plane *plane)
{
    const struct rect frame = {.to = {plane->width, plane->height}};
    struct rect rect = frame;
    if (plane->width < MIN_SIDE || plane->height < MIN_SIDE)
        return (struct trimmed_boxes){share_box_full, share_box_full};
    struct trimmed_boxes boxes;
    cut_borders(plane, &rect);
    boxes.trimmed = to_shares(plane, &rect);
    cut_furniture(plane, &frame, &rect);
    boxes.furniture = to_shares(plane, &rect);
    return boxes;
}
