/* Edits that encode and decode: GSM 06.10 in the telephone's band, and MP3. */
#include "edits.h"

#include <math.h>

#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>

/** An encoder and the decoder of what it writes. */
struct coder {
    AVCodecContext *encoder, *decoder;
    AVPacket *packet;
    AVFrame *frame;
    struct recording out; /* what was decoded so far, in room for all of it */
    size_t known;
};

static void coder_close(struct coder *coder)
{
    avcodec_free_context(&coder->encoder);
    avcodec_free_context(&coder->decoder);
    av_packet_free(&coder->packet);
    av_frame_free(&coder->frame);
}

static bool coder_open(struct coder *coder, const char *name, int rate, int64_t bit_rate)
{
    const AVCodec *encoder = avcodec_find_encoder_by_name(name);
    const AVCodec *decoder = encoder ? avcodec_find_decoder(encoder->id) : NULL;
    if (!decoder)
        return false;
    coder->encoder = avcodec_alloc_context3(encoder);
    coder->decoder = avcodec_alloc_context3(decoder);
    coder->packet = av_packet_alloc();
    coder->frame = av_frame_alloc();
    coder->encoder->sample_fmt = encoder->sample_fmts[0];
    coder->encoder->sample_rate = coder->decoder->sample_rate = rate;
    coder->encoder->bit_rate = bit_rate;
    av_channel_layout_default(&coder->encoder->ch_layout, 1);
    av_channel_layout_default(&coder->decoder->ch_layout, 1);
    return avcodec_open2(coder->encoder, encoder, NULL) == 0 &&
           avcodec_open2(coder->decoder, decoder, NULL) == 0;
}

static void decode(struct coder *coder, const AVPacket *packet)
{
    if (avcodec_send_packet(coder->decoder, packet) < 0)
        return;
    while (avcodec_receive_frame(coder->decoder, coder->frame) == 0)
        for (int i = 0; i < coder->frame->nb_samples && coder->known < coder->out.count; i++) {
            bool is_float = coder->frame->format == AV_SAMPLE_FMT_FLTP ||
                            coder->frame->format == AV_SAMPLE_FMT_FLT;
            const uint8_t *data = coder->frame->data[0];
            coder->out.data[coder->known++] =
                is_float ? ((const float *)(const void *)data)[i]
                         : (float)((const int16_t *)(const void *)data)[i] / 32768;
        }
}

static void encode(struct coder *coder, AVFrame *frame)
{
    if (avcodec_send_frame(coder->encoder, frame) < 0)
        return;
    while (avcodec_receive_packet(coder->encoder, coder->packet) == 0) {
        decode(coder, coder->packet);
        av_packet_unref(coder->packet);
    }
}

static void fill(AVFrame *frame, const struct recording *in, size_t from)
{
    for (int i = 0; i < frame->nb_samples; i++) {
        float x = from + (size_t)i < in->count ? in->data[from + (size_t)i] : 0;
        x = fmaxf(-1, fminf(1, x));
        if (frame->format == AV_SAMPLE_FMT_FLTP || frame->format == AV_SAMPLE_FMT_FLT)
            ((float *)(void *)frame->data[0])[i] = x;
        else if (frame->format == AV_SAMPLE_FMT_S32P)
            ((int32_t *)(void *)frame->data[0])[i] = (int32_t)lrintf(x * 2147480000.f);
        else
            ((int16_t *)(void *)frame->data[0])[i] = (int16_t)lrintf(x * 32767);
    }
}

/** Through the coder and back, without its delay; no data without it. */
static struct recording recode(const struct recording *in, const char *name, int rate,
                               int64_t bit_rate)
{
    struct coder coder = {0};
    av_log_set_level(AV_LOG_ERROR); /* it warns of packets without times */
    struct recording out = {0};
    if (coder_open(&coder, name, rate, bit_rate)) {
        coder.out = audio_new(in->count);
        AVFrame *frame = av_frame_alloc();
        frame->nb_samples = coder.encoder->frame_size ? coder.encoder->frame_size : 160;
        frame->format = coder.encoder->sample_fmt;
        frame->sample_rate = rate;
        av_channel_layout_copy(&frame->ch_layout, &coder.encoder->ch_layout);
        av_frame_get_buffer(frame, 0);
        for (size_t from = 0; from < in->count; from += (size_t)frame->nb_samples) {
            av_frame_make_writable(frame);
            fill(frame, in, from);
            frame->pts = (int64_t)from;
            encode(&coder, frame);
        }
        encode(&coder, NULL);
        decode(&coder, NULL);
        av_frame_free(&frame);
        out = coder.out;
    }
    coder_close(&coder);
    return out;
}

struct recording edit_phone(const struct recording *in, double amount, struct scene *scene)
{
    enum { PHONE_RATE = 8000, GSM_BITS = 13000 };
    (void)amount;
    (void)scene;
    struct recording narrow = audio_resample(in, (double)PHONE_RATE / AUDIO_RATE);
    audio_band(&narrow, PHONE_RATE, 300, 3400);
    struct recording coded = recode(&narrow, "libgsm", PHONE_RATE, GSM_BITS), out = {0};
    if (coded.data)
        out = audio_resample(&coded, (double)AUDIO_RATE / PHONE_RATE);
    audio_free(&narrow);
    audio_free(&coded);
    return out;
}

/** Mono at 44.1 kHz, as music is. */
struct recording edit_mp3(const struct recording *in, double amount, struct scene *scene)
{
    enum { MP3_RATE = 4 * AUDIO_RATE, MP3_BITS = 32000 };
    (void)amount;
    (void)scene;
    struct recording wide = audio_resample(in, 4);
    struct recording coded = recode(&wide, "libmp3lame", MP3_RATE, MP3_BITS), out = {0};
    if (coded.data)
        out = audio_resample(&coded, .25);
    audio_free(&wide);
    audio_free(&coded);
    return out;
}
