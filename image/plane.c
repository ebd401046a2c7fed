/* Area averages of a plane or of parts of it, in exact integers. */
#include "image/plane.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Overlap of [a0, a1) and [b0, b1). */
static uint64_t overlap(uint64_t a0, uint64_t a1, uint64_t b0, uint64_t b1)
{
    uint64_t from = a0 > b0 ? a0 : b0, to = a1 < b1 ? a1 : b1;
    return to > from ? to - from : 0;
}

/* Both numbers fit a duplicate's 53 bits for every plane under 2^45 samples: the quotient is then
 * rounded once, and exactly where it is a half. */
static uint16_t rounded_share(uint64_t sum, uint64_t area, uint32_t scale)
{
    return (uint16_t)((double)(sum * scale) / (double)area + 0.5);
}

/* ---- rows to a line of sums ---- */

/* Columns that are summed at once, and rows of 255 whose sum fits 16 bits. */
enum { STRIP = 1024, ROWS_OF_16_BITS = 257 };

/* Whole rows, up to ROWS_OF_16_BITS of them, each with the same weight. */
static void add_whole_rows(const uint8_t *rows, size_t stride, size_t count, size_t columns,
                           uint32_t weight, uint64_t *out)
{
    uint16_t sums[STRIP] = {0};
    for (size_t y = 0; y < count; y++)
        for (size_t x = 0; x < columns; x++)
            sums[x] = (uint16_t)(sums[x] + rows[y * stride + x]);
    for (size_t x = 0; x < columns; x++)
        out[x] += (uint64_t)sums[x] * weight;
}

/* The rows that make up row j of `rows`, each weighted by its share in units of 1/rows, of up to
 * STRIP columns from x on. */
static void add_strip(const struct doppel_plane *plane, uint32_t j, uint32_t rows, size_t x,
                      size_t columns, uint64_t *out)
{
    uint64_t from = (uint64_t)j * plane->height, to = from + plane->height;
    size_t first = from / rows, last = (to - 1) / rows, stride = plane->stride;
    const uint8_t *top = plane->data + first * stride + x;
    const uint8_t *bottom = plane->data + last * stride + x;
    uint64_t top_weight = overlap(from, to, first * rows, (first + 1) * rows);
    uint64_t bottom_weight = last > first ? to - last * rows : 0;
    for (size_t i = 0; i < columns; i++)
        out[i] = top[i] * top_weight + bottom[i] * bottom_weight;
    for (size_t y = first + 1; y < last; y += ROWS_OF_16_BITS)
        add_whole_rows(plane->data + y * stride + x, stride,
                       last - y < ROWS_OF_16_BITS ? last - y : ROWS_OF_16_BITS, columns, rows, out);
}

static void add_rows(const struct doppel_plane *plane, uint32_t j, uint32_t rows, uint64_t *out)
{
    for (size_t x = 0; x < plane->width; x += STRIP)
        add_strip(plane, j, rows, x, plane->width - x < STRIP ? plane->width - x : STRIP, out + x);
}

/* ---- averages ---- */

/* Add a strip of sums, from column x on, to the cells: one is `columns` wide, a cell `width`. */
static void add_plane_row_to_cells(const uint64_t *line, size_t x, size_t count, uint32_t width,
                                   uint32_t columns, uint64_t *cells)
{
    uint64_t from = (uint64_t)x * columns;
    size_t i = from / width;
    uint64_t edge = (uint64_t)(i + 1) * width;
    for (size_t k = 0; k < count; k++) {
        uint64_t to = (uint64_t)(x + k + 1) * columns;
        for (; to > edge; edge += width) {
            cells[i++] += line[k] * (edge - from);
            from = edge;
        }
        cells[i] += line[k] * (to - from);
        from = to;
    }
}

void plane_average(const struct doppel_plane *plane, uint32_t columns, uint32_t rows,
                   uint32_t scale, uint16_t *out)
{
    uint64_t line[STRIP], cells[PLANE_MAX_CELLS];
    uint64_t area = (uint64_t)plane->width * plane->height;
    for (uint32_t j = 0; j < rows; j++) {
        memset(cells, 0, columns * sizeof *cells);
        for (size_t x = 0; x < plane->width; x += STRIP) {
            size_t count = plane->width - x < STRIP ? plane->width - x : STRIP;
            add_strip(plane, j, rows, x, count, line);
            add_plane_row_to_cells(line, x, count, plane->width, columns, cells);
        }
        for (uint32_t i = 0; i < columns; i++)
            out[(size_t)j * columns + i] = rounded_share(cells[i], area, scale);
    }
}

/* ---- a plane made small enough to look at closely ---- */

/* A line of sums cut into `columns` equal cells, each the difference of what lies before its two
 * edges. */
static void cut_into_cells(const uint64_t *line, uint32_t width, uint32_t columns, uint64_t area,
                           uint8_t *out)
{
    uint64_t before = 0, previous = 0;
    size_t x = 0;
    for (uint32_t i = 0; i < columns; i++) {
        uint64_t edge = (uint64_t)(i + 1) * width, whole = edge / columns, part = edge % columns;
        while (x < whole)
            before += line[x++];
        uint64_t here = before * columns + (part ? line[whole] * part : 0);
        out[i] = (uint8_t)rounded_share(here - previous, area, 1);
        previous = here;
    }
}

static uint32_t shrunk_side(uint32_t side)
{
    return side > PLANE_MAX_SIDE ? PLANE_MAX_SIDE / 2 : side;
}

