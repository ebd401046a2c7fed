/* The scales of a picture: reduced by area averages, blurred by binomials. */
#include "local/scales.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_PADDING = 8 };

/* How long a side of the first octave is. */
static uint32_t reduced_side(uint32_t length, uint32_t longer, uint32_t side)
{
    const uint32_t reduced = (uint32_t)(((uint64_t)length * side + longer / 2) / longer);
    return longer <= side ? length : reduced ? reduced : 1;
}

/* ---- reducing ---- */

/* One cell of a row of cells: from `first` on so many samples, the first and the last of which
 * count in part; all weights are 4096 together. */
struct area_cell {
    uint32_t first, count;
    uint32_t head, middle, tail;
};

static struct area_cell area_cell_of(uint32_t cell, uint32_t cells, uint32_t samples)
{
    uint64_t from = (uint64_t)cell * samples * 256 / cells;
    uint64_t to = (uint64_t)(cell + 1) * samples * 256 / cells;
    uint32_t first = (uint32_t)(from / 256), last = (uint32_t)((to - 1) / 256);
    uint32_t span = (uint32_t)(to - from);
    struct area_cell out = {.first = first, .count = last - first + 1, .middle = 256 * 4096 / span};
    if (first == last) {
        out.head = 4096;
        return out;
    }
    out.tail = (uint32_t)(to - (uint64_t)last * 256) * 4096 / span;
    out.head = 4096 - out.tail - out.middle * (out.count - 2);
    return out;
}

static void add_area_row(uint32_t *sums, const uint8_t *row, uint32_t width, uint32_t weight)
{
    for (uint32_t x = 0; x < width; x++)
        sums[x] += row[x] * weight;
}

static void average_rows(const struct doppel_plane *plane, struct area_cell cell, uint32_t *sums)
{
    memset(sums, 0, plane->width * sizeof *sums);
    for (uint32_t i = 0; i < cell.count; i++)
        add_area_row(sums, plane->data + (cell.first + i) * plane->stride, plane->width,
                     i == 0                ? cell.head
                     : i + 1 == cell.count ? cell.tail
                                           : cell.middle);
    for (uint32_t x = 0; x < plane->width; x++)
        sums[x] = (sums[x] + 128) / 256; /* SCALES_UNIT a level */
}

static uint16_t average_samples(const uint32_t *samples, struct area_cell cell)
{
    uint64_t sum = (uint64_t)samples[cell.first] * cell.head;
    for (uint32_t i = 1; i + 1 < cell.count; i++)
        sum += (uint64_t)samples[cell.first + i] * cell.middle;
    if (cell.count > 1)
        sum += (uint64_t)samples[cell.first + cell.count - 1] * cell.tail;
    return (uint16_t)((sum + 2048) / 4096);
}

static bool reduce_plane(const struct doppel_plane *plane, uint32_t width, uint32_t height,
                         uint16_t *out)
{
    uint32_t *sums = malloc(plane->width * sizeof *sums);
    struct area_cell *cells = malloc(width * sizeof *cells);
    bool done = sums && cells;
    for (uint32_t x = 0; done && x < width; x++)
        cells[x] = area_cell_of(x, width, plane->width);
    for (uint32_t y = 0; done && y < height; y++) {
        average_rows(plane, area_cell_of(y, height, plane->height), sums);
        for (uint32_t x = 0; x < width; x++)
            out[(size_t)y * width + x] = average_samples(sums, cells[x]);
    }
    free(sums);
    free(cells);
    return done;
}

/* ---- blurring ---- */

/* 1 4 6 4 1, the samples `step` apart: a variance of step². All sums stay below 2^16. */
static inline uint16_t binomial(uint16_t a, uint16_t b, uint16_t c, uint16_t d, uint16_t e)
{
    return (uint16_t)((uint16_t)(a + e + 4 * (b + d) + 6 * c + 8) >> 4);
}

static void blur_row(const uint16_t *padded, uint32_t width, uint32_t step, uint16_t *out)
{
    const uint16_t *a = padded, *b = a + step, *c = b + step, *d = c + step, *e = d + step;
    for (uint32_t x = 0; x < width; x++)
        out[x] = binomial(a[x], b[x], c[x], d[x], e[x]);
}

static void pad_row(const uint16_t *row, uint32_t width, uint32_t padding, uint16_t *out)
{
    for (uint32_t i = 0; i < padding; i++) {
        out[i] = row[0];
        out[padding + width + i] = row[width - 1];
    }
    memcpy(out + padding, row, width * sizeof *row);
}

struct blur {
    uint32_t width, height;
    uint16_t *across, *padded; /* a plane, and a row with 2 × ROW_PADDING more */
};

static const uint16_t *row_near(const struct blur *blur, int64_t y)
{
    int64_t last = (int64_t)blur->height - 1;
    return blur->across + (size_t)(y < 0 ? 0 : y > last ? last : y) * blur->width;
}

