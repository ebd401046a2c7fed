/* Cutting off what is not the picture: uniform borders; text and bars on a uniform ground. */
#include "image/trim.h"

#include <stdlib.h>

#include "image/lines.h"

enum {
    MIN_SIDE = 12, /* samples; smaller rectangles are left alone */
    MAX_GROUNDS = 5
};

/* ---- uniform borders ---- */

/* Lines from this side that are of one level, that of the outermost. Where nothing stands out from
 * it after that, as on a slope, it is cut only if narrow. */
static uint32_t border_width(struct lines *lines, const struct rect *rect, unsigned axis, bool far)
{
    const uint32_t uniform = 96, narrow = 4; /* percent */
    uint32_t percent, width = 0, count = rect_length(rect, axis), across = rect_length(rect, !axis);
    uint8_t level =
        line_median(&lines->plane, rect, axis, edge_line_at(rect, axis, far, 0), &percent);
    if (percent < uniform)
        return 0;
    lines_count(lines, rect, level);
    while (width < count &&
           lines->near[axis][edge_line_at(rect, axis, far, width)] * 100u >= across * uniform)
        width++;
    if (width + MIN_SIDE > count)
        return 0;
    uint32_t inside = edge_line_at(rect, axis, far, width + 1); /* the next may be half border */
    if (line_percent_off(&lines->plane, rect, axis, inside, level) == 0 &&
        width * 100 >= count * narrow)
        return 0;
    return width;
}

/* ---- captions and bars: text on a uniform ground, along one side ---- */

/* Lines from this side that are text on the ground of the outermost line, up to the last line of
 * mere ground that a straight edge follows. */
