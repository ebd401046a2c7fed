/* Python imagehash's phash(), bit for bit: Pillow's Lanczos reduction to 32×32, a DCT, the 8×8
 * lowest coefficients against their median. */
#include <doppel/image.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/order.h"

enum {
    REDUCED = 32, /* cells each way */
    KEPT = 8,     /* coefficients each way */
    PRECISION_BITS = 32 - 8 - 2
};

/* Which samples a cell is made of, and how much of each in units of 2^-22. */
struct taps {
    uint32_t first[REDUCED], count[REDUCED];
    int32_t *weights; /* `pitch` a cell */
    size_t pitch;
};

static double lanczos(double x)
{
    if (x < -3 || x >= 3)
        return 0;
    if (x == 0)
        return 1;
    double angle = x * M_PI, third = x / 3 * M_PI;
    return sin(angle) / angle * (sin(third) / third);
}

static void fill_cell(struct taps *taps, uint32_t cell, uint32_t length, double *weights)
{
    double scale = (double)length / REDUCED, stretch = scale < 1 ? 1 : scale;
    double support = 3 * stretch, centre = (cell + 0.5) * scale, sum = 0;
    double low = centre - support + 0.5, high = centre + support + 0.5;
    uint32_t first = low > 0 ? (uint32_t)low : 0;
    uint32_t count = (high < length ? (uint32_t)high : length) - first;
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = lanczos((i + (double)first - centre + 0.5) * (1 / stretch));
        sum += weights[i];
    }
    int32_t *out = taps->weights + cell * taps->pitch;
    for (uint32_t i = 0; i < count; i++) {
        double weight = weights[i] * (1 / sum) * (1 << PRECISION_BITS);
        out[i] = (int32_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
    taps->first[cell] = first;
    taps->count[cell] = count;
}

static bool make_taps(uint32_t length, struct taps *out)
{
    double stretch = length > REDUCED ? (double)length / REDUCED : 1;
    struct taps taps = {.pitch = (size_t)ceil(3 * stretch) * 2 + 1};
    taps.weights = malloc(taps.pitch * REDUCED * sizeof *taps.weights);
    double *weights = malloc(taps.pitch * sizeof *weights);
    bool made = taps.weights && weights;
    for (uint32_t cell = 0; made && cell < REDUCED; cell++)
        fill_cell(&taps, cell, length, weights);
    free(weights);
    if (made)
        *out = taps;
    else
        free(taps.weights);
    return made;
}

/* One cell, from `count` samples `step` bytes apart. */
static uint8_t reduce_imagehash_cell(const uint8_t *samples, size_t step, const int32_t *weights,
                                     uint32_t count)
{
    int32_t sum = 1 << (PRECISION_BITS - 1);
    for (uint32_t i = 0; i < count; i++)
        sum += samples[i * step] * weights[i];
    sum >>= PRECISION_BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static void narrow_plane(const struct doppel_plane *plane, const struct taps *taps, uint8_t *out)
{
    for (uint32_t y = 0; y < plane->height; y++, out += REDUCED) {
        const uint8_t *row = plane->data + y * plane->stride;
        for (uint32_t x = 0; x < REDUCED; x++)
            out[x] = plane->width == REDUCED
                         ? row[x]
                         : reduce_imagehash_cell(row + taps->first[x], 1,
                                                 taps->weights + x * taps->pitch, taps->count[x]);
    }
}

static void flatten(const uint8_t *narrowed, uint32_t height, const struct taps *taps,
                    uint8_t out[REDUCED][REDUCED])
{
    for (uint32_t y = 0; y < REDUCED; y++)
        for (uint32_t x = 0; x < REDUCED; x++)
            out[y][x] = height == REDUCED
                            ? narrowed[y * REDUCED + x]
                            : reduce_imagehash_cell(narrowed + (size_t)taps->first[y] * REDUCED + x,
                                                    REDUCED, taps->weights + y * taps->pitch,
                                                    taps->count[y]);
}

/* The first coefficients of a line, folded in half again and again, so that the even and odd parts
 * of what is constant or symmetric are zero and not a rounding error. */
static void transform_line(double line[REDUCED], double out[KEPT])
{
    unsigned length = REDUCED, step = 1; /* odd multiples of step are of odd symmetry here */
    for (; step < KEPT; length /= 2, step *= 2) {
        for (unsigned k = step; k < KEPT; k += 2 * step) {
            out[k] = 0;
            for (unsigned i = 0; i < length / 2; i++)
                out[k] += (line[i] - line[length - 1 - i]) *
                          cos(M_PI * ((2 * i + 1) * k % (4 * REDUCED)) / (2 * REDUCED));
        }
        for (unsigned i = 0; i < length / 2; i++)
            line[i] += line[length - 1 - i];
    }
    out[0] = 0;
    for (unsigned i = 0; i < length; i++)
        out[0] += line[i];
}

/* Along the columns first; row after row of coefficients. */
static void imagehash_dct(uint8_t cells[REDUCED][REDUCED], double out[KEPT * KEPT])
{
    double columns[REDUCED][KEPT], line[REDUCED];
    for (unsigned x = 0; x < REDUCED; x++) {
        for (unsigned y = 0; y < REDUCED; y++)
            line[y] = cells[y][x];
        transform_line(line, columns[x]);
    }
    for (unsigned v = 0; v < KEPT; v++) {
        for (unsigned x = 0; x < REDUCED; x++)
            line[x] = columns[x][v];
        transform_line(line, out + v * KEPT);
    }
}

static double imagehash_median(const double coefficients[KEPT * KEPT])
{
    double sorted[KEPT * KEPT];
    for (unsigned i = 0; i < KEPT * KEPT; i++)
        sorted[i] = coefficients[i];
    qsort(sorted, KEPT * KEPT, sizeof *sorted, compare_double);
    return (sorted[KEPT * KEPT / 2 - 1] + sorted[KEPT * KEPT / 2]) / 2;
}

static struct doppel_code imagehash_signs(uint8_t cells[REDUCED][REDUCED])
{
    double coefficients[KEPT * KEPT];
    imagehash_dct(cells, coefficients);
    double middle = imagehash_median(coefficients);
    struct doppel_code code = {0};
    for (unsigned i = 0; i < KEPT * KEPT; i++)
        if (coefficients[i] > middle)
            code.word[0] |= UINT64_C(1) << (KEPT * KEPT - 1 - i);
    return code;
}

enum doppel_status doppel_image_imagehash(const struct doppel_plane *plane, struct doppel_code *out,
                                          struct doppel_error *error)
{
    struct taps across = {0}, down = {0};
    uint8_t *narrowed = NULL, cells[REDUCED][REDUCED];
    enum doppel_status status = DOPPEL_OK;
    if (plane->width == 0 || plane->height == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a picture of %ux%u samples has no hash",
                           plane->width, plane->height);
    narrowed = malloc((size_t)plane->height * REDUCED);
    if (!narrowed || !make_taps(plane->width, &across) || !make_taps(plane->height, &down)) {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to reduce a picture of %ux%u",
                             plane->width, plane->height);
        goto done;
    }
    narrow_plane(plane, &across, narrowed);
    flatten(narrowed, plane->height, &down, cells);
    *out = imagehash_signs(cells);
done:
    free(narrowed);
    free(across.weights);
    free(down.weights);
    return status;
}
