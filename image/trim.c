/* Cutting off what is not the picture: uniform borders; text and bars on a uniform ground. */
#include "image/trim.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    MIN_SIDE = 12,        /* samples; smaller rectangles are left alone */
    BORDER_TOLERANCE = 6, /* levels from the median of the outermost line */
    GROUND_TOLERANCE = 6,
    EDGE_STEP = 10, /* levels between a ground and a picture laid on it */
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

/* ---- captions and bars: text on a uniform ground, along one side ---- */

/* Share in percent of a line's samples, within the rectangle, that are not near the level. */
static uint32_t percent_off(const struct doppel_plane *plane, const struct rect *rect,
                            unsigned axis, uint32_t line, uint8_t level)
{
    uint32_t off = 0, total = length(rect, !axis);
    for (uint32_t at = rect->from[!axis]; at < rect->to[!axis]; at++)
        off += abs(sample(plane, axis, line, at) - level) > EDGE_STEP;
    return off * 100 / total;
}

/* The line this many lines into the rectangle from one of its sides. */
static uint32_t line_at(const struct rect *rect, unsigned axis, bool far, uint32_t depth)
{
    return far ? rect->to[axis] - 1 - depth : rect->from[axis] + depth;
}

/* Lines from this side that are text on the ground of the outermost line, up to the first line of
 * mere ground that a straight edge follows. */
static uint32_t caption_width(const struct doppel_plane *plane, const struct rect *rect,
                              unsigned axis, bool far)
{
    uint32_t lines = length(rect, axis), across = length(rect, !axis), percent;
    uint8_t level =
        line_median(plane, rect, axis, line_at(rect, axis, far, 0), GROUND_TOLERANCE, &percent);
    if (percent < 60)
        return 0;
    struct counts counts;
    count_near(plane, rect, level, GROUND_TOLERANCE, &counts);
    uint32_t width = 0, misses = 0, misses_allowed = lines / 100 + 1;
    for (uint32_t depth = 0; depth + MIN_SIDE < lines; depth++) {
        uint32_t near = counts.of_line[axis][line_at(rect, axis, far, depth)] * 100u / across;
        misses = near < 25 ? misses + 1 : 0;
        if (misses > misses_allowed)
            break;
        if (near >= 90 &&
            percent_off(plane, rect, axis, line_at(rect, axis, far, depth + 2), level) >= 45)
            width = depth + 1;
    }
    return width;
}

/* ---- layouts: a picture among text, on a ground that separates the two ---- */

/* Levels that may be a ground: of each side of the rectangle, and the commonest of all. */
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

/* The level that most samples have, give or take 4, if that is over 15 % of them; on a lattice. */
static void add_commonest(const struct doppel_plane *plane, const struct rect *rect,
                          struct grounds *grounds)
{
    enum { POINTS = 128 };
    uint32_t histogram[65] = {0}, best = 0;
    for (uint32_t j = 0; j < POINTS; j++)
        for (uint32_t i = 0; i < POINTS; i++) {
            size_t x = rect->from[0] + (2 * i + 1) * length(rect, 0) / (2 * POINTS);
            size_t y = rect->from[1] + (2 * j + 1) * length(rect, 1) / (2 * POINTS);
            histogram[plane->data[y * plane->stride + x] / 4]++;
        }
    for (uint32_t i = 0; i < 64; i++)
        if (histogram[i] + histogram[i + 1] > histogram[best] + histogram[best + 1])
            best = i;
    if ((histogram[best] + histogram[best + 1]) * 100 > POINTS * POINTS * 15)
        add_ground(grounds, (uint8_t)(best < 63 ? best * 4 + 4 : 255));
}

static struct grounds find_grounds(const struct doppel_plane *plane, const struct rect *rect)
{
    struct grounds grounds = {0};
    for (unsigned side = 0; side < 4; side++) {
        uint32_t percent;
        uint8_t level = line_median(plane, rect, side / 2, line_at(rect, side / 2, side % 2, 0),
                                    GROUND_TOLERANCE, &percent);
        if (percent >= 60)
            add_ground(&grounds, level);
    }
    add_commonest(plane, rect, &grounds);
    return grounds;
}

