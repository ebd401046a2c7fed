/* The rows and columns of a part of a plane: their medians, and how much of each is of one level.
 */
#ifndef DOPPEL_IMAGE_LINES_H
#define DOPPEL_IMAGE_LINES_H

#include <stdbool.h>

#include <doppel/core.h>

#include "image/plane.h"

/** Half-open, in samples. Index 0 is the axis x, whose lines are columns, 1 is y, whose lines are
 * rows: what is done along one is done along the other. */
struct rect {
    uint32_t from[2], to[2];
};

static inline uint32_t rect_length(const struct rect *rect, unsigned axis)
{
    return rect->to[axis] - rect->from[axis];
}

/** The line this many lines into the rectangle, from its near or its far side. */
static inline uint32_t edge_line_at(const struct rect *rect, unsigned axis, bool far,
                                    uint32_t depth)
{
    return far ? rect->to[axis] - 1 - depth : rect->from[axis] + depth;
}

static inline uint8_t line_sample(const struct doppel_plane *plane, unsigned axis, uint32_t line,
                                  uint32_t at)
{
    size_t x = axis == 0 ? line : at, y = axis == 0 ? at : line;
    return plane->data[y * plane->stride + x];
}

/** Levels by which samples of one ground may differ from it, and by which a picture laid on it
 * must. */
enum { GROUND_TOLERANCE = 6, EDGE_STEP = 10 };

/** A plane (at most PLANE_MAX_SIDE each way), and the last count made of it. */
struct lines {
    struct doppel_plane plane;
    struct rect counted;
    uint8_t level;
    uint16_t near[2][PLANE_MAX_SIDE]; /**< by axis and line */
};

/** No count made yet. */
void lines_begin(struct lines *lines, const struct doppel_plane *plane);

/** The median of a line within the rectangle, and the share in percent of its samples that are
 * within GROUND_TOLERANCE of that. */
uint8_t line_median(const struct doppel_plane *plane, const struct rect *rect, unsigned axis,
                    uint32_t line, uint32_t *out_percent);

/** Count, in each line of the rectangle, the samples within GROUND_TOLERANCE of the level. */
void lines_count(struct lines *lines, const struct rect *rect, uint8_t level);

/** Share in percent of a line's samples within the rectangle that are off the level by more than
 * EDGE_STEP. */
uint32_t line_percent_off(const struct doppel_plane *plane, const struct rect *rect, unsigned axis,
                          uint32_t line, uint8_t level);

#endif
