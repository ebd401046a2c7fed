/* The filter is that of libswresample by its defaults for such a rate: a sinc of 32 zero crossings
 * at 97 % of the lower rate's half, under a Kaiser window of beta 9; the samples before the first
 * and behind the last are mirrored. Its sums differ by their order alone, which here is the same
 * on every processor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "media/audio/decimate.h"
#include "media/audio/kernels.h"

enum { CROSSINGS = 32 };

static const double CUTOFF = .97, KAISER_BETA = 9;

struct audio_decimator {
    const struct sample_kernels *kernels;
    struct decimate_work work;
    float *taps, *lanes, *sums;
    float *held;      /* from the first tap of the next output on */
    size_t count;     /* samples held */
    size_t tap_count; /* `centre` of them are before the sample that an output stands for */
    size_t centre;
    bool begun; /* what is before the first sample is mirrored */
};

/* ---- the filter ---- */

/* The modified Bessel function of the first kind, order 0, by its power series. */
static double bessel_i0(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; term > sum * 1e-18; k++) {
        term *= x / (2 * k) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

static double tap_at(const struct audio_decimator *decimator, size_t index)
{
    double from_centre = (double)index - (double)decimator->centre;
    double at_window = 2 * from_centre / (double)decimator->tap_count;
    double inside = 1 - at_window * at_window;
    double angle = acos(-1) * from_centre * CUTOFF / (double)decimator->work.step;
    return (angle == 0 ? 1 : sin(angle) / angle) *
           bessel_i0(KAISER_BETA * sqrt(inside > 0 ? inside : 0));
}

static void fill_taps(struct audio_decimator *decimator)
{
    const struct decimate_work *work = &decimator->work;
    double sum = 0;
    for (size_t i = 0; i < decimator->tap_count; i++)
        sum += tap_at(decimator, i);
    for (size_t i = 0; i < decimator->tap_count; i++)
        decimator->taps[i % work->step * work->rows + i / work->step] =
            (float)(tap_at(decimator, i) / sum);
}

/* Zeros, a row for all lanes: 64 bytes, where vectors begin. */
static float *make_lane_rows(size_t rows)
{
    enum { BYTES = DECIMATE_LANES * sizeof(float) };
    float *made = aligned_alloc(BYTES, rows * BYTES);
    return made ? memset(made, 0, rows * BYTES) : NULL;
}

/* Rows of the taps are filled up with zeros, under which samples that are not there may lie, as
 * they may in lanes and steps too many. */
static bool allocate_decimator(struct audio_decimator *decimator)
{
    struct decimate_work *work = &decimator->work;
    size_t padded = work->rows * work->step;
    size_t outputs = DECIMATE_BLOCK / work->step + work->rows + 1;
    size_t steps = outputs / DECIMATE_LANES + 1 + DECIMATE_MOST_STEPS;
    size_t held = 2 * padded + DECIMATE_BLOCK;
    size_t beyond = (DECIMATE_LANES + DECIMATE_MOST_STEPS) * work->step;
    decimator->taps = calloc(padded, sizeof *decimator->taps);
    decimator->held = calloc(held + beyond, sizeof *decimator->held);
    decimator->lanes = make_lane_rows(steps * work->step + padded);
    decimator->sums = make_lane_rows(steps);
    work->taps = decimator->taps;
    work->lanes = decimator->lanes;
    return decimator->taps && decimator->held && decimator->lanes && decimator->sums;
}

struct audio_decimator *audio_decimator_new(size_t step)
{
    struct audio_decimator *decimator = calloc(1, sizeof *decimator);
    if (!decimator)
        return NULL;
    decimator->kernels = sample_kernels_choose();
    decimator->tap_count = (size_t)ceil(CROSSINGS * (double)step / CUTOFF);
    decimator->tap_count += decimator->tap_count % 2;
    decimator->centre = (decimator->tap_count - 1) / 2;
    decimator->count = decimator->centre;
    decimator->work.step = step;
    decimator->work.rows = (decimator->tap_count + step - 1) / step;
    if (!allocate_decimator(decimator)) {
        audio_decimator_free(decimator);
        return NULL;
    }
    fill_taps(decimator);
    return decimator;
}

void audio_decimator_free(struct audio_decimator *decimator)
{
    if (!decimator)
        return;
    free(decimator->taps);
    free(decimator->lanes);
    free(decimator->sums);
    free(decimator->held);
    free(decimator);
}

/* ---- samples ---- */

static void mirror_begin(struct audio_decimator *decimator)
{
    float *first = decimator->held + decimator->centre;
    for (size_t i = 1; i <= decimator->centre && decimator->centre + i < decimator->count; i++)
        first[-(ptrdiff_t)i] = first[i];
    decimator->begun = true;
}

/* What is behind a lane's run is what the next one begins with. */
static void deal_to_lanes(const struct audio_decimator *decimator, size_t run, size_t count)
{
    float *lanes = decimator->lanes;
    const float *last = decimator->held + (DECIMATE_LANES - 1) * run;
    decimator->kernels->deal(decimator->held, run, lanes);
    for (size_t i = run; i < count; i++) {
        float *row = lanes + i * DECIMATE_LANES;
        memcpy(row, row - run * DECIMATE_LANES + 1, (DECIMATE_LANES - 1) * sizeof *row);
        row[DECIMATE_LANES - 1] = last[i];
    }
}

/* Room for `out` is in whole lanes. */
static void make_outputs(struct audio_decimator *decimator, size_t outputs, float *out)
{
    const struct decimate_work *work = &decimator->work;
    size_t of_lane = (outputs + DECIMATE_LANES - 1) / DECIMATE_LANES;
    size_t samples = (of_lane + DECIMATE_MOST_STEPS - 1 + work->rows) * work->step;
    deal_to_lanes(decimator, of_lane * work->step, samples);
    decimator->kernels->decimate(work, of_lane, decimator->sums);
    decimator->kernels->collect(decimator->sums, of_lane, out);
}

static size_t give_decided(struct audio_decimator *decimator, float *out)
{
    if (decimator->count < decimator->tap_count)
        return 0;
    if (!decimator->begun)
        mirror_begin(decimator);
    size_t step = decimator->work.step;
    size_t outputs = (decimator->count - decimator->tap_count) / step + 1;
    make_outputs(decimator, outputs, out);
    decimator->count -= outputs * step;
    memmove(decimator->held, decimator->held + outputs * step,
            decimator->count * sizeof *decimator->held);
    return outputs;
}

float *audio_decimate_room(struct audio_decimator *decimator)
{
    return decimator->held + decimator->count;
}

size_t audio_decimate(struct audio_decimator *decimator, const float *samples, size_t count,
                      float *out)
{
    float *room = audio_decimate_room(decimator);
    if (samples != room)
        memcpy(room, samples, count * sizeof *samples);
    decimator->count += count;
    return give_decided(decimator, out);
}

/* The last output stands for the last sample at most: it takes so many taps behind it. */
size_t audio_decimate_rest(struct audio_decimator *decimator, float *out)
{
    const float *end = decimator->held + decimator->count;
    size_t behind = decimator->tap_count - 1 - decimator->centre;
    size_t real = decimator->count - (decimator->begun ? 0 : decimator->centre);
    for (size_t i = 0; i < behind; i++)
        decimator->held[decimator->count++] = i < real ? end[-1 - (ptrdiff_t)i] : 0;
    return real ? give_decided(decimator, out) : 0;
}
