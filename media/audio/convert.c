/* Samples of a frame, in whatever format, as floats. */
#include <libavutil/samplefmt.h>
#include <math.h>

#include "media/audio/audio.h"

/* Audio in whole numbers that came into a file of floats is below it. */
static const float ABSURD = 1e9F;

/* A loop for each distance between samples: the compiler makes vectors of those that are known. */
#define CONVERT(name, type, expression)                                                            \
    static inline void name##_by(const type *in, size_t step, size_t count, float *out)            \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            const type x = in[i * step];                                                           \
            out[i] = (expression);                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void name(const void *in, size_t step, size_t count, float *out)                        \
    {                                                                                              \
        if (step == 1)                                                                             \
            name##_by(in, 1, count, out);                                                          \
        else if (step == 2)                                                                        \
            name##_by(in, 2, count, out);                                                          \
        else                                                                                       \
            name##_by(in, step, count, out);                                                       \
    }

CONVERT(from_u8, uint8_t, (float)(x - 128) * 0x1p-7F)
CONVERT(from_s16, int16_t, (float)x * 0x1p-15F)
CONVERT(from_s32, int32_t, (float)x * 0x1p-31F)
CONVERT(from_s64, int64_t, (float)x * 0x1p-63F)
CONVERT(from_float, float, fabsf(x) <= ABSURD ? x : 0)
CONVERT(from_double, double, fabs(x) <= (double)ABSURD ? (float)x : 0)

void audio_convert(const AVFrame *frame, uint32_t channel, size_t first, size_t count, float *out)
{
    typedef void convert(const void *in, size_t step, size_t count, float *out);
    static convert *const converters[] = {
        [AV_SAMPLE_FMT_U8] = from_u8,     [AV_SAMPLE_FMT_S16] = from_s16,
        [AV_SAMPLE_FMT_S32] = from_s32,   [AV_SAMPLE_FMT_S64] = from_s64,
        [AV_SAMPLE_FMT_FLT] = from_float, [AV_SAMPLE_FMT_DBL] = from_double,
    };
    enum AVSampleFormat format = frame->format;
    bool planar = av_sample_fmt_is_planar(format);
    size_t bytes = (size_t)av_get_bytes_per_sample(format);
    size_t step = planar ? 1 : (size_t)frame->ch_layout.nb_channels;
    const uint8_t *in = frame->extended_data[planar ? channel : 0];
    in += (first * step + (planar ? 0 : channel)) * bytes;
    converters[av_get_packed_sample_fmt(format)](in, step, count, out);
}
