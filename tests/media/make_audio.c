/* Tunes, WAV and raw PCM by hand, other containers by libavformat and libavcodec. */
#include "make_audio.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>

#include "core/bytes.h"

/* ---- tunes ---- */

double tune_value(double seconds)
{
    double turn = 2 * acos(-1) * seconds;
    return .3 * sin(turn * 440) + .2 * sin(turn * 1234.5 + 1) + .1 * cos(turn * 2801);
}

struct tune tune_make(double seconds, uint32_t rate, uint32_t channels)
{
    struct tune tune = {rate, channels, (size_t)(seconds * rate), NULL};
    tune.samples = calloc(tune.count * channels + 1, sizeof *tune.samples);
    assert(tune.samples);
    for (size_t i = 0; i < tune.count; i++)
        for (uint32_t channel = 0; channel < channels; channel++)
            tune.samples[i * channels + channel] = (float)tune_value((double)i / rate);
    return tune;
}

void tune_free(struct tune *tune)
{
    free(tune->samples);
    *tune = (struct tune){0};
}

/* ---- PCM and WAV ---- */

static const unsigned coding_bytes[] = {1, 2, 3, 4, 4, 8};

static void put_sample(uint8_t *out, float value, enum wav_coding coding)
{
    double wide = (double)value;
    double whole = isfinite(wide) ? round(fmax(-1, fmin(1, wide)) * 0x1p31) : 0;
    uint32_t bits = (uint32_t)(int32_t)(whole > 0x1p31 - 1 ? 0x1p31 - 1 : whole);
    if (coding == WAV_F32)
        memcpy(out, &value, 4);
    else if (coding == WAV_F64)
        memcpy(out, &wide, 8);
    else if (coding == WAV_U8)
        out[0] = (uint8_t)((bits >> 24) ^ 0x80);
    else
        for (unsigned bytes = coding_bytes[coding], i = 0; i < bytes; i++)
            out[i] = (uint8_t)(bits >> (8 * (4 - bytes + i)));
}

struct file make_pcm(const struct tune *tune, enum wav_coding coding)
{
    size_t count = tune->count * tune->channels, bytes = coding_bytes[coding];
    struct file file = {malloc(count * bytes + 1), count * bytes};
    assert(file.data);
    for (size_t i = 0; i < count; i++)
        put_sample(file.data + i * bytes, tune->samples[i], coding);
    return file;
}

struct file make_wav(const struct tune *tune, enum wav_coding coding)
{
    struct file pcm = make_pcm(tune, coding), file = {0};
    uint32_t frame = tune->channels * coding_bytes[coding];
    uint8_t head[44] = "RIFF....WAVEfmt ....................data";
    put_u32(head + 4, (uint32_t)(36 + pcm.size));
    put_u32(head + 16, 16);
    put_u16(head + 20, coding >= WAV_F32 ? 3 : 1);
    put_u16(head + 22, (uint16_t)tune->channels);
    put_u32(head + 24, tune->rate);
    put_u32(head + 28, tune->rate * frame);
    put_u16(head + 32, (uint16_t)frame);
    put_u16(head + 34, (uint16_t)(8 * coding_bytes[coding]));
    memcpy(head + 36, "data", 4);
    put_u32(head + 40, (uint32_t)pcm.size);
    file_append(&file, head, sizeof head);
    file_append(&file, pcm.data, pcm.size);
    file_free(&pcm);
    return file;
}

/* ---- FFmpeg ---- */

struct writer {
    const struct tune *tune;
    const struct audio_how *how;
    AVFormatContext *container;
    AVCodecContext *audio, *images;
    AVPacket *packet;
    int64_t images_written;
};

/* Not of 8 bits where there is a choice. */
static enum AVSampleFormat choose_format(const AVCodec *codec)
{
    const enum AVSampleFormat *format = codec->sample_fmts;
    while (av_get_bytes_per_sample(*format) < 2 && format[1] != AV_SAMPLE_FMT_NONE)
        format++;
    return *format;
}

static AVCodecContext *add_track(struct writer *writer, const AVCodec *codec)
{
    AVCodecContext *context = avcodec_alloc_context3(codec);
    AVStream *track = avformat_new_stream(writer->container, NULL);
    bool is_audio = codec->type == AVMEDIA_TYPE_AUDIO;
    if (is_audio) {
        context->sample_fmt = choose_format(codec);
        context->sample_rate = (int)writer->tune->rate;
        context->bit_rate = 128000;
        av_channel_layout_default(&context->ch_layout, (int)writer->tune->channels);
    } else {
        context->width = context->height = 64;
        context->pix_fmt = AV_PIX_FMT_YUV420P;
    }
    context->time_base = (AVRational){1, is_audio ? context->sample_rate : 25};
    context->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    if (writer->container->oformat->flags & AVFMT_GLOBALHEADER)
        context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    track->time_base = context->time_base;
    if (avcodec_open2(context, codec, NULL) < 0)
        avcodec_free_context(&context);
    else
        avcodec_parameters_from_context(track->codecpar, context);
    return context;
}

static void write_packets(struct writer *writer, AVCodecContext *codec, const AVFrame *frame,
                          unsigned index)
{
    int sent = avcodec_send_frame(codec, frame);
    assert(sent >= 0);
    while (avcodec_receive_packet(codec, writer->packet) >= 0) {
        AVRational base = writer->container->streams[index]->time_base;
        av_packet_rescale_ts(writer->packet, codec->time_base, base);
        writer->packet->stream_index = (int)index;
        int written = av_interleaved_write_frame(writer->container, writer->packet);
        assert(written >= 0);
    }
}