/* Of the runs of lines between gaps of ground, keep the one with most that is not ground. */
static bool keep_fullest_run(const struct counts *counts, struct rect *rect, unsigned axis)
{
    uint32_t across = length(rect, !axis), from = rect->from[axis];
    uint32_t best_from = 0, best_to = 0;
    uint64_t mass = 0, best_mass = 0;
    for (uint32_t line = rect->from[axis]; line <= rect->to[axis]; line++) {
        bool gap = line == rect->to[axis] || counts->of_line[axis][line] * 100u >= across * 97;
        if (!gap) {
            mass += across - counts->of_line[axis][line];
            continue;
        }
        if (mass > best_mass) {
            best_mass = mass;
            best_from = from;
            best_to = line;
        }
        from = line + 1;
        mass = 0;
    }
    bool cut = best_from > rect->from[axis] || best_to < rect->to[axis];
    rect->from[axis] = best_from;
    rect->to[axis] = best_to;
    return cut;
}

/* A picture laid on a ground begins with a straight edge on every side; things photographed before
 * a plain wall do not. */
static bool has_edges(const struct doppel_plane *plane, const struct rect *before,
                      const struct rect *rect, uint8_t level)
{
    uint32_t sides = 0, sum = 0;
    for (unsigned side = 0; side < 4; side++) {
        unsigned axis = side / 2;
        bool far = side % 2;
        if (far ? rect->to[axis] == before->to[axis] : rect->from[axis] == before->from[axis])
            continue;
        uint32_t off = percent_off(plane, rect, axis, line_at(rect, axis, far, 1), level);
        if (off < 15)
            return false;
        sum += off;
        sides++;
    }
    return sum >= sides * 50;
}

static bool cut_layout(const struct doppel_plane *plane, uint8_t level, struct rect *rect)
{
    struct rect cut = *rect;
    struct counts counts;
    for (unsigned round = 0, unchanged = 0; round < 8 && unchanged < 2; round++) {
        count_near(plane, &cut, level, GROUND_TOLERANCE, &counts);
        unchanged = keep_fullest_run(&counts, &cut, !(round % 2)) ? 0 : unchanged + 1;
        if (length(&cut, 0) < MIN_SIDE || length(&cut, 1) < MIN_SIDE)
            return false;
    }
    uint64_t area = (uint64_t)length(&cut, 0) * length(&cut, 1);
    if (area * 100 < (uint64_t)plane->width * plane->height * 4 ||
        !has_edges(plane, rect, &cut, level))
        return false;
    bool changed = area != (uint64_t)length(rect, 0) * length(rect, 1);
    *rect = cut;
    return changed;
}

static bool cut_layouts(const struct doppel_plane *plane, struct rect *rect)
{
    struct grounds grounds = find_grounds(plane, rect);
    bool cut = false;
    for (unsigned i = 0; i < grounds.count; i++)
        cut |= cut_layout(plane, grounds.levels[i], rect);
    return cut;
}

/* ---- rounds of cuts ---- */

typedef uint32_t (*side_width)(const struct doppel_plane *, const struct rect *, unsigned axis,
                               bool far);

/* All sides are measured before any is cut, so that a turned picture is cut alike. */
static bool cut_sides(const struct doppel_plane *plane, side_width measure, struct rect *rect)
{
    uint32_t width[2][2];
    if (length(rect, 0) < MIN_SIDE || length(rect, 1) < MIN_SIDE)
        return false;
    for (unsigned side = 0; side < 4; side++)
        width[side / 2][side % 2] = measure(plane, rect, side / 2, side % 2);
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

static void cut_captions_and_borders(const struct doppel_plane *plane, struct rect *rect)
{
    for (unsigned round = 0; round < 4; round++) {
        bool cut = cut_sides(plane, caption_width, rect);
        if (!cut_sides(plane, border_width, rect) && !cut)
            return;
    }
}

static void cut_furniture(const struct doppel_plane *plane, struct rect *rect)
{
    for (unsigned round = 0; round < 3; round++) {
        bool cut = cut_layouts(plane, rect);
        cut_captions_and_borders(plane, rect);
        if (!cut)
            return;
    }
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
    cut_captions_and_borders(plane, &rect);
    boxes.trimmed = to_shares(plane, &rect);
    rect = frame;
    cut_furniture(plane, &rect);
    boxes.furniture = to_shares(plane, &rect);
    return boxes;
}
