/* Decoded frames to AcoustID's fingerprint, as fpcalc makes it: of the first two minutes. */
#include <libavutil/opt.h>
#include <stdlib.h>
#include <string.h>

#include <chromaprint.h>

#include "media/readers.h"
#include "media/audio/audio.h"

enum { SECONDS = 120, CHUNK = 4096 };

struct audio_chromaprint {
    ChromaprintContext *maker;
    SwrContext *resampler;
    AVChannelLayout layout; /* of the frames that the resampler takes */
    int rate, format;
    int left; /* samples that are still looked at */
    uint64_t duration_ms;
};

/* The resampler of fpcalc: these options make its codes, others change some bits. */
static bool set_up(SwrContext *resampler)
{
    return resampler && av_opt_set_int(resampler, "filter_size", 16, 0) >= 0 &&
           av_opt_set_int(resampler, "phase_shift", 8, 0) >= 0 &&
           av_opt_set_int(resampler, "linear_interp", 1, 0) >= 0 &&
           av_opt_set_double(resampler, "cutoff", .8, 0) >= 0 && swr_init(resampler) >= 0;
}

/* Feed what the resampler makes of `count` samples a channel; NULL: what it holds back. */
static enum doppel_status feed_chromaprint(struct audio_chromaprint *chromaprint,
                                           const uint8_t **input, int count,
                                           struct doppel_error *error)
{
    int16_t samples[CHUNK];
    uint8_t *output = (uint8_t *)samples;
    while (chromaprint->resampler && chromaprint->left) {
        int made = swr_convert(chromaprint->resampler, &output, CHUNK, input, count);
        if (made <= 0)
            break;
        made = made < chromaprint->left ? made : chromaprint->left;
        if (!chromaprint_feed(chromaprint->maker, samples, made))
            return doppel_fail(error, DOPPEL_E_MEMORY, "libchromaprint refuses the samples");
        chromaprint->left -= made;
        count = 0; /* and then what did not fit; NULL would end the audio */
    }
    return DOPPEL_OK;
}

/* A resampler for frames like this one; what was in progress is finished first. */
static enum doppel_status begin_chromaprint(struct audio_chromaprint *chromaprint,
                                            const AVFrame *frame, struct doppel_error *error)
{
    AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
    enum doppel_status status = feed_chromaprint(chromaprint, NULL, 0, error);
    if (status != DOPPEL_OK)
        return status;
    swr_free(&chromaprint->resampler);
    av_channel_layout_uninit(&chromaprint->layout);
    chromaprint->rate = frame->sample_rate;
    chromaprint->format = frame->format;
    AVChannelLayout from = {0};
    int code = av_channel_layout_copy(&chromaprint->layout, &frame->ch_layout);
    if (code >= 0 && frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&from, frame->ch_layout.nb_channels);
    else if (code >= 0)
        code = av_channel_layout_copy(&from, &frame->ch_layout);
    if (code >= 0)
        code = swr_alloc_set_opts2(&chromaprint->resampler, &mono, AV_SAMPLE_FMT_S16, AUDIO_RATE,
                                   &from, frame->format, frame->sample_rate, 0, NULL);
    av_channel_layout_uninit(&from);
    if (code < 0 || !set_up(chromaprint->resampler))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "has %d channels at %d Hz, which cannot be "
                           "resampled for a Chromaprint",
                           frame->ch_layout.nb_channels, frame->sample_rate);
    return DOPPEL_OK;
}

/* What the track, or else the container, is said to last. */
void audio_chromaprint_begin(struct audio_chromaprint *chromaprint,
                             const AVFormatContext *container, const AVStream *track)
{
    double seconds = 0;
    if (track->duration > 0)
        seconds = (double)track->duration * av_q2d(track->time_base);
    else if (container->duration > 0)
        seconds = (double)container->duration / AV_TIME_BASE;
    chromaprint->duration_ms = seconds < 1e9 ? (uint64_t)(seconds * 1000 + .5) : 0;
}

enum doppel_status audio_chromaprint_take(struct audio_chromaprint *chromaprint,
                                          const AVFrame *frame, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (chromaprint->rate != frame->sample_rate || chromaprint->format != frame->format ||
        av_channel_layout_compare(&chromaprint->layout, &frame->ch_layout))
        status = begin_chromaprint(chromaprint, frame, error);
    if (status == DOPPEL_OK)
        status = feed_chromaprint(chromaprint, (const uint8_t **)frame->extended_data,
                                  frame->nb_samples, error);
    if (status == DOPPEL_OK && !chromaprint->left)
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "two minutes are enough");
    return status;
}

static enum doppel_status finish_chromaprint(struct audio_chromaprint *chromaprint,
                                             struct doppel_chromaprint *out,
                                             struct doppel_error *error)
{
    uint32_t *made = NULL;
    int count = 0;
    enum doppel_status status = feed_chromaprint(chromaprint, NULL, 0, error);
    if (status != DOPPEL_OK)
        return status;
    if (!chromaprint_finish(chromaprint->maker) ||
        !chromaprint_get_raw_fingerprint(chromaprint->maker, &made, &count) || count <= 0)
        count = 0;
    uint32_t *codes = malloc(((size_t)count + 1) * sizeof *codes);
    if (codes && count)
        memcpy(codes, made, (size_t)count * sizeof *codes);
    chromaprint_dealloc(made);
    if (!codes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a Chromaprint");
    *out = (struct doppel_chromaprint){
        .codes = codes, .count = (size_t)count, .duration_ms = chromaprint->duration_ms};
    return DOPPEL_OK;
}

static enum doppel_status start_chromaprint(struct audio_chromaprint *chromaprint,
                                            struct doppel_error *error)
{
    chromaprint->maker = chromaprint_new(CHROMAPRINT_ALGORITHM_DEFAULT);
    if (!chromaprint->maker || !chromaprint_start(chromaprint->maker, AUDIO_RATE, 1))
        return doppel_fail(error, DOPPEL_E_MEMORY, "libchromaprint cannot start");
    return DOPPEL_OK;
}

enum doppel_status read_chromaprint(int fd, const struct doppel_samples_options *options,
                                    struct doppel_chromaprint *out, struct doppel_error *error)
{
    struct doppel_error reason = {.status = DOPPEL_E_MEMORY};
    struct audio_chromaprint chromaprint = {.left = SECONDS * AUDIO_RATE};
    struct recording *recording = calloc(1, sizeof *recording);
    enum doppel_status status = start_chromaprint(&chromaprint, error);
    if (status == DOPPEL_OK && !recording)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read audio");
    if (status == DOPPEL_OK) {
        recording->options = *options;
        recording->chromaprint = &chromaprint;
        status = audio_decode_file(recording, fd, &reason);
        if (status != DOPPEL_OK && status != DOPPEL_E_CANCELLED)
            doppel_fail(error, status, "%s", reason.message);
        else
            status = finish_chromaprint(&chromaprint, out, error);
        if (status == DOPPEL_OK)
            out->tags = recording->info.tags;
    }
    free(recording);
    swr_free(&chromaprint.resampler);
    av_channel_layout_uninit(&chromaprint.layout);
    if (chromaprint.maker)
        chromaprint_free(chromaprint.maker);
    return status;
}