static void put_value(uint8_t *out, enum AVSampleFormat format, float value)
{
    int16_t narrow = (int16_t)lrintf(value * 32767);
    int32_t wide = (int32_t)narrow * 65536;
    switch (av_get_packed_sample_fmt(format)) {
    case AV_SAMPLE_FMT_U8:
        *out = (uint8_t)(128 + narrow / 256);
        break;
    case AV_SAMPLE_FMT_S16:
        memcpy(out, &narrow, sizeof narrow);
        break;
    case AV_SAMPLE_FMT_S32:
        memcpy(out, &wide, sizeof wide);
        break;
    default:
        assert(av_get_packed_sample_fmt(format) == AV_SAMPLE_FMT_FLT);
        memcpy(out, &value, sizeof value);
    }
}

static void write_audio(struct writer *writer, size_t first, size_t count)
{
    const struct tune *tune = writer->tune;
    AVFrame *frame = av_frame_alloc();
    frame->format = writer->audio->sample_fmt;
    frame->nb_samples = (int)count;
    frame->sample_rate = (int)tune->rate;
    av_channel_layout_copy(&frame->ch_layout, &writer->audio->ch_layout);
    int got = av_frame_get_buffer(frame, 0);
    assert(got >= 0);
    bool planar = av_sample_fmt_is_planar(frame->format);
    size_t bytes = (size_t)av_get_bytes_per_sample(frame->format);
    for (size_t i = 0; i < count * tune->channels; i++) {
        size_t channel = i % tune->channels, at = planar ? i / tune->channels : i;
        put_value(frame->extended_data[planar ? channel : 0] + at * bytes, frame->format,
                  tune->samples[first * tune->channels + i]);
    }
    frame->pts = (int64_t)first;
    if (writer->how->gap > 0 && (double)first / tune->rate >= writer->how->gap_at)
        frame->pts += (int64_t)(writer->how->gap * tune->rate);
    write_packets(writer, writer->audio, frame, writer->container->nb_streams - 1);
    av_frame_free(&frame);
}

static void write_images(struct writer *writer, double until)
{
    while (writer->images && (double)writer->images_written < until * 25) {
        AVFrame *frame = av_frame_alloc();
        frame->format = AV_PIX_FMT_YUV420P;
        frame->width = frame->height = 64;
        int got = av_frame_get_buffer(frame, 0);
        assert(got >= 0);
        for (int plane = 0; plane < 3; plane++)
            memset(frame->data[plane], (int)(100 + writer->images_written % 50),
                   (size_t)frame->linesize[plane] * (plane ? 32 : 64));
        frame->pts = writer->images_written++;
        write_packets(writer, writer->images, frame, 0);
        av_frame_free(&frame);
    }
}

static void write_all(struct writer *writer)
{
    size_t step = writer->audio->frame_size ? (size_t)writer->audio->frame_size : 1024;
    const struct tune *tune = writer->tune;
    for (size_t at = 0; at < tune->count; at += step) {
        write_images(writer, (double)at / tune->rate);
        write_audio(writer, at, tune->count - at < step ? tune->count - at : step);
    }
    write_packets(writer, writer->audio, NULL, writer->container->nb_streams - 1);
    if (writer->images)
        write_packets(writer, writer->images, NULL, 0);
}

/* Into a file in memory: muxers go back and complete their headers. */
static struct file write_file(struct writer *writer)
{
    struct file file = {0};
    char path[64];
    int fd = file_open("", 0);
    snprintf(path, sizeof path, "file:/proc/self/fd/%d", fd);
    int opened = avio_open(&writer->container->pb, path, AVIO_FLAG_WRITE);
    assert(opened >= 0);
    writer->container->flags |= AVFMT_FLAG_BITEXACT;
    bool takes = avformat_write_header(writer->container, NULL) >= 0;
    if (takes) {
        write_all(writer);
        av_write_trailer(writer->container);
    }
    avio_closep(&writer->container->pb);
    struct stat status;
    fstat(fd, &status);
    if (takes) {
        file = (struct file){malloc((size_t)status.st_size + 1), (size_t)status.st_size};
        ssize_t got = pread(fd, file.data, file.size, 0);
        assert(got == (ssize_t)file.size);
    }
    close(fd);
    return file;
}

static void set_tag(struct writer *writer, const char *name, const char *value)
{
    if (value)
        av_dict_set(&writer->container->metadata, name, value, 0);
}

struct file make_audio(const struct tune *tune, const struct audio_how *how)
{
    struct file file = {0};
    struct writer writer = {.tune = tune, .how = how, .packet = av_packet_alloc()};
    const AVCodec *codec = avcodec_find_encoder_by_name(how->codec);
    av_log_set_level(AV_LOG_QUIET);
    avformat_alloc_output_context2(&writer.container, NULL, how->muxer, NULL);
    if (codec && writer.container) {
        if (how->images)
            writer.images = add_track(&writer, avcodec_find_encoder(AV_CODEC_ID_MPEG4));
        writer.audio = add_track(&writer, codec);
        set_tag(&writer, "artist", how->artist);
        set_tag(&writer, "title", how->title);
        set_tag(&writer, "album", how->album);
    }
    if (writer.audio)
        file = write_file(&writer);
    avcodec_free_context(&writer.audio);
    avcodec_free_context(&writer.images);
    avformat_free_context(writer.container);
    av_packet_free(&writer.packet);
    return file;
}
