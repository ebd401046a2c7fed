/* A grey plane made row by row, averaged over square cells while the rows come. */
#include <stdlib.h>
#include <string.h>

#include "media/decode.h"
#include "media/images/origin.h"
#include "media/images/pixel_digest.h"
#include "media/images/rgb.h"

/* Cells of 4096² samples of 255 still fit 32 bits. */
enum { MAX_FACTOR = 4096 };

uint32_t rows_factor(const struct doppel_luma_options *options, uint32_t width, uint32_t height)
{
    if (!options->min_side)
        return 1;
    /* Twice the wanted side: what follows averages again, over cells that do not align. */
    uint64_t factor = (width < height ? width : height) / (2 * (uint64_t)options->min_side);
    return factor < 1 ? 1 : factor > MAX_FACTOR ? MAX_FACTOR : (uint32_t)factor;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

enum doppel_status rows_begin(struct rows *rows, const struct doppel_luma_options *options,
                              uint32_t width, uint32_t height, struct doppel_error *error)
{
    uint32_t factor = rows_factor(options, width, height);
    *rows = (struct rows){.full_width = width,
                          .full_height = height,
                          .factor = factor,
                          .width = divide_up(width, factor),
                          .height = divide_up(height, factor)};
    uint64_t bytes = (uint64_t)rows->width * rows->height;
    enum doppel_status status = check_memory(&options->limits, bytes, error);
    if (status != DOPPEL_OK)
        return status;
    rows->pixels = malloc((size_t)bytes);
    rows->luma = malloc(width);
    if (factor > 1)
        rows->sums = calloc(rows->width, sizeof *rows->sums);
    if (!options->from_rgb) {
        rows->strip = malloc((size_t)width * ORIGIN_SIDE);
        rows->meter = malloc(sizeof *rows->meter);
    }
    bool measured = options->from_rgb || (rows->strip && rows->meter);
    if (measured && rows->meter)
        origin_begin(rows->meter, (uint64_t)width * height / ORIGIN_CELLS, NULL);
    if (rows->pixels && rows->luma && (rows->sums || factor == 1) && measured)
        return DOPPEL_OK;
    rows_free(rows);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a picture of %u x %u", width, height);
}

/* The last row and the last cell of a row may be of fewer samples. */
static void write_cells(struct rows *rows, uint32_t count)
{
    uint8_t *out = rows->pixels + (size_t)((rows->taken - 1) / rows->factor) * rows->width;
    uint32_t last = rows->full_width - (rows->width - 1) * rows->factor;
    for (uint32_t x = 0; x < rows->width; x++) {
        uint32_t samples = (x + 1 < rows->width ? rows->factor : last) * count;
        out[x] = (uint8_t)((rows->sums[x] + samples / 2) / samples);
        rows->sums[x] = 0;
    }
}

static void add_row_to_cells(struct rows *rows, const uint8_t *luma)
{
    const uint8_t *end = luma + rows->full_width;
    for (uint32_t x = 0; x + 1 < rows->width; x++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < rows->factor; i++)
            sum += *luma++;
        rows->sums[x] += sum;
    }
    while (luma < end)
        rows->sums[rows->width - 1] += *luma++;
}

static void measure_row(struct rows *rows, const uint8_t *luma)
{
    uint32_t row = rows->taken % ORIGIN_SIDE;
    memcpy(rows->strip + (size_t)row * rows->full_width, luma, rows->full_width);
    if (row == ORIGIN_SIDE - 1)
        origin_take_rows(rows->meter, rows->strip, rows->full_width);
}

void rows_take(struct rows *rows, const uint8_t *luma)
{
    if (rows->taken == rows->full_height)
        return;
    if (rows->meter)
        measure_row(rows, luma);
    if (rows->factor == 1) {
        memcpy(rows->pixels + (size_t)rows->taken++ * rows->width, luma, rows->width);
        return;
    }
    add_row_to_cells(rows, luma);
    rows->taken++;
    if (rows->taken % rows->factor == 0)
        write_cells(rows, rows->factor);
}

enum doppel_status rows_want_digest(struct rows *rows, struct doppel_error *error)
{
    rows->digest = pixel_digest_new(rows->full_width, rows->full_height);
    return rows->digest ? DOPPEL_OK
                        : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the picture");
}

void rows_drop_digest(struct rows *rows)
{
    pixel_digest_free(rows->digest);
    rows->digest = NULL;
}

void rows_take_samples(struct rows *rows, const uint8_t *samples, unsigned channels,
                       bool ignore_alpha)
{
    if (rows->digest && rows->taken < rows->full_height)
        pixel_digest_take(rows->digest, samples, channels, ignore_alpha);
    luma_row(samples, rows->full_width, channels, ignore_alpha, rows->luma);
    rows_take(rows, rows->luma);
}

enum doppel_status rows_finish(struct rows *rows, const char *format_name, struct image *out,
                               struct doppel_error *error)
{
    enum doppel_status status = check_rows(format_name, rows->taken, rows->full_height, error);
    if (status == DOPPEL_OK) {
        if (rows->taken % rows->factor)
            write_cells(rows, rows->taken % rows->factor);
        *out = (struct image){.pixels = rows->pixels,
                              .width = rows->width,
                              .height = divide_up(rows->taken, rows->factor),
                              .full_width = rows->full_width,
                              .full_height = rows->full_height,
                              .there = rows->taken};
        if (rows->digest && rows->taken == rows->full_height)
            out->digest = pixel_digest_get(rows->digest);
        if (rows->meter)
            origin_finish(rows->meter, &out->origin);
        rows->pixels = NULL;
    }
    rows_free(rows);
    return status;
}

void rows_free(struct rows *rows)
{
    free(rows->pixels);
    free(rows->sums);
    free(rows->luma);
    free(rows->strip);
    free(rows->meter);
    pixel_digest_free(rows->digest);
    *rows = (struct rows){0};
}
