/* What the blocks of a picture tell of how it came about.
 *
 * Source: Z. Fan and R. de Queiroz, "Identification of Bitmap Compression History" (2003), and J.
 * Lukáš and J. Fridrich, "Estimation of Primary Quantization Matrix in Double Compressed JPEG
 * Images" (2003): what was quantised before lies at the multiples of the step it had then. */
#include "media/images/origin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 256, MOST_MAGNITUDE = 2047, ROUNDING = 1 };

/* ITU-T T.81, table K.1: quality 50 of libjpeg. */
static const uint8_t standard_steps[ORIGIN_CELLS] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

/* The frequencies whose values are counted: there are values enough in most pictures. */
static const uint8_t counted_cells[ORIGIN_COUNTED] = {1, 8, 16, 9, 2, 3, 10, 17, 24};

/* ---- measuring ---- */

void origin_begin(struct origin_meter *meter, uint64_t blocks, const uint16_t *steps)
{
    *meter = (struct origin_meter){.most = UINT32_MAX};
    if (blocks > SAMPLE)
        meter->most = (uint32_t)(((uint64_t)SAMPLE << 32) / blocks);
    for (int i = 0; i < ORIGIN_CELLS; i++)
        meter->steps[i] = steps ? steps[i] : 1;
}

void origin_take(struct origin_meter *meter, const int16_t coefficients[ORIGIN_CELLS])
{
    for (int i = 0; i < ORIGIN_CELLS; i++) {
        uint32_t magnitude = (uint32_t)abs(coefficients[i]) * meter->steps[i];
        magnitude = magnitude < MOST_MAGNITUDE ? magnitude : MOST_MAGNITUDE;
        meter->sums[i] += magnitude > ROUNDING ? magnitude : 0;
    }
    for (int i = 0; i < ORIGIN_COUNTED; i++) {
        unsigned value = (unsigned)abs(coefficients[counted_cells[i]]);
        if (value < ORIGIN_VALUES)
            meter->counts[i][value]++;
    }
    meter->taken++;
}

/* The orthonormal transform that JPEG has. */
static void transform_block(const uint8_t *rows, uint32_t width, int16_t out[ORIGIN_CELLS])
{
    static const float cosines[8][8] = {{.353553391f, .353553391f, .353553391f, .353553391f,
                                         .353553391f, .353553391f, .353553391f, .353553391f},
                                        {.490392640f, .415734806f, .277785117f, .097545161f,
                                         -.097545161f, -.277785117f, -.415734806f, -.490392640f},
                                        {.461939766f, .191341716f, -.191341716f, -.461939766f,
                                         -.461939766f, -.191341716f, .191341716f, .461939766f},
                                        {.415734806f, -.097545161f, -.490392640f, -.277785117f,
                                         .277785117f, .490392640f, .097545161f, -.415734806f},
                                        {.353553391f, -.353553391f, -.353553391f, .353553391f,
                                         .353553391f, -.353553391f, -.353553391f, .353553391f},
                                        {.277785117f, -.490392640f, .097545161f, .415734806f,
                                         -.415734806f, -.097545161f, .490392640f, -.277785117f},
                                        {.191341716f, -.461939766f, .461939766f, -.191341716f,
                                         -.191341716f, .461939766f, -.461939766f, .191341716f},
                                        {.097545161f, -.277785117f, .415734806f, -.490392640f,
                                         .490392640f, -.415734806f, .277785117f, -.097545161f}};
    float across[8][8] = {{0}};
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            for (int u = 0; u < 8; u++)
                across[y][u] += cosines[u][x] * (float)rows[(size_t)y * width + (size_t)x];
    for (int v = 0; v < 8; v++) {
        float sums[8] = {0};
        for (int y = 0; y < 8; y++)
            for (int u = 0; u < 8; u++)
                sums[u] += cosines[v][y] * across[y][u];
        for (int u = 0; u < 8; u++)
            out[8 * v + u] = (int16_t)lrintf(sums[u]);
    }
}

void origin_take_rows(struct origin_meter *meter, const uint8_t *rows, uint32_t width)
{
    int16_t coefficients[ORIGIN_CELLS];
    for (uint32_t x = 0; x + ORIGIN_SIDE <= width; x += ORIGIN_SIDE)
        if (origin_wants(meter)) {
            transform_block(rows + x, width, coefficients);
            origin_take(meter, coefficients);
        }
}

/* ---- quantisation ---- */

/* libjpeg: below quality 50 the steps are those of the table × 50 / quality, else × (2 - quality /
 * 50). */
