/* A scanned page to its ink: paper levelled, turned upright, summed up in cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/image.h>

#include "core/try.h"
#include "image/page.h"

/* Paper is measured in squares of so many pixels. */
enum { PAPER = 32 };

/* Less ink than this of 255 is noise; with less contrast than this a page is blank. */
enum { FAINT = 40, LEAST_CONTRAST = 48 };

/* A page is askew by so many steps at most, of STEPS to a degree; it is looked for in columns of
 * so many pixels. */
enum { MOST_STEPS = 30, STEPS = 10, STRIP = 8 };

/* A cell with less than so much of 255 is empty; a page with fewer cells that are not is, too. */
enum { LEAST_INK = 16, LEAST_CELLS = 60 };

struct page_ink {
    uint8_t *pixels; /* width × height; 255: ink */
    uint32_t width, height;
};

/* ---- paper ---- */

static uint8_t level_above(const uint32_t histogram[256], uint32_t total, uint32_t permille)
{
    uint64_t seen = 0, wanted = (uint64_t)total * permille / 1000;
    for (unsigned level = 0; level < 256; level++)
        if ((seen += histogram[level]) > wanted)
            return (uint8_t)level;
    return 255;
}

static void count_levels(const struct doppel_plane *plane, const uint32_t box[4],
                         uint32_t histogram[256])
{
    memset(histogram, 0, 256 * sizeof *histogram);
    for (uint32_t y = box[1]; y < box[3]; y++)
        for (uint32_t x = box[0]; x < box[2]; x++)
            histogram[plane->data[y * plane->stride + x]]++;
}

/* How light the paper is in each square: what is dark as a whole is a picture, not paper. */
static void measure_paper(const struct doppel_plane *plane, uint8_t least, uint8_t *paper,
                          uint32_t across)
{
    uint32_t histogram[256];
    for (uint32_t y = 0, row = 0; y < plane->height; y += PAPER, row++)
        for (uint32_t x = 0, column = 0; x < plane->width; x += PAPER, column++) {
            uint32_t right = x + PAPER < plane->width ? x + PAPER : plane->width;
            uint32_t bottom = y + PAPER < plane->height ? y + PAPER : plane->height;
            const uint32_t box[4] = {x, y, right, bottom};
            count_levels(plane, box, histogram);
            uint8_t light = level_above(histogram, (right - x) * (bottom - y), 850);
            paper[row * across + column] = light > least ? light : least;
        }
}

/* @return false where there is no ink. */
static bool level_ink(const struct doppel_plane *plane, uint8_t *paper, uint8_t *out)
{
    uint32_t histogram[256], across = (plane->width + PAPER - 1) / PAPER;
    const uint32_t all[4] = {0, 0, plane->width, plane->height};
    count_levels(plane, all, histogram);
    uint8_t light = level_above(histogram, plane->width * plane->height, 800);
    uint8_t dark = level_above(histogram, plane->width * plane->height, 2);
    if (light < dark + LEAST_CONTRAST)
        return false;
    measure_paper(plane, (uint8_t)(light - (light - dark) / 2), paper, across);
    for (uint32_t y = 0; y < plane->height; y++)
        for (uint32_t x = 0; x < plane->width; x++) {
            int ground = paper[y / PAPER * across + x / PAPER];
            int ink = (ground - plane->data[y * plane->stride + x]) * 255 / (light - dark) - FAINT;
            out[y * plane->width + x] = (uint8_t)(ink < 0 ? 0 : ink > 255 - FAINT ? 255 : ink);
        }
    return true;
}

/* ---- upright ---- */

/* How much the rows of ink differ from each other when they are sheared by this slope. */
static double sharpness_of_rows(const uint32_t *strips, uint32_t across, uint32_t height,
                                double slope, uint32_t *rows)
{
    double sum = 0;
    memset(rows, 0, height * sizeof *rows);
    for (uint32_t column = 0; column < across; column++) {
        long shift = lround(slope * STRIP * ((double)column - across / 2.0));
        for (uint32_t y = 0; y < height; y++) {
            long at = (long)y - shift;
            if (at >= 0 && at < (long)height)
                rows[at] += strips[(size_t)column * height + y];
        }
    }
    for (uint32_t y = 1; y < height; y++) {
        double step = (double)rows[y] - (double)rows[y - 1];
        sum += step * step;
    }
    return sum;
}