static enum doppel_status shrink_plane_sums(struct plane_sums *sums, struct doppel_error *error)
{
    const struct doppel_plane plane = sums->plane;
    uint32_t width = shrunk_side(plane.width), height = shrunk_side(plane.height);
    if (width == plane.width && height == plane.height)
        return DOPPEL_OK;
    uint64_t *line = malloc(plane.width * sizeof *line);
    sums->shrunk = malloc((size_t)width * height);
    bool made = line && sums->shrunk;
    for (uint32_t j = 0; made && j < height; j++) {
        add_rows(&plane, j, height, line);
        cut_into_cells(line, plane.width, width, (uint64_t)plane.width * plane.height,
                       sums->shrunk + (size_t)j * width);
    }
    sums->plane = (struct doppel_plane){sums->shrunk, width, height, width};
    free(line);
    return made ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to reduce a plane of %ux%u",
                              plane.width, plane.height);
}

static void fill_sums(const struct doppel_plane *plane, uint32_t *sums)
{
    size_t pitch = plane->width + 1;
    memset(sums, 0, pitch * sizeof *sums);
    for (size_t y = 0; y < plane->height; y++) {
        const uint8_t *row = plane->data + y * plane->stride;
        const uint32_t *above = sums + y * pitch;
        uint32_t *here = sums + (y + 1) * pitch, left = 0;
        here[0] = 0;
        for (size_t x = 0; x < plane->width; x++) {
            left += row[x];
            here[x + 1] = above[x + 1] + left;
        }
    }
}

enum doppel_status plane_sums_make(const struct doppel_plane *plane, struct plane_sums *out,
                                   struct doppel_error *error)
{
    struct plane_sums sums = {.plane = *plane};
    enum doppel_status status = shrink_plane_sums(&sums, error);
    if (status)
        goto failed;
    size_t count = ((size_t)sums.plane.width + 1) * (sums.plane.height + 1);
    sums.sums = malloc(count * sizeof *sums.sums);
    if (!sums.sums) {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the sums of a plane of %ux%u",
                             sums.plane.width, sums.plane.height);
        goto failed;
    }
    fill_sums(&sums.plane, sums.sums);
    *out = sums;
    return DOPPEL_OK;
failed:
    plane_sums_free(&sums);
    return status;
}

void plane_sums_free(struct plane_sums *sums)
{
    free(sums->shrunk);
    free(sums->sums);
    *sums = (struct plane_sums){0};
}

/* ---- parts of a plane ---- */

enum { SUBSAMPLES = 256 };

/* The edges of the cells along one side: `whole` samples and `part` units of 1/unit sample. */
struct cell_edges {
    uint32_t whole[PLANE_MAX_CELLS + 1];
    uint64_t part[PLANE_MAX_CELLS + 1];
    uint64_t unit, cell; /* units in a sample, in a cell */
};

/* 65535 is odd: no share falls on a half, so a mirrored box is rounded to the mirrored place. */
static uint64_t share_to_subsamples(uint16_t share, uint32_t length)
{
    return ((uint64_t)share * length * SUBSAMPLES + SHARE_ONE / 2) / SHARE_ONE;
}

static struct cell_edges edges_between(uint16_t from_share, uint16_t to_share, uint32_t length,
                                       uint32_t side)
{
    uint64_t from = share_to_subsamples(from_share, length);
    uint64_t to = share_to_subsamples(to_share, length);
    struct cell_edges edges = {.unit = (uint64_t)SUBSAMPLES * side, .cell = to - from};
    for (uint32_t i = 0; i <= side; i++) {
        uint64_t at = from * side + i * edges.cell;
        uint64_t whole = at / edges.unit;
        if (whole == length)
            whole--;
        edges.whole[i] = (uint32_t)whole;
        edges.part[i] = at - whole * edges.unit;
    }
    return edges;
}

/* The sums from the plane's corner to each column edge, down to row edge j. */
static void sums_to_edge(const struct plane_sums *sums, const struct cell_edges *x,
                         const struct cell_edges *y, uint32_t j, uint32_t side, uint64_t *out)
{
    size_t pitch = sums->plane.width + 1;
    const uint32_t *upper = sums->sums + y->whole[j] * pitch, *lower = upper + pitch;
    for (uint32_t i = 0; i <= side; i++) {
        uint32_t at = x->whole[i];
        uint64_t right = x->part[i], left = x->unit - right;
        uint64_t above = upper[at] * left + upper[at + 1] * right;
        uint64_t below = lower[at] * left + lower[at + 1] * right;
        out[i] = above * (y->unit - y->part[j]) + below * y->part[j];
    }
}

void plane_sums_average(const struct plane_sums *sums, struct share_box box, uint32_t side,
                        uint32_t scale, uint16_t *out)
{
    struct cell_edges x = edges_between(box.left, box.right, sums->plane.width, side);
    struct cell_edges y = edges_between(box.top, box.bottom, sums->plane.height, side);
    uint64_t buffers[2][PLANE_MAX_CELLS + 1], *above = buffers[0], *below = buffers[1];
    sums_to_edge(sums, &x, &y, 0, side, above);
    for (uint32_t j = 0; j < side; j++) {
        sums_to_edge(sums, &x, &y, j + 1, side, below);
        for (uint32_t i = 0; i < side; i++)
            out[j * side + i] = rounded_share(below[i + 1] - below[i] - above[i + 1] + above[i],
                                              x.cell * y.cell, scale);
        uint64_t *swap = above;
        above = below;
        below = swap;
    }
}
