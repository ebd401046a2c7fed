/* Mono audio in memory: parts, sums, filters, resampling. */
#include "audio.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <fftw3.h>

struct recording audio_new(size_t count)
{
    struct recording recording = {calloc(count ? count : 1, sizeof *recording.data), count};
    if (!recording.data)
        abort();
    return recording;
}

void audio_free(struct recording *recording)
{
    free(recording->data);
    *recording = (struct recording){0};
}

struct recording audio_part(const struct recording *recording, double start, double seconds)
{
    struct recording part = audio_new((size_t)lround(seconds * AUDIO_RATE));
    long first = lround(start * AUDIO_RATE);
    for (size_t i = 0; i < part.count; i++) {
        long at = first + (long)i;
        if (at >= 0 && (size_t)at < recording->count)
            part.data[i] = recording->data[at];
    }
    return part;
}

double audio_power(const struct recording *recording)
{
    double sum = 0;
    for (size_t i = 0; i < recording->count; i++)
        sum += (double)recording->data[i] * (double)recording->data[i];
    return recording->count ? sum / (double)recording->count : 0;
}

void audio_add(struct recording *recording, const struct recording *noise, double decibels)
{
    double loud = audio_power(recording), noisy = audio_power(noise);
    if (noisy <= 0)
        return;
    float gain = (float)(sqrt(loud / noisy) * pow(10, -decibels / 20));
    for (size_t i = 0; i < recording->count && i < noise->count; i++)
        recording->data[i] += gain * noise->data[i];
}

/* ---- resampling ---- */

enum { SINC_ZEROS = 16, SINC_STEPS = 512, SINC_SIZE = SINC_ZEROS * SINC_STEPS };

/** One side of a windowed (Hann) sinc, SINC_STEPS values from zero to zero. */
static void sinc_table(float *table)
{
    for (int i = 0; i <= SINC_SIZE + 1; i++) {
        double x = (double)i / SINC_STEPS, window = .5 + .5 * cos(M_PI * x / SINC_ZEROS);
        table[i] = (float)(i == 0 ? 1 : i >= SINC_SIZE ? 0 : window * sin(M_PI * x) / (M_PI * x));
    }
}

static double sinc(const float *table, double x)
{
    double at = fmin(fabs(x) * SINC_STEPS, SINC_SIZE);
    int whole = (int)at;
    double part = at - whole;
    return (1 - part) * (double)table[whole] + part * (double)table[whole + 1];
}

struct recording audio_resample(const struct recording *in, double ratio)
{
    struct recording out = audio_new((size_t)((double)in->count * ratio));
    float table[SINC_SIZE + 2];
    sinc_table(table);
    double cutoff = fmin(1, ratio) * .97;
    long reach = (long)ceil(SINC_ZEROS / cutoff);
    for (size_t i = 0; i < out.count; i++) {
        double at = (double)i / ratio, sum = 0;
        long middle = (long)floor(at);
        for (long k = middle - reach; k <= middle + reach; k++)
            if (k >= 0 && (size_t)k < in->count)
                sum += (double)in->data[k] * sinc(table, (at - (double)k) * cutoff);
        out.data[i] = (float)(sum * cutoff);
    }
    return out;
}

/* ---- filters ---- */

/** A Butterworth biquad; source: Bristow-Johnson, "Audio EQ Cookbook". */
static void biquad(struct recording *recording, double rate, double frequency, bool high_pass)
{
    double w = 2 * M_PI * frequency / rate, alpha = sin(w) * M_SQRT1_2, c = cos(w);
    double edge = high_pass ? (1 + c) / 2 : (1 - c) / 2, a0 = 1 + alpha;
    double b0 = edge / a0, b1 = (high_pass ? -2 : 2) * edge / a0, a1 = -2 * c / a0,
           a2 = (1 - alpha) / a0;
    double s1 = 0, s2 = 0;
    for (size_t i = 0; i < recording->count; i++) {
        double x = (double)recording->data[i], y = b0 * x + s1;
        s1 = b1 * x - a1 * y + s2;
        s2 = b0 * x - a2 * y;
        recording->data[i] = (float)y;
    }
}

void audio_band(struct recording *recording, double rate, double low, double high)
{
    biquad(recording, rate, low, true);
    if (high < .49 * rate)
        biquad(recording, rate, high, false);
}

void audio_convolve(struct recording *recording, const struct recording *response)
{
    size_t size = 1;
    while (size < recording->count + response->count)
        size *= 2;
    size_t bins = size / 2 + 1;
    float *a = fftwf_alloc_real(size), *b = fftwf_alloc_real(size);
    fftwf_complex *fa = fftwf_alloc_complex(bins), *fb = fftwf_alloc_complex(bins);
    fftwf_plan forth = fftwf_plan_dft_r2c_1d((int)size, a, fa, FFTW_ESTIMATE);
    fftwf_plan back = fftwf_plan_dft_c2r_1d((int)size, fa, a, FFTW_ESTIMATE);
    memset(a, 0, size * sizeof *a);
    memset(b, 0, size * sizeof *b);
    memcpy(a, recording->data, recording->count * sizeof *a);
    memcpy(b, response->data, response->count * sizeof *b);
    fftwf_execute(forth);
    fftwf_execute_dft_r2c(forth, b, fb);
    for (size_t i = 0; i < bins; i++) {
        float re = fa[i][0] * fb[i][0] - fa[i][1] * fb[i][1];
        fa[i][1] = fa[i][0] * fb[i][1] + fa[i][1] * fb[i][0];
        fa[i][0] = re;
    }
    fftwf_execute(back);
    for (size_t i = 0; i < recording->count; i++)
        recording->data[i] = a[i] / (float)size;
    fftwf_destroy_plan(forth);
    fftwf_destroy_plan(back);
    fftwf_free(a);
    fftwf_free(b);
    fftwf_free(fa);
    fftwf_free(fb);
}