/* The slope of its lines; 0 where none is better. DOPPEL_E_MEMORY */
static enum doppel_status find_slope(const struct page_ink *ink, double *out,
                                     struct doppel_error *error)
{
    uint32_t across = (ink->width + STRIP - 1) / STRIP;
    uint32_t *strips = calloc((size_t)across * ink->height, sizeof *strips);
    uint32_t *rows = malloc(ink->height * sizeof *rows);
    double best = -1;
    enum doppel_status status = DOPPEL_OK;
    if (!strips || !rows)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page"));
    for (uint32_t y = 0; y < ink->height; y++)
        for (uint32_t x = 0; x < ink->width; x++)
            strips[(size_t)(x / STRIP) * ink->height + y] += ink->pixels[y * ink->width + x];
    for (int i = 0; i <= 2 * MOST_STEPS; i++) { /* 0, 1, -1, 2, … */
        int step = i % 2 ? (i + 1) / 2 : -i / 2;
        double slope = tan(step * M_PI / 180 / STEPS);
        double sharpness = sharpness_of_rows(strips, across, ink->height, slope, rows);
        if (sharpness > best) {
            best = sharpness;
            *out = slope;
        }
    }
done:
    free(strips);
    free(rows);
    return status;
}

/* ---- cells ---- */

/* The ink of each cell, of an upright page: each pixel is shared out among four. */
static void sum_cells(const struct page_ink *ink, double slope, const struct doppel_page *page,
                      float *sums)
{
    double cosine = 1 / sqrt(1 + slope * slope), sine = slope * cosine;
    double side = ink->width > ink->height ? ink->width : ink->height;
    double across = DOPPEL_PAGE_COLUMNS / side, down = DOPPEL_PAGE_ROWS / side;
    double middle_x = ink->width / 2.0, middle_y = ink->height / 2.0;
    for (uint32_t y = 0; y < ink->height; y++)
        for (uint32_t x = 0; x < ink->width; x++) {
            uint8_t amount = ink->pixels[y * ink->width + x];
            if (!amount)
                continue;
            double dx = x + 0.5 - middle_x, dy = y + 0.5 - middle_y;
            double column = (middle_x + dx * cosine + dy * sine) * across - 0.5;
            double row = (middle_y + dy * cosine - dx * sine) * down - 0.5;
            if (column < 0 || row < 0 || column >= page->columns - 1 || row >= page->rows - 1)
                continue;
            size_t left = (size_t)column, top = (size_t)row;
            float right_share = (float)(column - (double)left), low = (float)(row - (double)top);
            float *at = sums + top * page->columns + left;
            at[0] += (float)amount * (1 - right_share) * (1 - low);
            at[1] += (float)amount * right_share * (1 - low);
            at[page->columns] += (float)amount * (1 - right_share) * low;
            at[page->columns + 1] += (float)amount * right_share * low;
        }
}

static int compare_floats(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/* What a cell full of letters holds: 0: hardly a cell has ink. */
static float usual_ink(const float *sums, size_t count, float least, float *room)
{
    size_t inked = 0;
    for (size_t i = 0; i < count; i++)
        if (sums[i] > least)
            room[inked++] = sums[i];
    if (inked < LEAST_CELLS)
        return 0;
    qsort(room, inked, sizeof *room, compare_floats);
    return room[inked * 8 / 10];
}

static void quantise(const float *sums, float usual, size_t count, uint8_t *cells)
{
    static const float steps[] = {0.18f, 0.5f, 0.9f};
    for (size_t i = 0; i < count; i++)
        for (size_t step = 0; step < 3; step++)
            cells[i] = (uint8_t)(cells[i] + (sums[i] > steps[step] * usual));
}

/* ---- how the ink is spread ---- */

/* The first and the last of lines that hold all but a hundredth of the ink at either end. */
static void bound_ink(const uint32_t *lines, uint32_t count, uint32_t out[2])
{
    uint64_t total = 0, seen = 0;
    for (uint32_t i = 0; i < count; i++)
        total += lines[i];
    out[0] = 0;
    out[1] = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t before = seen;
        seen += lines[i];
        if (before * 100 <= total && seen * 100 > total)
            out[0] = i;
        if (before * 100 <= total * 99 && seen * 100 > total * 99)
            out[1] = i + 1;
    }
}

