/* Counting and medians along the rows and columns of a plane. */
#include "image/lines.h"

#include <stdlib.h>
#include <string.h>

/* Sixteen samples at once, on every processor: GCC's and Clang's vectors. A comparison gives -1
 * where it holds. */
typedef uint8_t samples16 __attribute__((vector_size(16)));
enum { LANES = sizeof(samples16) };

void lines_begin(struct lines *lines, const struct doppel_plane *plane)
{
    lines->plane = *plane;
    lines->counted = (struct rect){0};
    lines->level = 0;
}

uint8_t line_median(const struct doppel_plane *plane, const struct rect *rect, unsigned axis,
                    uint32_t line, uint32_t *out_percent)
{
    uint32_t histogram[256] = {0}, total = rect_length(rect, !axis), median = 0, near = 0;
    for (uint32_t at = rect->from[!axis]; at < rect->to[!axis]; at++)
        histogram[line_sample(plane, axis, line, at)]++;
    for (uint32_t seen = histogram[0]; seen * 2 < total; seen += histogram[median])
        median++;
    for (uint32_t level = 0; level < 256; level++)
        if (level + GROUND_TOLERANCE >= median && level <= median + GROUND_TOLERANCE)
            near += histogram[level];
    *out_percent = near * 100 / total;
    return (uint8_t)median;
}

struct line_range {
    uint8_t low, width;
};

/* One row: adds to a counter a column, returns how many were near. */
static uint16_t count_row(const uint8_t *row, uint32_t length, struct line_range range,
                          uint8_t *columns)
{
    samples16 lanes = {0};
    uint32_t x = 0, total = 0;
    for (; x + LANES <= length; x += LANES) {
        samples16 samples, counts;
        memcpy(&samples, row + x, LANES);
        memcpy(&counts, columns + x, LANES);
        samples16 near = (samples16)(samples - range.low <= range.width);
        counts -= near;
        lanes -= near;
        memcpy(columns + x, &counts, LANES);
    }
    for (; x < length; x++) {
        uint8_t near = (uint8_t)(row[x] - range.low) <= range.width;
        columns[x] = (uint8_t)(columns[x] + near);
        total += near;
    }
    for (unsigned i = 0; i < LANES; i++)
        total += lanes[i];
    return (uint16_t)total;
}

static void flush_lines(uint8_t *columns, uint32_t count, uint16_t *out)
{
    for (uint32_t x = 0; x < count; x++)
        out[x] = (uint16_t)(out[x] + columns[x]);
    memset(columns, 0, count);
}

void lines_count(struct lines *lines, const struct rect *rect, uint8_t level)
{
    if (lines->level == level && memcmp(&lines->counted, rect, sizeof *rect) == 0)
        return;
    uint8_t low = level > GROUND_TOLERANCE ? (uint8_t)(level - GROUND_TOLERANCE) : 0;
    uint8_t high = level < 255 - GROUND_TOLERANCE ? (uint8_t)(level + GROUND_TOLERANCE) : 255;
    const struct line_range range = {low, (uint8_t)(high - low)};
    uint32_t width = rect_length(rect, 0);
    uint8_t columns[PLANE_MAX_SIDE] = {0};
    uint16_t *sums = lines->near[0] + rect->from[0];
    memset(sums, 0, width * sizeof *sums);
    for (uint32_t y = rect->from[1]; y < rect->to[1]; y++) {
        const uint8_t *row = lines->plane.data + y * lines->plane.stride + rect->from[0];
        lines->near[1][y] = count_row(row, width, range, columns);
        if ((y - rect->from[1]) % 255 == 254)
            flush_lines(columns, width, sums);
    }
    flush_lines(columns, width, sums);
    lines->counted = *rect;
    lines->level = level;
}

uint32_t line_percent_off(const struct doppel_plane *plane, const struct rect *rect, unsigned axis,
                          uint32_t line, uint8_t level)
{
    uint32_t off = 0, total = rect_length(rect, !axis);
    for (uint32_t at = rect->from[!axis]; at < rect->to[!axis]; at++)
        off += abs(line_sample(plane, axis, line, at) - level) > EDGE_STEP;
    return off * 100 / total;
}