static uint32_t caption_width(struct lines *lines, const struct rect *rect, unsigned axis, bool far)
{
    uint32_t count = rect_length(rect, axis), across = rect_length(rect, !axis), percent;
    uint8_t level =
        line_median(&lines->plane, rect, axis, edge_line_at(rect, axis, far, 0), &percent);
    if (percent < 60)
        return 0;
    lines_count(lines, rect, level);
    const uint16_t *near = lines->near[axis];
    uint32_t width = 0, misses = 0, misses_allowed = count / 100 + 1;
    for (uint32_t depth = 0; depth + MIN_SIDE < count && misses <= misses_allowed; depth++) {
        uint32_t here = near[edge_line_at(rect, axis, far, depth)] * 100u / across;
        uint32_t inside =
            edge_line_at(rect, axis, far, depth + 2); /* the next may be half ground */
        misses = here < 25 ? misses + 1 : 0;
        if (here >= 90 && near[inside] * 100u <= across * 55 &&
            line_percent_off(&lines->plane, rect, axis, inside, level) >= 45)
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
    enum { POINTS = 64 };
    uint32_t histogram[65] = {0}, best = 0;
    for (uint32_t j = 0; j < POINTS; j++)
        for (uint32_t i = 0; i < POINTS; i++) {
            size_t x = rect->from[0] + (2 * i + 1) * rect_length(rect, 0) / (2 * POINTS);
            size_t y = rect->from[1] + (2 * j + 1) * rect_length(rect, 1) / (2 * POINTS);
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
        uint8_t level =
            line_median(plane, rect, side / 2, edge_line_at(rect, side / 2, side % 2, 0), &percent);
        if (percent >= 60)
            add_ground(&grounds, level);
    }
    add_commonest(plane, rect, &grounds);
    return grounds;
}

/* Of the runs of lines between gaps of ground, keep the one with most that is not ground. */
static bool keep_fullest_run(const struct lines *lines, struct rect *rect, unsigned axis)
{
    uint32_t across = rect_length(rect, !axis), from = rect->from[axis];
    uint32_t best_from = 0, best_to = 0;
    uint64_t mass = 0, best_mass = 0;
    for (uint32_t line = rect->from[axis]; line <= rect->to[axis]; line++) {
        bool gap = line == rect->to[axis] || lines->near[axis][line] * 100u >= across * 97;
        if (!gap) {
            mass += across - lines->near[axis][line];
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
        uint32_t off = line_percent_off(plane, rect, axis, edge_line_at(rect, axis, far, 1), level);
        if (off < 15)
            return false;
        sum += off;
        sides++;
    }
    return sum >= sides * 50;
}

/* Samples that are off the ground. */
static uint64_t mass_within(struct lines *lines, const struct rect *rect, uint8_t level)
{
    uint64_t mass = 0;
    lines_count(lines, rect, level);
    for (uint32_t line = rect->from[0]; line < rect->to[0]; line++)
        mass += rect_length(rect, 1) - lines->near[0][line];
    return mass;
}

/* A figure whose own ground is the page's has no edges; but there is ground on all sides of it, on
 * a phone's page, which is taller than 16:9, above and below, and it is much of what is on the
 * page. */
static bool is_figure(struct lines *lines, const struct rect *before, const struct rect *rect,
                      uint8_t level)
{
    const uint64_t least = 40; /* percent */
    const bool tall = rect_length(before, 1) * 9 > rect_length(before, 0) * 16;
    for (unsigned axis = tall ? 1 : 0; axis < 2; axis++)
        if (rect->from[axis] == before->from[axis] || rect->to[axis] == before->to[axis])
            return false;
    return mass_within(lines, rect, level) * 100 >= mass_within(lines, before, level) * least;
}

static bool cut_layout(struct lines *lines, uint8_t level, struct rect *rect)
{
    const struct doppel_plane *plane = &lines->plane;
    struct rect cut = *rect;
    for (unsigned round = 0, unchanged = 0; round < 8 && unchanged < 2; round++) {
        lines_count(lines, &cut, level);
        unchanged = keep_fullest_run(lines, &cut, !(round % 2)) ? 0 : unchanged + 1;
        if (rect_length(&cut, 0) < MIN_SIDE || rect_length(&cut, 1) < MIN_SIDE)
            return false;
    }
    uint64_t area = (uint64_t)rect_length(&cut, 0) * rect_length(&cut, 1);
    if (area * 100 < (uint64_t)plane->width * plane->height * 4 ||
        !(has_edges(plane, rect, &cut, level) || is_figure(lines, rect, &cut, level)))
        return false;
    bool changed = area != (uint64_t)rect_length(rect, 0) * rect_length(rect, 1);
    *rect = cut;
    return changed;
}

static bool cut_layouts(struct lines *lines, struct rect *rect)
{
    struct grounds grounds = find_grounds(&lines->plane, rect);
    bool cut = false;
    for (unsigned i = 0; i < grounds.count; i++)
        cut |= cut_layout(lines, grounds.levels[i], rect);
    return cut;
}

/* ---- rounds of cuts ---- */

typedef uint32_t side_width(struct lines *, const struct rect *, unsigned axis, bool far);

/* All sides are measured before any is cut, so that a turned picture is cut alike. */
static bool cut_sides(struct lines *lines, side_width *measure, struct rect *rect)
{
    uint32_t width[2][2];
    if (rect_length(rect, 0) < MIN_SIDE || rect_length(rect, 1) < MIN_SIDE)
        return false;
    for (unsigned side = 0; side < 4; side++)
        width[side / 2][side % 2] = measure(lines, rect, side / 2, side % 2);
    bool cut = false;
    for (unsigned axis = 0; axis < 2; axis++) {
        uint32_t both = width[axis][0] + width[axis][1];
        if (both == 0 || both * 4 > rect_length(rect, axis) * 3)
            continue;
        rect->from[axis] += width[axis][0];
        rect->to[axis] -= width[axis][1];
        cut = true;
    }
    return cut;
}

static void cut_captions_and_borders(struct lines *lines, struct rect *rect)
{
    for (unsigned round = 0; round < 3; round++) {
        bool cut = cut_sides(lines, caption_width, rect);
        if (!cut_sides(lines, border_width, rect) && !cut)
            return;
    }
}

static void cut_interface(struct lines *lines, struct rect *rect)
{
    for (unsigned round = 0; round < 3; round++) {
        bool cut = cut_layouts(lines, rect);
        cut_captions_and_borders(lines, rect);
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
        int ground = line_sample(plane, axis, outside, at);
        int image = line_sample(plane, axis, next, at) - ground;
        product += image * (line_sample(plane, axis, inside, at) - ground);
        square += image * image;
    }
    if (square < 100 * (int64_t)rect_length(rect, !axis))
        return 128;
    /* What is cut keeps MIN_SIDE: square > 0. */
    int64_t image_share = product * 256 / square; // NOLINT(clang-analyzer-core.*)
    return image_share < 0 ? 256 : image_share > 256 ? 0 : (uint32_t)(256 - image_share);
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
    if (rect_length(rect, 0) < MIN_SIDE || rect_length(rect, 1) < MIN_SIDE)
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
    struct lines lines;
    lines_begin(&lines, plane);
    cut_captions_and_borders(&lines, &rect);
    boxes.trimmed = to_shares(plane, &rect);
    rect = frame;
    cut_interface(&lines, &rect);
    boxes.interface = to_shares(plane, &rect);
    return boxes;
}
