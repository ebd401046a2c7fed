/* Made videos in files, by libavformat and libavcodec. */
#include "video.h"

#ifdef HAVE_FFMPEG
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/opt.h>

#include "audio.h"

struct writer {
    const struct video_how *how;
    AVFormatContext *container;
    AVCodecContext *images, *audio;
    AVStream *image_stream, *audio_stream;
    AVPacket *packet;
    double rate;
    uint32_t width, height;
};

static void set_rotation(AVStream *stream, int degrees)
{
    if (!degrees)
        return;
#if LIBAVFORMAT_VERSION_MAJOR < 61
    uint8_t *matrix =
        av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
#else
    AVCodecParameters *codec = stream->codecpar;
    uint8_t *matrix = av_packet_side_data_new(&codec->coded_side_data, &codec->nb_coded_side_data,
                                              AV_PKT_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t), 0)
                          ->data;
#endif
    assert(matrix);
    av_display_rotation_set((int32_t *)(void *)matrix, degrees);
}

static AVStream *add_stream(struct writer *writer, AVCodecContext *context, const AVCodec *codec)
{
    context->flags |= AV_CODEC_FLAG_BITEXACT;
    context->thread_count = 1;
    context->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    if (writer->container->oformat->flags & AVFMT_GLOBALHEADER)
        context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    if (avcodec_open2(context, codec, NULL) < 0)
        return NULL;
    AVStream *stream = avformat_new_stream(writer->container, NULL);
    stream->time_base = context->time_base;
    avcodec_parameters_from_context(stream->codecpar, context);
    return stream;
}

static bool add_images(struct writer *writer)
{
    const char *name = writer->how->codec ? writer->how->codec : "mpeg4";
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    if (!codec)
        return false;
    AVCodecContext *context = writer->images = avcodec_alloc_context3(codec);
    context->width = (int)writer->width;
    context->height = (int)writer->height;
    context->pix_fmt = strcmp(name, "mjpeg") == 0 ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
    context->time_base = av_d2q(1 / writer->rate, 100000);
    context->framerate = av_inv_q(context->time_base);
    context->gop_size = writer->how->keyframes ? writer->how->keyframes : 12;
    context->flags |= AV_CODEC_FLAG_QSCALE;
    context->global_quality = FF_QP2LAMBDA * (writer->how->quality ? writer->how->quality : 4);
    writer->image_stream = add_stream(writer, context, codec);
    if (!writer->image_stream)
        return false;
    writer->image_stream->avg_frame_rate = context->framerate;
    set_rotation(writer->image_stream, writer->how->rotation);
    return true;
}

static bool add_audio(struct writer *writer)
{
    const char *name = writer->how->audio_codec ? writer->how->audio_codec : "aac";
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    if (!codec)
        return false;
    AVCodecContext *context = writer->audio = avcodec_alloc_context3(codec);
    context->sample_fmt = codec->sample_fmts[0];
    context->sample_rate = AUDIO_RATE;
    context->bit_rate = 64000;
    context->time_base = (AVRational){1, AUDIO_RATE};
    av_channel_layout_default(&context->ch_layout, 1);
    writer->audio_stream = add_stream(writer, context, codec);
    return writer->audio_stream;
}

/* @param frame NULL: the end */
static void write_frame(struct writer *writer, AVCodecContext *codec, AVStream *stream,
                        const AVFrame *frame)
{
    int sent = avcodec_send_frame(codec, frame);
    assert(sent >= 0);
    while (avcodec_receive_packet(codec, writer->packet) == 0) {
        av_packet_rescale_ts(writer->packet, codec->time_base, stream->time_base);
        writer->packet->stream_index = stream->index;
        int written = av_interleaved_write_frame(writer->container, writer->packet);
        assert(written >= 0);
    }
}

