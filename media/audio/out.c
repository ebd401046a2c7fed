/* One channel of any rate to 11025 Hz, block by block to the visitor: of a multiple of it by our
 * own filter, which is three times as fast, else by libswresample. */
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>

#include "media/audio/audio.h"

static enum doppel_status visit_samples(struct audio_out *out, const float *samples, size_t count,
                                        struct doppel_error *error)
{
    if (!count)
        return DOPPEL_OK;
    double seconds = (double)(out->visited + count) / AUDIO_RATE;
    if (out->max_seconds > 0 && seconds > out->max_seconds)
        return doppel_fail(error, DOPPEL_E_LIMIT, "has more than %g seconds of audio, the limit",
                           out->max_seconds);
    out->visited += count;
    if (!out->visitor(out->context, &(struct doppel_samples){samples, count}))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "was cancelled");
    return DOPPEL_OK;
}

/* `samples` NULL: the end, so that the resampler gives what it holds back. */
static enum doppel_status resample(struct audio_out *out, const float *samples, size_t count,
                                   struct doppel_error *error)
{
    enum { ROOM = sizeof out->samples / sizeof *out->samples };
    const uint8_t *in = (const uint8_t *)samples;
    enum doppel_status status = DOPPEL_OK;
    int got = ROOM;
    while (status == DOPPEL_OK && got == ROOM) {
        uint8_t *planes[] = {(uint8_t *)out->samples};
        got = swr_convert(out->resampler, planes, ROOM, in ? &in : NULL, (int)count);
        if (got < 0)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to resample");
        status = visit_samples(out, out->samples, (size_t)got, error);
        count = 0; /* it keeps what there was no room for */
    }
    return status;
}

static enum doppel_status begin_resampler(struct audio_out *out, uint32_t rate)
{
    AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
    int code = swr_alloc_set_opts2(&out->resampler, &mono, AV_SAMPLE_FMT_FLTP, AUDIO_RATE, &mono,
                                   AV_SAMPLE_FMT_FLTP, (int)rate, 0, NULL);
    if (code >= 0)
        code = swr_init(out->resampler);
    return code < 0 ? DOPPEL_E_MEMORY : DOPPEL_OK;
}

enum doppel_status audio_out_begin(struct audio_out *out, uint32_t rate, struct doppel_error *error)
{
    enum doppel_status status = audio_out_finish(out, error);
    if (status != DOPPEL_OK)
        return status;
    out->rate = rate;
    if (rate == AUDIO_RATE)
        return DOPPEL_OK;
    if (rate % AUDIO_RATE == 0)
        out->decimator = audio_decimator_new(rate / AUDIO_RATE);
    else
        status = begin_resampler(out, rate);
    if (status != DOPPEL_OK || (rate % AUDIO_RATE == 0 && !out->decimator))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to resample from %u Hz", rate);
    return DOPPEL_OK;
}

enum doppel_status audio_out_take(struct audio_out *out, const float *samples, size_t count,
                                  struct doppel_error *error)
{
    if (out->resampler)
        return resample(out, samples, count, error);
    if (!out->decimator)
        return visit_samples(out, samples, count, error);
    size_t got = audio_decimate(out->decimator, samples, count, out->samples);
    return visit_samples(out, out->samples, got, error);
}

void audio_out_free(struct audio_out *out)
{
    swr_free(&out->resampler);
    audio_decimator_free(out->decimator);
    out->decimator = NULL;
}

enum doppel_status audio_out_finish(struct audio_out *out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (out->resampler)
        status = resample(out, NULL, 0, error);
    else if (out->decimator)
        status = visit_samples(out, out->samples, audio_decimate_rest(out->decimator, out->samples),
                               error);
    audio_out_free(out);
    out->rate = 0;
    return status;
}

enum doppel_status audio_out_silence(struct audio_out *out, uint64_t count,
                                     struct doppel_error *error)
{
    out->silent += count;
    return visit_samples(out, NULL, (size_t)count, error);
}