static void blur_plane(const struct blur *blur, const uint16_t *in, uint32_t step, uint16_t *out)
{
    const uint32_t width = blur->width;
    for (uint32_t y = 0; y < blur->height; y++) {
        pad_row(in + (size_t)y * width, width, 2 * step, blur->padded);
        blur_row(blur->padded, width, step, blur->across + (size_t)y * width);
    }
    for (int64_t y = 0; y < (int64_t)blur->height; y++) {
        const uint16_t *a = row_near(blur, y - 2 * (int64_t)step), *b = row_near(blur, y - step);
        const uint16_t *c = row_near(blur, y), *d = row_near(blur, y + step);
        const uint16_t *e = row_near(blur, y + 2 * (int64_t)step);
        uint16_t *row = out + (size_t)y * width;
        for (uint32_t x = 0; x < width; x++)
            row[x] = binomial(a[x], b[x], c[x], d[x], e[x]);
    }
}

static void subtract(const uint16_t *more, const uint16_t *less, size_t count, int16_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int16_t)(more[i] - less[i]);
}

/* From the level before it: so many blurs of such a step. */
static const struct {
    uint32_t step, times;
} blurs[SCALES_LEVELS] = {{1, 1}, {1, 1}, {1, 2}, {2, 1}, {2, 2}, {4, 1}};

static void fill_octave(const struct blur *blur, struct scale_octave *octave, uint32_t first)
{
    const size_t count = (size_t)octave->width * octave->height;
    for (uint32_t i = first; i < SCALES_LEVELS; i++) {
        const uint16_t *in = octave->levels[i ? i - 1 : 0];
        for (uint32_t time = 0; time < blurs[i].times; time++, in = octave->levels[i])
            blur_plane(blur, in, blurs[i].step, octave->levels[i]);
    }
    for (uint32_t i = first ? first - 1 : 0; i + 1 < SCALES_LEVELS; i++)
        subtract(octave->levels[i + 1], octave->levels[i], count, octave->differences[i]);
}

/* Every other sample of the level of variance 8, which becomes that of variance 2. */
static void halve_octave(const struct scale_octave *octave, struct scale_octave *half)
{
    for (uint32_t y = 0; y < half->height; y++) {
        const uint16_t *row = octave->levels[3] + (size_t)2 * y * octave->width;
        uint16_t *out = half->levels[1] + (size_t)y * half->width;
        for (uint32_t x = 0; x < half->width; x++)
            out[x] = row[2 * x];
    }
}

/* ---- memory ---- */

static size_t octave_samples(const struct scale_octave *octave)
{
    return ((size_t)octave->width * octave->height + 31) & ~(size_t)31;
}

static void *place_octave(struct scale_octave *octave, uint16_t *at)
{
    for (uint32_t i = 0; i < SCALES_LEVELS; i++, at += octave_samples(octave))
        octave->levels[i] = at;
    for (uint32_t i = 0; i + 1 < SCALES_LEVELS; i++, at += octave_samples(octave))
        octave->differences[i] = (int16_t *)at;
    return at;
}

static bool lay_out(struct scales *scales, uint32_t width, uint32_t height)
{
    size_t samples = 0;
    double step = 1;
    for (; scales->count < SCALES_OCTAVES && (width < height ? width : height) >= SCALES_LEAST_SIDE;
         width = (width + 1) / 2, height = (height + 1) / 2, step *= 2) {
        struct scale_octave *octave = &scales->octaves[scales->count++];
        *octave = (struct scale_octave){.width = width, .height = height, .step = step};
        samples += (2 * SCALES_LEVELS - 1) * octave_samples(octave);
    }
    uint16_t *at = scales->memory = malloc((samples + 1) * sizeof *at);
    for (uint32_t i = 0; at && i < scales->count; i++)
        at = place_octave(&scales->octaves[i], at);
    return at;
}

enum doppel_status scales_make(const struct doppel_plane *plane, uint32_t side, struct scales *out,
                               struct doppel_error *error)
{
    struct scales scales = {0};
    const uint32_t longer = plane->width > plane->height ? plane->width : plane->height;
    const uint32_t width = reduced_side(plane->width, longer, side);
    const uint32_t height = reduced_side(plane->height, longer, side);
    struct blur blur = {.across = malloc((size_t)width * height * sizeof *blur.across),
                        .padded = malloc((width + 2 * ROW_PADDING) * sizeof *blur.padded)};
    bool done = blur.across && blur.padded && lay_out(&scales, width, height);
    if (done && scales.count)
        done = reduce_plane(plane, width, height, scales.octaves[0].levels[0]);
    for (uint32_t i = 0; done && i < scales.count; i++) {
        struct scale_octave *octave = &scales.octaves[i];
        blur.width = octave->width;
        blur.height = octave->height;
        if (i)
            halve_octave(octave - 1, octave);
        fill_octave(&blur, octave, i ? 2 : 0);
    }
    free(blur.across);
    free(blur.padded);
    if (!done) {
        scales_free(&scales);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the scales of a picture");
    }
    *out = scales;
    return DOPPEL_OK;
}

void scales_free(struct scales *scales)
{
    free(scales->memory);
    *scales = (struct scales){0};
}
