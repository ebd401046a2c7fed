/* Files of made recordings for the tests of the command. */
#include "audio.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAV_HEADER_BYTES = 44 };

static int16_t pcm_of(float sample)
{
    return (int16_t)lrintf(fmaxf(-1, fminf(1, sample)) * 32767);
}

static void put(uint8_t *out, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

void keep_wav(const char *path, struct recording recording)
{
    uint8_t header[WAV_HEADER_BYTES] = "RIFF    WAVEfmt ";
    uint32_t size = (uint32_t)(2 * recording.count);
    put(header + 4, size + WAV_HEADER_BYTES - 8, 4);
    put(header + 16, 16, 4);
    put(header + 20, 1, 2); /* PCM */
    put(header + 22, 1, 2); /* channel */
    put(header + 24, AUDIO_RATE, 4);
    put(header + 28, 2 * AUDIO_RATE, 4);
    put(header + 32, 2, 2);
    put(header + 34, 16, 2);
    memcpy(header + 36, "data", 4);
    put(header + 40, size, 4);
    FILE *file = fopen(path, "wb");
    assert(file);
    fwrite(header, 1, sizeof header, file);
    for (size_t i = 0; i < recording.count; i++) {
        uint8_t bytes[2];
        put(bytes, (uint16_t)pcm_of(recording.samples[i]), 2);
        fwrite(bytes, 1, sizeof bytes, file);
    }
    fclose(file);
    free(recording.samples);
}

/* A text of INFO, whose bytes are even. */
static void put_info(FILE *file, const char *name, const char *text)
{
    uint8_t size[4];
    put(size, (uint32_t)strlen(text) + 1, 4);
    fwrite(name, 1, 4, file);
    fwrite(size, 1, 4, file);
    fwrite(text, 1, strlen(text) + 1, file);
    if (strlen(text) % 2 == 0)
        fputc(0, file);
}

/* Source: Microsoft's "Multimedia Programming Interface and Data Specifications", RIFF INFO. */
void keep_tagged_wav(const char *path, struct recording recording, const char *artist,
                     const char *title, const char *album)
{
    const char *const names[] = {"IART", "INAM", "IPRD"}, *const texts[] = {artist, title, album};
    uint8_t size[4];
    keep_wav(path, recording);
    FILE *file = fopen(path, "r+b");
    assert(file);
    fseek(file, 0, SEEK_END);
    long chunk = ftell(file);
    fwrite("LIST    INFO", 1, 12, file);
    for (int i = 0; i < 3; i++)
        if (texts[i])
            put_info(file, names[i], texts[i]);
    long end = ftell(file);
    put(size, (uint32_t)(end - chunk - 8), 4);
    fseek(file, chunk + 4, SEEK_SET);
    fwrite(size, 1, 4, file);
    put(size, (uint32_t)(end - 8), 4);
    fseek(file, 4, SEEK_SET);
    fwrite(size, 1, 4, file);
    fclose(file);
}

#ifdef HAVE_FFMPEG
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

struct encoder {
    AVFormatContext *container;
    AVCodecContext *codec;
    AVStream *stream;
    AVPacket *packet;
};

static bool encoder_open(const char *path, struct encoder *out)
{
    struct encoder encoder = {.packet = av_packet_alloc()};
    avformat_alloc_output_context2(&encoder.container, NULL, NULL, path);
    if (!encoder.container)
        return false;
    const AVCodec *codec = avcodec_find_encoder(encoder.container->oformat->audio_codec);
    if (!codec)
        return false;
    encoder.codec = avcodec_alloc_context3(codec);
    encoder.codec->sample_fmt = codec->sample_fmts[0];
    encoder.codec->sample_rate = AUDIO_RATE;
    encoder.codec->bit_rate = 48000;
    av_channel_layout_default(&encoder.codec->ch_layout, 1);
    encoder.codec->time_base = (AVRational){1, AUDIO_RATE};
    if (encoder.container->oformat->flags & AVFMT_GLOBALHEADER)
        encoder.codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    encoder.stream = avformat_new_stream(encoder.container, NULL);
    bool good = avcodec_open2(encoder.codec, codec, NULL) == 0 &&
                avcodec_parameters_from_context(encoder.stream->codecpar, encoder.codec) >= 0 &&
                avio_open(&encoder.container->pb, path, AVIO_FLAG_WRITE) >= 0 &&
                avformat_write_header(encoder.container, NULL) >= 0;
    *out = encoder;
    return good;
}

static void drain(struct encoder *encoder)
{
    while (avcodec_receive_packet(encoder->codec, encoder->packet) == 0) {
        av_packet_rescale_ts(encoder->packet, encoder->codec->time_base,
                             encoder->stream->time_base);
        encoder->packet->stream_index = 0;
        av_interleaved_write_frame(encoder->container, encoder->packet);
    }
}

static void fill(AVFrame *frame, const float *samples)
{
    for (int i = 0; i < frame->nb_samples; i++) {
        if (frame->format == AV_SAMPLE_FMT_S16)
            ((int16_t *)(void *)frame->data[0])[i] = pcm_of(samples[i]);
        else
            ((float *)(void *)frame->data[0])[i] = samples[i];
    }
}

static void encode(struct encoder *encoder, const struct recording *recording)
{
    size_t most = encoder->codec->frame_size ? (size_t)encoder->codec->frame_size : 1024;
    for (size_t at = 0; at < recording->count; at += most) {
        AVFrame *frame = av_frame_alloc();
        frame->nb_samples = (int)(recording->count - at < most ? recording->count - at : most);
        frame->format = encoder->codec->sample_fmt;
        frame->sample_rate = AUDIO_RATE;
        av_channel_layout_copy(&frame->ch_layout, &encoder->codec->ch_layout);
        av_frame_get_buffer(frame, 0);
        frame->pts = (int64_t)at;
        fill(frame, recording->samples + at);
        avcodec_send_frame(encoder->codec, frame);
        av_frame_free(&frame);
        drain(encoder);
    }
    avcodec_send_frame(encoder->codec, NULL);
    drain(encoder);
    av_write_trailer(encoder->container);
}

bool write_encoded(const char *path, const struct recording *recording)
{
    struct encoder encoder;
    av_log_set_level(AV_LOG_QUIET);
    bool good = encoder_open(path, &encoder);
    if (good)
        encode(&encoder, recording);
    if (encoder.container)
        avio_closep(&encoder.container->pb);
    avcodec_free_context(&encoder.codec);
    avformat_free_context(encoder.container);
    av_packet_free(&encoder.packet);
    return good;
}
#else
bool write_encoded(const char *path, const struct recording *recording)
{
    (void)path, (void)recording;
    return false;
}
#endif
