/* Samples of a frame, in whatever format, as floats. */
#include <libavutil/samplefmt.h>

#include "media/audio/audio.h"

static sample_converter *converter_of(const struct sample_kernels *kernels,
                                      enum AVSampleFormat packed)
{
    switch (packed) {
    case AV_SAMPLE_FMT_U8:
        return kernels->from_u8;
    case AV_SAMPLE_FMT_S16:
        return kernels->from_s16;
    case AV_SAMPLE_FMT_S32:
        return kernels->from_s32;
    case AV_SAMPLE_FMT_S64:
        return kernels->from_s64;
    case AV_SAMPLE_FMT_FLT:
        return kernels->from_float;
    default:
        return kernels->from_double;
    }
}

void audio_convert(const struct sample_kernels *kernels, const AVFrame *frame, uint32_t channel,
                   size_t first, size_t count, float *out)
{
    enum AVSampleFormat format = frame->format;
    bool planar = av_sample_fmt_is_planar(format);
    size_t bytes = (size_t)av_get_bytes_per_sample(format);
    size_t step = planar ? 1 : (size_t)frame->ch_layout.nb_channels;
    const uint8_t *in = frame->extended_data[planar ? channel : 0];
    in += (first * step + (planar ? 0 : channel)) * bytes;
    converter_of(kernels, av_get_packed_sample_fmt(format))(in, step, count, out);
}