static void write_image(struct writer *writer, int64_t number)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = writer->images->pix_fmt;
    frame->width = (int)writer->width;
    frame->height = (int)writer->height;
    frame->quality = writer->images->global_quality;
    int got = av_frame_get_buffer(frame, 0);
    assert(got >= 0);
    uint8_t *luma = malloc((size_t)writer->width * writer->height);
    assert(luma);
    video_drawer *draw = writer->how->draw ? writer->how->draw : video_draw;
    draw(&writer->how->view, (double)number / writer->rate, writer->width, writer->height, luma);
    for (uint32_t row = 0; row < writer->height; row++)
        memcpy(frame->data[0] + (ptrdiff_t)row * frame->linesize[0],
               luma + (size_t)row * writer->width, writer->width);
    for (int plane = 1; plane < 3; plane++)
        memset(frame->data[plane], plane == 1 ? 110 : 140,
               (size_t)frame->linesize[plane] * (writer->height / 2));
    free(luma);
    frame->pts = number;
    write_frame(writer, writer->images, writer->image_stream, frame);
    av_frame_free(&frame);
}

static void put_sample(AVFrame *frame, size_t at, float sample)
{
    if (av_get_packed_sample_fmt(frame->format) == AV_SAMPLE_FMT_S16)
        ((int16_t *)(void *)frame->data[0])[at] = (int16_t)lrintf(sample * 32767);
    else if (av_get_packed_sample_fmt(frame->format) == AV_SAMPLE_FMT_S32)
        ((int32_t *)(void *)frame->data[0])[at] = (int32_t)lrintf(sample * 32767) * 65536;
    else
        ((float *)(void *)frame->data[0])[at] = sample;
}

static size_t write_samples(struct writer *writer, size_t at)
{
    const struct recording *recording = writer->how->audio;
    size_t most = writer->audio->frame_size ? (size_t)writer->audio->frame_size : 1024;
    size_t count = recording->count - at < most ? recording->count - at : most;
    AVFrame *frame = av_frame_alloc();
    frame->nb_samples = (int)count;
    frame->format = writer->audio->sample_fmt;
    frame->sample_rate = AUDIO_RATE;
    av_channel_layout_copy(&frame->ch_layout, &writer->audio->ch_layout);
    int got = av_frame_get_buffer(frame, 0);
    assert(got >= 0);
    frame->pts = (int64_t)at;
    for (size_t i = 0; i < count; i++)
        put_sample(frame, i, fminf(1, fmaxf(-1, recording->samples[at + i])));
    write_frame(writer, writer->audio, writer->audio_stream, frame);
    av_frame_free(&frame);
    return count;
}

/* Pictures and audio as they come in time. */
static void write_all(struct writer *writer)
{
    int64_t frames = writer->images ? (int64_t)(writer->how->seconds * writer->rate + .5) : 0;
    size_t samples = writer->audio ? writer->how->audio->count : 0, heard = 0;
    int64_t seen = 0;
    while (seen < frames || heard < samples) {
        bool next_is_image = seen < frames && (heard >= samples || (double)seen / writer->rate <=
                                                                       (double)heard / AUDIO_RATE);
        if (next_is_image)
            write_image(writer, seen++);
        else
            heard += write_samples(writer, heard);
    }
    if (writer->images)
        write_frame(writer, writer->images, writer->image_stream, NULL);
    if (writer->audio)
        write_frame(writer, writer->audio, writer->audio_stream, NULL);
}

static bool write_file(struct writer *writer, const char *path)
{
    const struct video_how *how = writer->how;
    writer->container->flags |= AVFMT_FLAG_BITEXACT;
    if ((!how->no_images && !add_images(writer)) || (how->audio && !add_audio(writer)) ||
        avio_open(&writer->container->pb, path, AVIO_FLAG_WRITE) < 0)
        return false;
    bool begun = avformat_write_header(writer->container, NULL) >= 0;
    if (begun) {
        write_all(writer);
        av_write_trailer(writer->container);
    }
    avio_closep(&writer->container->pb);
    return begun;
}

bool video_write(const char *path, const struct video_how *how)
{
    struct writer writer = {.how = how,
                            .rate = how->rate > 0 ? how->rate : 25,
                            .width = how->width ? how->width : 160,
                            .height = how->height ? how->height : 120,
                            .packet = av_packet_alloc()};
    av_log_set_level(AV_LOG_QUIET);
    avformat_alloc_output_context2(&writer.container, NULL, how->muxer, path);
    bool good = writer.container && write_file(&writer, path);
    avcodec_free_context(&writer.images);
    avcodec_free_context(&writer.audio);
    avformat_free_context(writer.container);
    av_packet_free(&writer.packet);
    return good;
}
#else
bool video_write(const char *path, const struct video_how *how)
{
    (void)path, (void)how;
    return false;
}
#endif
