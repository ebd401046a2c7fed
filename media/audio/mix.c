/* Channels to one: their mean, or, where they cancel each other, the strongest of them. */
#include <stdlib.h>

#include "media/audio/audio.h"

/* A tenth of a second, and at most so many samples that a block of two channels stays in cache. */
enum { BLOCKS_A_SECOND = 10, MAX_BLOCK = DECIMATE_BLOCK };

/* Highest rate that is taken: twice that of any converter sold. A resampler from it is 20 MB. */
enum { MAX_RATE = 1536000 };

/* Energy of the mix, of that which channels would give that know nothing of each other: below the
 * one they cancel, above the other they no longer do. */
static const double CANCELS_BELOW = .05, ADDS_ABOVE = .2;

/* Share of the energies that is forgotten in a second, in small steps: of what was a second ago a
 * twentieth counts. */
static const double FORGETS = 3;

/* Another channel takes the place of the strongest when it is stronger by so much. */
static const double STRONGER = 2;

static enum doppel_status allocate_mix(struct audio_mix *mix,
                                       const struct doppel_media_limits *limits,
                                       struct doppel_error *error)
{
    uint64_t planes = (uint64_t)mix->channels + 1;
    enum doppel_status status =
        check_memory(limits, planes * mix->block * sizeof *mix->planes, error);
    if (status != DOPPEL_OK)
        return status;
    mix->planes = malloc(planes * mix->block * sizeof *mix->planes);
    mix->energies = calloc(2 * planes, sizeof *mix->energies);
    if (!mix->planes || !mix->energies)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to mix %u channels", mix->channels);
    return DOPPEL_OK;
}

static enum doppel_status begin_mix(struct audio_mix *mix, uint32_t rate, uint32_t channels,
                                    const struct doppel_media_limits *limits,
                                    struct doppel_error *error)
{
    enum doppel_status status = audio_mix_finish(mix, error);
    audio_mix_free(mix);
    if (status != DOPPEL_OK)
        return status;
    if (!rate || rate > MAX_RATE)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "has %u samples a second; 1 to %d are supported", rate, MAX_RATE);
    mix->kernels = sample_kernels_choose();
    mix->rate = rate;
    mix->chosen = mix->channels = channels;
    mix->block = rate / BLOCKS_A_SECOND;
    mix->block = mix->block > MAX_BLOCK ? MAX_BLOCK : mix->block ? mix->block : 1;
    return allocate_mix(mix, limits, error);
}

void audio_mix_free(struct audio_mix *mix)
{
    free(mix->planes);
    free(mix->energies);
    *mix = (struct audio_mix){.out = mix->out};
}

/* ---- which plane ---- */

static float *plane(const struct audio_mix *mix, uint32_t index)
{
    return mix->planes + index * mix->block;
}

/* Where the mean is made: where it is taken without being copied, if there is such a place. */
static float *mean_plane(const struct audio_mix *mix)
{
    struct audio_decimator *decimator = mix->out->decimator;
    return decimator ? audio_decimate_room(decimator) : plane(mix, mix->channels);
}

/* Of two channels and more; and the energies of all planes. */
static void make_mean(const struct audio_mix *mix, double *out_energies)
{
    float *mean = mean_plane(mix), share = 1 / (float)mix->channels;
    const float *before = plane(mix, 0);
    for (uint32_t channel = 1; channel < mix->channels; channel++, before = mean) {
        double energies[3];
        mix->kernels->add(before, plane(mix, channel), mix->filled,
                          channel + 1 == mix->channels ? share : 1, mean, energies);
        if (channel == 1)
            out_energies[0] = energies[0];
        out_energies[channel] = energies[1];
        out_energies[channel + 1] = energies[2]; /* at last that of the mean */
    }
}

