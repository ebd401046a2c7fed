/* Pictures scaled as editors scale them, and blurred: separable kernels, rows, then columns. */
#include "filters.h"

#include <math.h>
#include <stdlib.h>

struct kernel {
    double radius, (*weight)(double x);
    double scale; /* samples of the source to one of what is made, at least 1 */
    double step;
};

static double bilinear_weight(double x)
{
    return fmax(0, 1 - fabs(x));
}

/* Keys, a = -.5. */
static double bicubic_weight(double x)
{
    x = fabs(x);
    return x < 1 ? 1 + x * x * (1.5 * x - 2.5) : x < 2 ? 2 + x * (-4 + x * (2.5 - .5 * x)) : 0;
}

static double sinc(double x)
{
    return x == 0 ? 1 : sin(M_PI * x) / (M_PI * x);
}

static double lanczos_weight(double x)
{
    return fabs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static double gaussian_weight(double x)
{
    return exp(-x * x / 2);
}

/* What each sample is made of: `taps` of the source from `first` on. */
struct weights {
    int taps;
    int *first;
    float *values;
};

static struct weights weights_make(const struct kernel *kernel, int count)
{
    double reach = kernel->radius * kernel->scale;
    struct weights weights = {.taps = (int)ceil(2 * reach) + 1};
    weights.first = calloc((size_t)count, sizeof *weights.first);
    weights.values = calloc((size_t)count * (size_t)weights.taps, sizeof *weights.values);
    if (!weights.first || !weights.values)
        abort();
    for (int i = 0; i < count; i++) {
        double centre = (i + .5) * kernel->step - .5, sum = 0;
        float *values = weights.values + (size_t)i * (size_t)weights.taps;
        weights.first[i] = (int)ceil(centre - reach);
        for (int tap = 0; tap < weights.taps; tap++) {
            double off = (weights.first[i] + tap - centre) / kernel->scale;
            values[tap] = fabs(off) <= kernel->radius ? (float)kernel->weight(off) : 0;
            sum += (double)values[tap];
        }
        for (int tap = 0; tap < weights.taps; tap++)
            values[tap] = (float)((double)values[tap] / sum);
    }
    return weights;
}

static void weights_free(struct weights *weights)
{
    free(weights->first);
    free(weights->values);
}

/* A line of three channels; `stride` in pixels. */
static void filter_line(const struct weights *weights, const float *in, int count, size_t stride,
                        float *out, int out_count)
{
    const float *values = weights->values;
    for (int i = 0; i < out_count; i++, out += 3 * stride) {
        float sums[3] = {0};
        for (int tap = 0; tap < weights->taps; tap++) {
            int at = weights->first[i] + tap, from = at < 0 ? 0 : at >= count ? count - 1 : at;
            float weight = *values++;
            for (size_t c = 0; c < 3; c++)
                sums[c] += weight * in[3 * stride * (size_t)from + c];
        }
        for (int c = 0; c < 3; c++)
            out[c] = sums[c];
    }
}

static void filter_both_ways(const struct image *in, const struct kernel kernels[2],
                             struct image *out)
{
    size_t pixels = (size_t)in->width * (size_t)in->height;
    size_t width = (size_t)out->width, height = (size_t)out->height;
    float *source = malloc(pixels * 3 * sizeof *source);
    float *wide = malloc(width * (size_t)in->height * 3 * sizeof *wide);
    float *made = malloc(width * height * 3 * sizeof *made);
    if (!source || !wide || !made)
        abort();
    struct weights across = weights_make(&kernels[0], out->width);
    struct weights down = weights_make(&kernels[1], out->height);
    for (size_t i = 0; i < pixels; i++)
        for (unsigned c = 0; c < 3; c++)
            source[3 * i + c] = (float)(in->pixels[i] >> (8 * c) & 255);
    for (size_t y = 0; y < (size_t)in->height; y++)
        filter_line(&across, source + 3 * y * (size_t)in->width, in->width, 1, wide + 3 * y * width,
                    out->width);
    for (size_t x = 0; x < width; x++)
        filter_line(&down, wide + 3 * x, in->height, width, made + 3 * x, out->height);
    for (size_t i = 0; i < width * height; i++)
        for (unsigned c = 0; c < 3; c++)
            out->pixels[i] |= (uint32_t)lrintf(fminf(255, fmaxf(0, made[3 * i + c]))) << (8 * c);
    weights_free(&across);
    weights_free(&down);
    free(source);
    free(wide);
    free(made);
}

struct image image_filter(const struct image *in, int width, int height, enum filter filter)
{
    static const struct kernel all[FILTERS] = {{.radius = 1, .weight = bilinear_weight},
                                               {.radius = 2, .weight = bicubic_weight},
                                               {.radius = 3, .weight = lanczos_weight}};
    struct image out = image_new(width, height);
    struct kernel kernels[2] = {all[filter], all[filter]};
    kernels[0].step = (double)in->width / width;
    kernels[1].step = (double)in->height / height;
    for (int i = 0; i < 2; i++)
        kernels[i].scale = fmax(1, kernels[i].step);
    filter_both_ways(in, kernels, &out);
    return out;
}

struct image image_blur(const struct image *in, double sigma)
{
    const struct kernel kernel = {
        .radius = 3, .weight = gaussian_weight, .scale = sigma, .step = 1};
    struct image out = image_new(in->width, in->height);
    filter_both_ways(in, (const struct kernel[]){kernel, kernel}, &out);
    return out;
}