/* Scans have other margins: what counts is the part with ink. */
static enum doppel_status code_of_cells(const uint8_t *cells, struct doppel_page *page,
                                        struct doppel_error *error)
{
    uint32_t columns[DOPPEL_PAGE_COLUMNS] = {0}, rows[DOPPEL_PAGE_ROWS] = {0}, across[2], down[2];
    for (uint32_t y = 0; y < page->rows; y++)
        for (uint32_t x = 0; x < page->columns; x++) {
            columns[x] += cells[y * page->columns + x];
            rows[y] += cells[y * page->columns + x];
        }
    bound_ink(columns, page->columns, across);
    bound_ink(rows, page->rows, down);
    const uint32_t width = across[1] - across[0], height = down[1] - down[0];
    uint8_t *pixels = malloc((size_t)width * height);
    if (!pixels)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page");
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            pixels[y * width + x] =
                (uint8_t)(cells[(y + down[0]) * page->columns + x + across[0]] * 85);
    const struct doppel_plane plane = {pixels, width, height, width};
    page->code = doppel_image_phash(&plane);
    free(pixels);
    return DOPPEL_OK;
}

/* ---- all of it ---- */

static bool can_be_told(const uint8_t *cells, const struct doppel_page *page,
                        struct doppel_page_relief *relief)
{
    page_relief_fill(cells, page->columns, page->rows, relief);
    return page_relief_blocks(relief) >= PAGE_LEAST_BLOCKS;
}

static enum doppel_status pack_page(const uint8_t *cells, struct doppel_page *page,
                                    struct doppel_error *error)
{
    const size_t count = (size_t)page->columns * page->rows;
    uint8_t *packed = malloc(page_packed_most(count));
    if (!packed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page");
    page->ink_size = page_pack(cells, count, packed);
    uint8_t *fitting = realloc(packed, page->ink_size);
    page->ink = fitting ? fitting : packed;
    return DOPPEL_OK;
}

static enum doppel_status fill_with_ink(const struct page_ink *ink, struct doppel_page *page,
                                        struct doppel_error *error)
{
    const size_t count = (size_t)page->columns * page->rows;
    float *sums = calloc(2 * count, sizeof *sums);
    uint8_t *cells = calloc(count, 1);
    struct doppel_page_relief *relief = malloc(sizeof *relief);
    double slope = 0, pixels = (double)ink->width * ink->height / (double)count;
    enum doppel_status status = DOPPEL_OK;
    if (!sums || !cells || !relief)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page"));
    TRY(find_slope(ink, &slope, error));
    sum_cells(ink, slope, page, sums);
    float usual = usual_ink(sums, count, (float)(pixels * LEAST_INK), sums + count);
    if (usual > 0)
        quantise(sums, usual, count, cells);
    if (usual > 0 && can_be_told(cells, page, relief)) {
        TRY(code_of_cells(cells, page, error));
        TRY(pack_page(cells, page, error));
    }
done:
    free(sums);
    free(cells);
    free(relief);
    return status;
}

enum doppel_status doppel_page_make(const struct doppel_plane *plane, struct doppel_page *out,
                                    struct doppel_error *error)
{
    const uint32_t side = plane->width > plane->height ? plane->width : plane->height;
    struct doppel_page page = {
        .columns = (uint16_t)(((uint64_t)plane->width * DOPPEL_PAGE_COLUMNS + side - 1) / side),
        .rows = (uint16_t)(((uint64_t)plane->height * DOPPEL_PAGE_ROWS + side - 1) / side)};
    struct page_ink ink = {malloc((size_t)plane->width * plane->height), plane->width,
                           plane->height};
    uint8_t *paper = malloc((size_t)(plane->width / PAPER + 1) * (plane->height / PAPER + 1));
    enum doppel_status status = DOPPEL_OK;
    if (!ink.pixels || !paper)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page"));
    if (level_ink(plane, paper, ink.pixels))
        TRY(fill_with_ink(&ink, &page, error));
    *out = page;
done:
    free(ink.pixels);
    free(paper);
    return status;
}
