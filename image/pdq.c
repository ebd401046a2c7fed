/* Facebook's PDQ hash of a luma plane. Single precision, summed in the order of the reference: its
 * codes are then the same codes. */
#include <doppel/image.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    MIN_SIDE = 5,   /* smaller pictures have a code of zeros and no quality */
    MAX_SIDE = 512, /* larger pictures are first sampled to this, each way */
    BLOCKS = 64,
    KEPT = 16,
    PASSES = 2
};

struct pdq_image {
    float *samples, *spare; /* width×height each */
    uint32_t width, height;
};

static enum doppel_status sample_plane(const struct doppel_plane *plane, struct pdq_image *out,
                                       struct doppel_error *error)
{
    bool large = plane->width > MAX_SIDE || plane->height > MAX_SIDE;
    uint32_t width = large ? MAX_SIDE : plane->width, height = large ? MAX_SIDE : plane->height;
    size_t count = (size_t)width * height;
    float *samples = malloc(2 * count * sizeof *samples);
    if (!samples)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to hash a picture of %ux%u", width,
                           height);
    for (uint64_t y = 0; y < height; y++) {
        const uint8_t *row = plane->data + y * plane->height / height * plane->stride;
        for (uint64_t x = 0; x < width; x++) {
            size_t column = x * plane->width / width;
            samples[y * width + x] = row[column];
        }
    }
    *out = (struct pdq_image){samples, samples + count, width, height};
    return DOPPEL_OK;
}

/* ---- a tent filter: two passes of a box ---- */

/* A box of `window` samples about each, cut off at the ends, along `count` lines side by side:
 * `step` from a sample to the next of its line, `apart` from a line to the next. */
struct pdq_lines {
    uint32_t length, count;
    size_t step, apart;
};

/* Average of what the window holds; `sums` has room for `count`. */
static void write_averages(float *out, const float *sums, const struct pdq_lines *lines,
                           uint32_t held)
{
    for (uint32_t i = 0; i < lines->count; i++)
        out[i * lines->apart] = sums[i] / (float)held;
}

static void filter(const float *in, float *out, const struct pdq_lines *lines)
{
    float sums[MAX_SIDE] = {0};
    uint32_t window = (lines->length + 2 * BLOCKS - 1) / (2 * BLOCKS);
    uint32_t ahead = window / 2, held = 0;
    for (uint32_t at = 0; at < lines->length + ahead; at++) {
        if (at < lines->length) {
            for (uint32_t i = 0; i < lines->count; i++)
                sums[i] += in[at * lines->step + i * lines->apart];
            held++;
        }
        if (at >= window) {
            for (uint32_t i = 0; i < lines->count; i++)
                sums[i] -= in[(at - window) * lines->step + i * lines->apart];
            held--;
        }
        if (at >= ahead)
            write_averages(out + (at - ahead) * lines->step, sums, lines, held);
    }
}

static void blur(struct pdq_image *image)
{
    const struct pdq_lines rows = {image->width, 1, 1, image->width};
    const struct pdq_lines columns = {image->height, image->width, image->width, 1};
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (uint32_t y = 0; y < image->height; y++)
            filter(image->samples + (size_t)y * image->width,
                   image->spare + (size_t)y * image->width, &rows);
        filter(image->spare, image->samples, &columns);
    }
}

static void decimate(const struct pdq_image *image, float out[BLOCKS][BLOCKS])
{
    for (uint32_t j = 0; j < BLOCKS; j++) {
        size_t y = (2 * j + 1) * image->height / (2 * BLOCKS);
        for (uint32_t i = 0; i < BLOCKS; i++)
            out[j][i] =
                image->samples[y * image->width + (2 * i + 1) * image->width / (2 * BLOCKS)];
    }
}

/* ---- quality, coefficients, bits ---- */

static int step_percent(float a, float b)
{
    return abs((int)((a - b) * 100 / 255));
}

static uint8_t quality_of_pdq(float blocks[BLOCKS][BLOCKS])
{
    int sum = 0;
    for (unsigned y = 0; y < BLOCKS; y++)
        for (unsigned x = 0; x + 1 < BLOCKS; x++)
            sum += step_percent(blocks[y][x], blocks[y][x + 1]) +
                   step_percent(blocks[x][y], blocks[x + 1][y]);
    return (uint8_t)(sum / 90 > 100 ? 100 : sum / 90);
}

/* Coefficients 1..16 each way. */
static void pdq_dct(float blocks[BLOCKS][BLOCKS], float out[KEPT * KEPT])
{
    static const double pi = 3.14159265358979323846;
    const float scale = (float)sqrt(2.0 / BLOCKS);
    float basis[KEPT][BLOCKS], halfway[BLOCKS];
    for (unsigned k = 0; k < KEPT; k++)
        for (unsigned i = 0; i < BLOCKS; i++)
            basis[k][i] = (float)(scale * cos(pi / 2 / BLOCKS * (k + 1) * (2 * i + 1)));
    for (unsigned v = 0; v < KEPT; v++) {
        for (unsigned x = 0; x < BLOCKS; x++)
            halfway[x] = 0;
        for (unsigned y = 0; y < BLOCKS; y++)
            for (unsigned x = 0; x < BLOCKS; x++)
                halfway[x] += basis[v][y] * blocks[y][x];
        for (unsigned u = 0; u < KEPT; u++) {
            float sum = 0;
            for (unsigned x = 0; x < BLOCKS; x++)
                sum += halfway[x] * basis[u][x];
            out[v * KEPT + u] = sum;
        }
    }
}

static int compare_pdq_values(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

/* Printed from bit 255 down to bit 0, coefficient i being bit i: the first digit is the highest. */
static struct doppel_code pdq_signs(const float coefficients[KEPT * KEPT])
{
    float sorted[KEPT * KEPT];
    for (unsigned i = 0; i < KEPT * KEPT; i++)
        sorted[i] = coefficients[i];
    qsort(sorted, KEPT * KEPT, sizeof *sorted, compare_pdq_values);
    struct doppel_code code = {0};
    for (unsigned i = 0; i < KEPT * KEPT; i++)
        if (coefficients[i] > sorted[KEPT * KEPT / 2 - 1])
            code.word[3 - i / 64] |= UINT64_C(1) << i % 64;
    return code;
}

enum doppel_status doppel_image_pdq(const struct doppel_plane *plane, struct doppel_code *out,
                                    uint8_t *out_quality, struct doppel_error *error)
{
    struct pdq_image image = {0};
    float blocks[BLOCKS][BLOCKS], coefficients[KEPT * KEPT];
    if (plane->width == 0 || plane->height == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a picture of %ux%u samples has no hash",
                           plane->width, plane->height);
    enum doppel_status status = sample_plane(plane, &image, error);
    if (status)
        return status;
    struct doppel_code code = {0};
    uint8_t quality = 0;
    if (image.width >= MIN_SIDE && image.height >= MIN_SIDE) {
        if (image.width != BLOCKS || image.height != BLOCKS)
            blur(&image);
        decimate(&image, blocks);
        pdq_dct(blocks, coefficients);
        code = pdq_signs(coefficients);
        quality = quality_of_pdq(blocks);
    }
    free(image.samples);
    *out = code;
    *out_quality = quality;
    return DOPPEL_OK;
}