static void choose_mix(struct audio_mix *mix, const double *now)
{
    double keep = 1 - FORGETS * (double)mix->filled / mix->rate, sum = 0;
    uint32_t strongest = 0;
    for (uint32_t i = 0; i <= mix->channels; i++) {
        mix->energies[i] = (keep > 0 ? mix->energies[i] * keep : 0) + now[i];
        sum += i < mix->channels ? mix->energies[i] : 0;
        if (i < mix->channels && mix->energies[i] > mix->energies[strongest])
            strongest = i;
    }
    double unrelated = sum / ((double)mix->channels * mix->channels);
    double mean = mix->energies[mix->channels];
    if (mix->chosen == mix->channels) {
        if (mean < CANCELS_BELOW * unrelated)
            mix->chosen = strongest;
    } else if (mean > ADDS_ABOVE * unrelated) {
        mix->chosen = mix->channels;
    } else if (mix->energies[strongest] > STRONGER * mix->energies[mix->chosen]) {
        mix->chosen = strongest;
    }
}

static const float *chosen_plane(const struct audio_mix *mix, uint32_t chosen)
{
    return chosen == mix->channels ? mean_plane(mix) : plane(mix, chosen);
}

/* From one plane to another in the course of a block: a step would be heard as a click. */
static void fade(const float *from, const float *to, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        float share = (float)i / (float)count;
        out[i] = from[i] + (to[i] - from[i]) * share;
    }
}

/* The samples of a frame from `first` on. */
static void fill_planes(const struct audio_mix *mix, const AVFrame *frame, size_t first,
                        size_t count, size_t at)
{
    for (uint32_t channel = 0; channel < mix->channels; channel++)
        audio_convert(mix->kernels, frame, channel, first, count, plane(mix, channel) + at);
}

/* @param frame which the block lies in, from `first` on, as pairs of 16 bits; NULL: in the planes,
 * which are not filled otherwise unless one of them is, or was, what is handed on */
static enum doppel_status hand_on_mixed(struct audio_mix *mix, const AVFrame *frame, size_t first,
                                        struct doppel_error *error)
{
    if (!mix->filled)
        return DOPPEL_OK;
    size_t count = mix->filled;
    const float *samples = plane(mix, 0);
    if (mix->channels > 1) {
        const uint32_t before = mix->chosen, mean = mix->channels;
        double *now = mix->energies + mix->channels + 1;
        if (frame)
            mix->kernels->mix_s16((const int16_t *)(const void *)frame->extended_data[0] +
                                      2 * first,
                                  count, mean_plane(mix), now);
        else
            make_mean(mix, now);
        choose_mix(mix, now);
        if (frame && (before != mean || mix->chosen != mean))
            fill_planes(mix, frame, first, count, 0);
        samples = chosen_plane(mix, mix->chosen);
        if (mix->chosen != before) {
            fade(chosen_plane(mix, before), samples, count, mean_plane(mix));
            samples = mean_plane(mix);
        }
    }
    mix->filled = 0;
    return audio_out_take(mix->out, samples, count, error);
}

/* ---- frames ---- */

enum doppel_status audio_mix_take(struct audio_mix *mix, const AVFrame *frame,
                                  const struct doppel_media_limits *limits,
                                  struct doppel_error *error)
{
    uint32_t rate = (uint32_t)frame->sample_rate, channels = (uint32_t)frame->ch_layout.nb_channels;
    enum doppel_status status = DOPPEL_OK;
    if (rate != mix->rate || channels != mix->channels)
        status = begin_mix(mix, rate, channels, limits, error);
    if (status == DOPPEL_OK && mix->out->rate != rate)
        status = audio_out_begin(mix->out, rate, error);
    size_t size = (size_t)frame->nb_samples;
    for (size_t at = 0; status == DOPPEL_OK && at < size;) {
        size_t room = mix->block - mix->filled, part = size - at < room ? size - at : room;
        bool in_frame = part == mix->block && channels == 2 && frame->format == AV_SAMPLE_FMT_S16;
        if (!in_frame)
            fill_planes(mix, frame, at, part, mix->filled);
        mix->filled += part;
        if (mix->filled == mix->block)
            status = hand_on_mixed(mix, in_frame ? frame : NULL, at, error);
        at += part;
    }
    return status;
}

enum doppel_status audio_mix_finish(struct audio_mix *mix, struct doppel_error *error)
{
    enum doppel_status status = hand_on_mixed(mix, NULL, 0, error);
    return status == DOPPEL_OK ? audio_out_finish(mix->out, error) : status;
}