static uint8_t quality_of_scale(double scale)
{
    double quality = scale <= 1 ? 100 - 50 * scale : 50 / scale;
    return (uint8_t)fmax(1, fmin(100, round(quality)));
}

uint8_t origin_quality(const uint16_t steps[ORIGIN_CELLS])
{
    double sum = 0, standard = 0;
    for (int i = 0; i < ORIGIN_CELLS; i++) {
        sum += steps[i];
        standard += standard_steps[i];
    }
    return quality_of_scale(sum / standard);
}

/* Whether a value of so many steps can come of one that was a multiple of `earlier`: half a step,
 * and what rounding to pixels moves. */
static bool is_reached(int value, int step, int earlier)
{
    int off = value * step % earlier;
    off = off < earlier - off ? off : earlier - off;
    return off <= .5 * step + 1;
}

/* The values of a frequency. */
struct value_counts {
    int step, from, last;
    uint32_t before[ORIGIN_VALUES + 1]; /* how many are less, from `from` on */
};

static struct value_counts count_values(const uint16_t *counts, int step)
{
    struct value_counts out = {.step = step, .from = step < 2 ? 2 : 1};
    for (int value = 1; value < ORIGIN_VALUES; value++) {
        out.before[value + 1] = out.before[value] + (value < out.from ? 0 : counts[value]);
        out.last = counts[value] ? value : out.last;
    }
    return out;
}

/* Whether all but a tenth of the values lie where those of a step `earlier` would. */
static bool is_of_step(const struct value_counts *values, int earlier)
{
    const double most_found = .1;
    double most = most_found * values->before[ORIGIN_VALUES];
    uint32_t outside = 0;
    for (int value = values->from; value <= values->last && outside <= most; value++)
        if (!is_reached(value, values->step, earlier))
            outside += values->before[value + 1] - values->before[value];
    return outside <= most;
}

/* Whether they would do so of themselves: by their mean over about two such steps to both sides. */
static bool is_of_step_by_chance(const struct value_counts *values, int earlier)
{
    const double least_expected = .25;
    int reach = 1 + earlier / values->step, from = values->from;
    double even = 0, outside = 0;
    for (int value = from; value < ORIGIN_VALUES && value <= values->last + reach; value++) {
        int begin = value - reach < from ? from : value - reach;
        int end = value + reach < ORIGIN_VALUES ? value + reach + 1 : ORIGIN_VALUES;
        double near = (values->before[end] - values->before[begin]) / (double)(end - begin);
        even += near;
        outside += is_reached(value, values->step, earlier) ? 0 : near;
    }
    return outside < least_expected * even;
}

enum { LEAST_VALUES = 24, LEAST_FREQUENCIES = 3, MOST_STEP = 60 };

/* The largest step that the values of a frequency show; 0: none. */
static int earlier_step(const uint16_t *counts, int step)
{
    struct value_counts values = count_values(counts, step);
    if (values.before[ORIGIN_VALUES] + (values.from > 1 ? counts[1] : 0) < LEAST_VALUES)
        return 0;
    int most = values.last * step < MOST_STEP ? values.last * step : MOST_STEP;
    for (int earlier = most; earlier > step; earlier--)
        if (is_of_step(&values, earlier) && !is_of_step_by_chance(&values, earlier))
            return earlier;
    return 0;
}

static uint8_t earlier_quality(const struct origin_meter *meter)
{
    double sum = 0, standard = 0;
    int found = 0;
    for (int i = 0; i < ORIGIN_COUNTED; i++) {
        int cell = counted_cells[i], step = earlier_step(meter->counts[i], meter->steps[cell]);
        found += step > 0;
        sum += step;
        standard += step ? standard_steps[cell] : 0;
    }
    return found >= LEAST_FREQUENCIES ? quality_of_scale(sum / standard) : 0;
}

/* ---- results ---- */

void origin_finish(const struct origin_meter *meter, struct doppel_image_origin *out)
{
    double sums[ORIGIN_SIDE] = {0};
    if (!meter->taken)
        return;
    for (int v = 0; v < ORIGIN_SIDE; v++)
        for (int u = 0; u < ORIGIN_SIDE; u++)
            sums[u > v ? u : v] += meter->sums[ORIGIN_SIDE * v + u];
    for (int i = 1; i < ORIGIN_SIDE; i++) {
        double mean = sums[i] / ((2. * i + 1) * meter->taken);
        out->spectrum[i - 1] = (uint8_t)fmin(255, round(16 * log2(1 + 16 * mean)));
    }
    out->earlier_quality = earlier_quality(meter);
}
